"""Model files: `save` and `load`, without pickle, so that nothing in a file is ever executed.

A model file is one zip of uncompressed members: ``manifest.json``, and one ``.npy`` per array, which
`numpy.load` opens too. The manifest holds the format's version, the name of the class, the parameters and the
fitted values. A class is only ever found among those that registered themselves as `savable`, never by a
module to import. A digest of it all detects a file that was changed afterwards.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import struct
import zipfile
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from twinwl.arguments import NAME, PATH, attribute_of, checked, items
from twinwl.errors import MissingExtraError, TwinWLError, shown, warn_caller
from twinwl.files.array_members import ModelFileError, read_members, write_members
from twinwl.files.atomic import atomic_write
from twinwl.files.json_values import from_json, to_json
from twinwl.files.named_objects import found_object, importable_name
from twinwl.graphs.atom_labels import ATOMS
from twinwl.graphs.from_pyg import READINGS_OF_X

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from twinwl.arrays import Values

EstimatorClass = TypeVar("EstimatorClass", bound=type)

FORMAT = "twinwl model"
FORMAT_VERSION = 2  # 1, of twinwl 0.1, is still read: labels stood there as [kind, value]

_SAVABLE: dict[str, type] = {}


# What the standard library raises on bytes that are not a zip or not JSON.
_UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RecursionError,
    UnicodeDecodeError,
    ValueError,
    struct.error,
)


class Savable(Protocol):
    """What `save` asks of an estimator."""

    def get_params(self, *, deep: bool) -> dict[str, object]:
        """Return the parameters of ``__init__``."""

    def _to_state(self) -> dict[str, object]:
        """Return what ``fit`` has learnt: JSON values, arrays, and dictionaries of these."""

    @classmethod
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> Savable:
        """Rebuild the estimator, refusing with a TwinWLError what does not fit together."""


def savable(kind: EstimatorClass) -> EstimatorClass:
    """Let objects of a class be saved and loaded, by decorating it; it is filed under its name."""
    _SAVABLE[kind.__qualname__] = kind
    return kind


def save(
    estimator: Savable,
    path: str | PathLike[str],
    *,
    atoms: str | None = None,
    target: str | None = None,
    positive: str | None = None,
) -> None:
    """Write a fitted estimator to one file.

    The file is written under a temporary name and renamed: it is there as a whole or not at all. The same
    estimator gives the same bytes.

    Parameters
    ----------
    estimator
        A fitted STwinVectorizer, NTwinTransformer, TwinKernel, STwinSVC, STwinSVR, or STwin or NTwin
        classifier or regressor.
    path
        The file to write, by custom ``….twinwl``; an existing one is replaced.
    atoms
        How the training molecules were read (as in `GraphBatch.from_smiles`), so that ``twinwl predict``
        reads new ones alike. None takes ``atoms_`` of the estimator, which knows it from the graphs of
        ``fit``; name it for molecules that were converted by other means.
    target
        Name of what is predicted, for ``twinwl explain``; likewise ``target_``.
    positive
        The class that ``twinwl predict --threshold`` is about, if it is not the obvious one; likewise
        ``positive_``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import twinwl as tw
    >>> graphs = tw.GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])
    >>> path = Path(tempfile.mkdtemp(), "features.twinwl")
    >>> tw.save(tw.STwinVectorizer(n_iter=1).fit(graphs), path)
    >>> tw.load(path).transform(graphs).toarray()
    array([[3., 4., 3.],
           [3., 0., 9.]])
    """
    file = checked("path", path, PATH)
    learnt = attribute_of(estimator, "atoms_")
    level = checked("atoms", learnt if atoms is None else atoms, ATOMS, None)
    if learnt not in {None, level}:
        raise TwinWLError(f"atoms: got {level!r}, but the model was fitted on molecules read with {learnt!r}")
    column = checked("target", attribute_of(estimator, "target_") if target is None else target, NAME, None)
    about = checked(
        "positive", attribute_of(estimator, "positive_") if positive is None else positive, NAME, None
    )
    name = _registered_name(estimator)
    params = _writable_params(estimator)
    named = {
        one: importable_name(one, params[one])
        for one in getattr(type(estimator), "_named_parameters", ())
        if not isinstance(params[one], str)
    }
    state = estimator._to_state()  # noqa: SLF001  (the protocol above)
    arrays: dict[str, Values] = {}
    manifest: dict[str, object] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "class": name,
        "twinwl": version_of("twinwl"),
        "params": to_json(params | dict.fromkeys(named), arrays, "params"),
        "state": to_json(state, arrays, "state"),
    }
    if named:
        manifest["named"] = named
    if (reading := attribute_of(estimator, "x_", "auto")) != "auto":
        manifest["x"] = reading
    if level is not None:
        manifest["atoms"] = level
    if column is not None:
        manifest["target"] = column
    if about is not None:
        manifest["positive"] = about
    manifest["digest"] = _digest(manifest, arrays)
    text = json.dumps(manifest, ensure_ascii=True, allow_nan=False, indent=1)
    try:
        if file.is_dir():
            raise ModelFileError(f"{file} is a folder; name a file in it, such as {file / 'model.twinwl'}")
        if not file.parent.is_dir():
            raise ModelFileError(
                f"there is no folder {file.parent} to write {file.name} into; create it first"
            )
        with atomic_write(file) as stream:
            write_members(stream, text, arrays)
    except OSError as error:
        raise ModelFileError(
            f"cannot write {str(file)!r}: {error.strerror or error}; what was there is unchanged"
        ) from error


def load(path: str | PathLike[str], *, allow: Sequence[object] = ()) -> Savable:
    """Read an estimator that `save` has written; it predicts the same bytes.

    Parameters
    ----------
    path
        The file. Nothing in it is executed, and its content is checked before it is used. A model may still
        predict anything, so load only models from sources you trust.
    allow
        Code of your own that the model may use, if it was trained with some, such as the class of a
        ``readout``: the class or function itself, or its name ``"package.module:Class"``, which is imported.
        For a readout that was given as an object, an object that is made in the same way. The file only names
        it; its weights are arrays.

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    TwinWLError
        If the file is missing, truncated, changed after it was written, of a newer format, or no model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import twinwl as tw
    >>> path = Path(tempfile.mkdtemp(), "features.twinwl")
    >>> tw.save(tw.STwinVectorizer(n_iter=1).fit([[(0, 1), (1, 2)]]), path)
    >>> tw.load(path)
    STwinVectorizer(n_iter=1)
    """
    source = checked("path", path, PATH)
    allowed = items("allow", allow, "a list of classes, functions or names", ordered=False)
    try:
        text, arrays = read_members(source)
        manifest = json.loads(text, parse_constant=_refuse_constant)
        return _rebuilt(manifest, arrays, allowed)
    except MissingExtraError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{str(source)!r}: {error}") from error
    except _UNREADABLE as error:
        raise ModelFileError(
            f"{str(source)!r} is not a model file, or only a part of one ({error}); save the model again"
        ) from error


def _refuse_constant(name: str) -> None:
    raise ModelFileError(f"the manifest holds {name}, which is not JSON")


# What a model remembers of the graphs and targets it was fitted on, as attributes that end in an underscore.
_KEPT = {"x": READINGS_OF_X, "atoms": ATOMS, "target": NAME, "positive": NAME}


def _rebuilt(manifest: object, arrays: dict[str, Values], allowed: list[object]) -> Savable:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("this is not a twinwl model: its manifest does not say so")
    _check_version(manifest.get("version"))
    digest = manifest.pop("digest", None)
    if digest != _digest(manifest, arrays):
        raise ModelFileError(
            "the file was changed after it was written; get it again from where it came from"
        )
    kind = _class_of(manifest.get("class"))
    left = dict(arrays)
    params = from_json(manifest.get("params"), left)
    state = from_json(manifest.get("state"), left)
    if left:
        raise ModelFileError(f"the array {next(iter(left))!r} belongs to nothing in the manifest")
    if not isinstance(params, dict) or not isinstance(state, dict):
        raise ModelFileError("the manifest holds no parameters or no fitted values")
    params |= _named(kind, manifest.get("named", {}), allowed)
    try:
        estimator: Savable = kind._from_state(params, state)  # type: ignore[attr-defined]  # noqa: SLF001
        for name, allowed_values in _KEPT.items():
            if name in manifest:
                setattr(estimator, f"{name}_", checked(name, manifest[name], allowed_values))
    except TwinWLError as error:
        raise ModelFileError(str(error)) from error
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"what the file holds is not a {manifest['class']} ({type(error).__name__}: {error})"
        ) from error
    return estimator


def _named(kind: type, named: object, allowed: list[object]) -> dict[str, object]:
    """Return the parameters that a file gives by name."""
    if not isinstance(named, dict) or not set(named) <= set(getattr(kind, "_named_parameters", ())):
        raise ModelFileError(f"the manifest names {shown(named)}, which the estimator does not have")
    return {parameter: found_object(parameter, entry, allowed) for parameter, entry in named.items()}


def _registered_name(estimator: object) -> str:
    name = type(estimator).__qualname__
    if _SAVABLE.get(name) is not type(estimator):
        raise TwinWLError(f"a {name} cannot be saved as a model file; only twinwl's own estimators can")
    return name


def _class_of(name: object) -> type:
    # Public names are loaded on first use, and a class registers itself as it is loaded.
    package = importlib.import_module(__name__.partition(".")[0])
    if isinstance(name, str) and name in package.__all__:
        getattr(package, name)
    if not isinstance(name, str) or name not in _SAVABLE:
        raise ModelFileError(f"the file claims to hold a {shown(name)}, which is not an estimator of twinwl")
    return _SAVABLE[name]


def _check_version(version: object) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ModelFileError(f"the format's version is {shown(version)}, which does not exist")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"the file is of format {version}, and this twinwl {version_of('twinwl')} reads up to "
            f"{FORMAT_VERSION}; install a newer twinwl"
        )


def _writable_params(estimator: Savable) -> dict[str, object]:
    params = estimator.get_params(deep=False)
    left = [name for name in getattr(type(estimator), "_not_saved", ()) if params[name] is not None]
    if isinstance(params.get("random_state"), np.random.RandomState | np.random.Generator):
        left.append("random_state")
    for name in left:
        what = "is a generator" if name == "random_state" else "is code"
        warn_caller(f"1 parameter was left out of the file: {name} {what}; it is None when loaded")
    return params | dict.fromkeys(left)


def _digest(manifest: Mapping[str, object], arrays: Mapping[str, Values]) -> str:
    """Hash the manifest, without its digest, and every array with its name, type and shape."""
    digest = hashlib.sha256()
    digest.update(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
