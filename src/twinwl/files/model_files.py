"""Model files: `save` and `load`, without pickle, so that nothing in a file is ever executed.

A model file is one zip of uncompressed members: ``manifest.json``, and one ``.npy`` per array, which
`numpy.load` opens too. The manifest holds the format's version, the name of the class, the parameters and the
fitted values. A class is only ever found among those that registered themselves as `savable`, never by a
module to import. A digest of it all detects a file that was changed afterwards.

Python values as JSON and back, kinds kept: tuples, dictionaries, bytes, infinities, arrays.

The zip under a model file: text and arrays in uncompressed members, checked before they are used.

Members are stored, not compressed, and together they are no larger than the file, so reading a file never
takes more memory than a small multiple of its size. An array's header is compared with the bytes that follow
it before anything is allocated.

Classes and functions of the user in model files: by name only, and only if the user allows them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import math
import re
import struct
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version as version_of
from os import PathLike
from pathlib import Path
from typing import IO, Protocol, TypeVar

import numpy as np

from twinwl.arguments import NAME, PATH, attribute_of, checked, is_a, items
from twinwl.arrays import Values
from twinwl.errors import MissingExtraError, TwinWLError, shown, warn_caller
from twinwl.files.atomic import atomic_write
from twinwl.graphs.atom_labels import ATOMS
from twinwl.graphs.from_pyg import READINGS_OF_X


def to_json(value: object, arrays: dict[str, Values], name: str) -> object:
    """Return a JSON value; arrays go into ``arrays``, under the name of their place.

    Numbers, strings, booleans, None and lists stand for themselves, all else for an object of one entry that
    names its kind.

    >>> found = {}
    >>> to_json({"w": np.zeros(2), "betas": (0.9, 1)}, found, "state")
    {'dict': [['w', {'array': 'state/w'}], ['betas', {'tuple': [0.9, 1]}]]}
    >>> list(found)
    ['state/w']
    """
    if isinstance(value, np.ndarray):
        arrays[name] = plain_array(value, name)
        return {"array": name}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list | tuple):
        parts = [to_json(part, arrays, f"{name}/{place}") for place, part in enumerate(value)]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            "dict": [
                [
                    to_json(key, arrays, f"{name}/keys/{place}"),
                    to_json(part, arrays, _place(name, key, place)),
                ]
                for place, (key, part) in pairs
            ]
        }
    raise TwinWLError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold; "
        "use numbers, strings, lists, tuples, dictionaries or arrays"
    )


def from_json(value: object, arrays: dict[str, Values]) -> object:  # noqa: PLR0911
    """Undo `to_json`; each array is taken out of ``arrays`` as it is used.

    >>> from_json({"tuple": [1, {"float": "inf"}]}, {})
    (1, inf)

    Raises
    ------
    ModelFileError
        If the value is nothing that `to_json` writes.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list(parts):
            return [from_json(part, arrays) for part in parts]
        case {"array": str(name), **rest} if not rest and name in arrays:
            array = arrays.pop(name)
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        case {"tuple": list(parts), **rest} if not rest:
            return tuple(from_json(part, arrays) for part in parts)
        case {"dict": list(pairs), **rest} if not rest:
            return dict(_pair(pair, arrays) for pair in pairs)
        case {"bytes": str(digits), **rest} if not rest:
            with contextlib.suppress(ValueError):
                return bytes.fromhex(digits)
        case {"float": "nan" | "inf" | "-inf" as digits, **rest} if not rest:
            return float(digits)
    raise ModelFileError(f"the manifest holds {shown(value)}, which is not a value of a model file")


def _place(name: str, key: object, place: int) -> str:
    """Name an entry by its key where that makes a decent file name, else by its number."""
    decent = isinstance(key, str) and key.replace("_", "").replace(".", "").isalnum() and key.isascii()
    return f"{name}/{key if decent and key.strip('.') else place}"  # type: ignore[attr-defined]


def _pair(pair: object, arrays: dict[str, Values]) -> tuple[object, object]:
    match pair:
        case [key, part]:
            read = from_json(key, arrays)
            if isinstance(read, list | dict | np.ndarray):
                raise ModelFileError(f"the manifest has {shown(key)} for a key")
            return read, from_json(part, arrays)
    raise ModelFileError(f"the manifest holds {shown(pair)} where a key and a value should be")


MANIFEST = "manifest.json"
_ARRAY_ENDING = ".npy"
# No objects, so there is nothing to unpickle; no dates, no records, no other byte order than '<'.
_PLAIN_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S[1-9]\d*|<U[1-9]\d*")
_LARGEST_MANIFEST = 1 << 26  # bytes; parsed JSON takes up to 25 times the memory of its text
_LAST_CODE_POINT = 0x10FFFF
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip's earliest date: the same model gives the same bytes


class ModelFileError(TwinWLError):
    """A model file cannot be written, or is not valid."""


def plain_array(array: Values, name: str) -> Values:
    """Return an array as a model file holds it, in the byte order of all files.

    >>> plain_array(np.array([1, 2], ">i4"), "rows").dtype.str
    '<i4'

    Raises
    ------
    ModelFileError
        If it holds objects, dates or records, or a number that is not finite.
    """
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not _PLAIN_DTYPE.fullmatch(array.dtype.str):
        raise ModelFileError(
            f"{name} is an array of {array.dtype}, which a model file cannot hold; "
            "use numbers, booleans or strings"
        )
    _check_values(array, name)
    return array


def write_members(stream: IO[bytes], manifest: str, arrays: Mapping[str, Values]) -> None:
    """Write the manifest and then the arrays, in the order given; all are `plain_array`."""
    if len(manifest) > _LARGEST_MANIFEST:
        raise ModelFileError(
            f"the labels and parameters of the model take {len(manifest):,} bytes as text; "
            f"a model file holds up to {_LARGEST_MANIFEST:,}"
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(MANIFEST), manifest.encode("ascii"))
        for name, array in arrays.items():
            with archive.open(_member(name + _ARRAY_ENDING), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_members(path: Path) -> tuple[str, dict[str, Values]]:
    """Return the manifest's text and the arrays by name, in the byte order of the file.

    Raises
    ------
    ModelFileError
        If there is no such file, or a member is of a kind that `write_members` does not write.
    zipfile.BadZipFile
        If the file is not a zip, or its bytes do not match their checksums.
    """
    if path.is_dir():
        raise ModelFileError("this is a folder; name the model file in it")
    if not path.is_file():
        raise ModelFileError("there is no file of this name")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if len(set(names)) != len(names):
            raise ModelFileError("two members of the file have one name")
        if MANIFEST not in names:
            raise ModelFileError(f"there is no {MANIFEST} in it, so it is not a twinwl model")
        for member in members:
            _check_member(member)
        # Entries of a directory may overlap: then they hold more than there is.
        if sum(member.file_size for member in members) > path.stat().st_size:
            raise ModelFileError("its members claim more bytes than the file has")
        if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
            raise ModelFileError(f"its {MANIFEST} has more than {_LARGEST_MANIFEST:,} bytes")
        text = archive.read(MANIFEST).decode("ascii")
        arrays = {
            member.filename.removesuffix(_ARRAY_ENDING): read_array(archive.read(member), member.filename)
            for member in members
            if member.filename != MANIFEST
        }
    return text, arrays


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = 0o644 << 16
    return info


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    decent = all(part not in {"", ".", ".."} for part in name.split("/")) and not set(name) & set("\\:\0")
    if name != MANIFEST and not (decent and name.endswith(_ARRAY_ENDING)):
        raise ModelFileError(f"the member {name[:200]!r} is unexpected in a model file")
    stored = member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size
    if not stored or member.flag_bits & 1:
        raise ModelFileError(f"the member {name[:200]!r} is compressed or encrypted; twinwl writes neither")


def read_array(content: bytes, name: str) -> Values:
    """Return the array of an ``.npy`` file of numbers, booleans or strings; nothing is ever unpickled.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        What it is called, for messages.

    Raises
    ------
    ModelFileError
        If it is not such a file, holds objects, or has fewer or more bytes than its header says.
    """
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran_order, dtype = read_header(stream)
    except (KeyError, TypeError, ValueError, EOFError, RecursionError) as error:
        raise ModelFileError(f"{name} is not an array ({error})") from error
    if not _PLAIN_DTYPE.fullmatch(dtype.str):
        raise ModelFileError(f"{name} is an array of {dtype}; only numbers, booleans and strings are read")
    n_bytes = len(content) - stream.tell()
    sound = all(type(length) is int and length >= 0 for length in shape)
    if not sound or math.prod(shape) * dtype.itemsize != n_bytes:
        raise ModelFileError(f"{name} claims the shape {shape} of {dtype}, but holds {n_bytes} bytes")
    flat = np.frombuffer(content, dtype, offset=stream.tell())
    array: Values = flat.reshape(shape, order="F" if fortran_order else "C")
    _check_values(array, name)
    return array


def _check_values(array: Values, name: str) -> None:
    """Refuse numbers that are not finite and bytes that stand for no value of their type."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"{name} holds a number that is not finite")
    if array.size and array.dtype.kind == "b" and np.ascontiguousarray(array).view(np.uint8).max() > 1:
        raise ModelFileError(f"{name} holds bytes that are neither true nor false")
    if array.size and array.dtype.kind == "U":
        points = np.ascontiguousarray(array).reshape(-1).view(np.dtype("<u4"))
        if points.max() > _LAST_CODE_POINT:
            raise ModelFileError(f"{name} holds a character that does not exist")


_MADE, _OBJECT = "made", "object"


def importable_name(parameter: str, value: object) -> list[str]:
    """Return how a file names a class or function, or the class of an object, that can be imported.

    >>> from fractions import Fraction
    >>> importable_name("readout", Fraction), importable_name("readout", Fraction(1, 2))
    (['made', 'fractions:Fraction'], ['object', 'fractions:Fraction'])

    Raises
    ------
    TwinWLError
        If it cannot be found by its name: a lambda, or a class or function defined inside a function.
    """
    kind, named = (_MADE, value) if hasattr(value, "__qualname__") else (_OBJECT, type(value))
    name = _name_of(named)
    if _at(name, imported=False) is not named:
        raise TwinWLError(
            f"{parameter}: {name.replace(':', '.')} cannot be imported by that name, so a model file cannot "
            "name it; define it with def or class at the top level of a module, without a wrapper around it"
        )
    return [kind, name]


def found_object(parameter: str, entry: object, allowed: list[object]) -> object:
    """Return the one of the allowed classes, functions and objects that a file names.

    Parameters
    ----------
    parameter
        The parameter of the estimator.
    entry
        From `importable_name`, read from a file.
    allowed
        Classes, functions, objects, and names ``"package.module:Class"``, which are imported.
    """
    match entry:
        case ["made" | "object" as kind, str(name)]:
            pass
        case _:
            raise ModelFileError(f"{parameter} is {shown(entry)}, which is not a name; the file is damaged")
    short = name.rpartition(":")[2]
    for candidate in allowed:
        if is_a(candidate, str):
            found = _at(name, imported=True) if checked("allow", candidate, NAME) == name else None
        else:
            found = candidate if name in {_name_of(candidate), _name_of(type(candidate))} else None
        if found is None:
            continue
        if (kind == _OBJECT) == hasattr(found, "__qualname__"):
            wanted = f"an object made as for training, {short}(…)" if kind == _OBJECT else f"{short} itself"
            raise ModelFileError(f"{parameter} was saved from {name}; allow {wanted}")
        return found
    raise ModelFileError(
        f"{parameter} is {name}, code that is not of twinwl; if you trust it, load with "
        f"allow=[{short}{'(…)' if kind == _OBJECT else ''}]"
    )


def _name_of(value: object) -> str:
    try:
        return f"{value.__module__}:{value.__qualname__}"  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  (a foreign object may raise anything)
        return ""


def _at(name: str, *, imported: bool) -> object:
    """Return what a name stands for, or None."""
    home, _, path = name.partition(":")
    try:
        value: object = importlib.import_module(home) if imported else sys.modules[home]
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, KeyError, ValueError):
        return None
    return value


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
