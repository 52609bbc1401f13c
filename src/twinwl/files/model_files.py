"""Model files: `save` and `load`, without pickle, so that nothing in a file is ever executed.

A model file is one zip of uncompressed members: ``manifest.json``, and one ``.npy`` per array, which
`numpy.load` opens too. The manifest holds the format's version, the name of the class, the parameters and the
fitted values. A class is only ever found among those that registered themselves as `savable`, never by a
module to import. A digest of it all detects a file that was changed afterwards.

Fitted values are plain Python values, arrays and dataclasses of these. `to_json` writes a dataclass as its
fields, and `restore` builds it again by the types that the fields declare; what goes beyond types, such as
pointers that fit together, the dataclass checks in ``__post_init__``. So nothing else needs to know how a
file may be damaged: whatever goes wrong in `load` becomes one `ModelFileError` there.

Models of earlier formats are read too: `upgraded` turns what such a file holds into what ``_from_state`` of
the same class takes today. No other code handles old forms.
"""

import contextlib
import hashlib
import importlib
import io
import json
import math
import operator
import re
import types
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import version as version_of
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import NAME, PATH, checked, items
from twinwl.arrays import Fields, Values
from twinwl.errors import MissingExtraError, TwinWLError, shown, warn_caller
from twinwl.files.storage import open_to_write
from twinwl.graphs.from_pyg import READINGS_OF_X
from twinwl.graphs.labels import normalise_label
from twinwl.graphs.molecules import JOINED_LEVELS

# How twinwl 0.1 (format 1) wrote labels, which it did not leave to JSON: as [kind, value].
_LABELS_OF_0_1 = {
    "none": lambda *_: None,
    "bool": bool,
    "int": int,
    "float": float.fromhex,
    "str": str,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(_label(part) for part in parts),
}


def upgraded(version: int, state: Any) -> Any:  # noqa: ANN401
    """Return the fitted values of a model in the form of today.

    >>> upgraded(1, {"alphabet": {"labels": [["str", "C"], ["tuple", [["int", "7"]]]]}})
    {'alphabet': {'labels': ['C', (7,)]}}
    """
    state = _with_plain_labels(state) if version == 1 else state
    if version == FORMAT_VERSION or not isinstance(state, dict):
        return state
    state = _with_heads(state) if version < 3 else state  # noqa: PLR2004
    if "vectorizer" in state:
        return {**state, "vectorizer": _with_parts(state["vectorizer"])}
    return _with_parts(state) if "kind" in state else state


def _with_parts(state: Fields) -> Fields:
    """Give the models of format 3 an entry for the feature space, and one for the matrix of features.

    What these consist of stood beside all else; that it still does so does no harm.
    """
    space, prefix = dict(state), "example_"
    if "readouts" in state:
        old = {name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)}
        vocabularies = dict(zip(("node_vocabulary", "edge_vocabulary"), old["vocabularies"]))
        graphs = {**old, **vocabularies, "node_labels": old["labels"], "directed": state["directed"]}
        space["examples"] = {"graphs": graphs, "root": old["root"]}
        space["values"] = {"keys": state["values"].view(np.uint64).reshape(-1, 2)}
    return {"columns": None, "n_graphs_with_column": None, **state, "space": space, "matrix": state}


def _with_heads(state: Fields) -> Fields:
    """Give the models of format 2 a list of heads, and of support vector machines, with an entry per task."""
    parts: Any = state.get("machines", state.get("outputs", [state]))
    if "weights" in state and "history" in state:  # a network
        return {**state, "tasks": state.get("tasks"), "heads": [_head(part) for part in parts]}
    if "support_weights" not in parts[0]:
        return state
    svms = [_svm(part, state) for part in parts]
    return {**state, "tasks": state.get("tasks"), "svms": svms, "heads": [_head(part) for part in parts]}


def _head(part: Fields) -> Fields:
    head: Fields = {"conformal": None}
    if "conformal_scores" in part:
        head["conformal"] = {"scores": part["conformal_scores"], "ptr": part["conformal_ptr"]}
    if "conformal_errors" in part:
        head["conformal"] = {"errors": part["conformal_errors"]}
    if "classes" not in part:
        return {**head, "mean": part.get("target_mean", 0.0), "scale": part.get("target_scale", 1.0)}
    if "slopes" in part:
        head["calibration"] = {"slopes": part["slopes"], "offsets": part["offsets"]}
    classes, dtype = part["classes"], part.get("classes_dtype", "|O")
    if hasattr(classes, "dtype"):  # an array, as networks of 0.1 had them
        classes, dtype = classes.tolist(), classes.dtype.newbyteorder("<").str
    return {**head, "classes": classes, "dtype": dtype}


def _svm(part: Fields, state: Fields) -> Fields:
    n_classes = len(part.get("classes", [1]))
    rows = state["rows"][part["places"]] if "places" in part else state["rows"]
    return {
        "n_iter": part.get("n_rounds", state["n_iter"]),
        "C": part["C"],
        "score": part["inner_score"],
        "scores": {(n_iter, C): score for n_iter, C, score in part["inner_scores"]},
        "vectors": {
            "rows": rows,
            "weights": part["support_weights"],
            "intercepts": part["intercepts"],
            "n_classes": n_classes,
        },
    }


def _with_plain_labels(value: Any, key: object = None) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _with_plain_labels(part, name) for name, part in value.items()}
    if key in {"labels", "edge_labels", "classes"} and isinstance(value, list):
        return [_label(entry) for entry in value]
    return value


def _label(entry: Any) -> Any:  # noqa: ANN401
    return _LABELS_OF_0_1[entry[0]](*entry[1:]) if isinstance(entry, list) else entry  # type: ignore[operator]


class ModelFileError(TwinWLError):
    """A model file cannot be written, or is not valid."""


def to_json(value: object, arrays: dict[str, Values], name: str) -> object:  # noqa: C901  (one case per kind)
    """Return a JSON value; arrays go into ``arrays``, under the name of their place.

    Numbers, strings, booleans, None and lists stand for themselves, all else for an object of one entry that
    names its kind. Dataclasses and sparse matrices become dictionaries, for `restore`; an object with a
    method ``stored`` becomes what that returns.

    >>> found = {}
    >>> to_json({"w": np.zeros(2), "betas": (0.9, 1)}, found, "state")
    {'dict': [['w', {'array': 'state/w'}], ['betas', {'tuple': [0.9, 1]}]]}
    >>> list(found)
    ['state/w']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "stored"):
        value = value.stored()
    elif type(value).__name__ == _SPARSE:
        value = {part: getattr(value, part) for part in ("data", "indices", "indptr", "shape")}
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    match value:
        case np.ndarray():
            arrays[name] = _checked_array(value, name)
            return {"array": name}
        case float() if not math.isfinite(value):
            return {"float": str(value)}
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {"bytes": value.hex()}
        case list() | tuple():
            parts = [to_json(part, arrays, f"{name}/{place}") for place, part in enumerate(value)]
            return {"tuple": parts} if isinstance(value, tuple) else parts
        case dict():
            pairs = []
            for place, (key, part) in enumerate(value.items()):
                # An entry is named by its key where that makes a decent file name.
                decent = isinstance(key, str) and re.fullmatch(r"\.*[A-Za-z0-9_][A-Za-z0-9_.]*", key)
                content = to_json(part, arrays, f"{name}/{key if decent else place}")
                pairs.append([to_json(key, arrays, f"{name}/keys/{place}"), content])
            return {"dict": pairs}
    raise TwinWLError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold; "
        "use numbers, strings, lists, tuples, dictionaries, dataclasses or arrays"
    )


def from_json(value: object, arrays: dict[str, Values]) -> Any:  # noqa: ANN401, PLR0911
    """Undo `to_json`; each array is taken out of ``arrays`` as it is used.

    >>> from_json({"tuple": [1, {"float": "inf"}]}, {})
    (1, inf)

    Raises
    ------
    ModelFileError
        If the value is nothing that `to_json` writes.
    """
    if isinstance(value, list):
        return [from_json(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    with contextlib.suppress(KeyError, TypeError, ValueError):
        ((kind, content),) = value.items()
        match kind:
            case "array":
                array = arrays.pop(content)
                return array.astype(array.dtype.newbyteorder("="), copy=False)
            case "tuple":
                return tuple(from_json(content, arrays))
            case "dict":
                return {from_json(key, arrays): from_json(part, arrays) for key, part in content}
            case "bytes":
                return bytes.fromhex(content)
            case "float" if content in {"nan", "inf", "-inf"}:
                return float(content)
    raise ModelFileError(f"the manifest holds {shown(value)}, which is not a value of a model file")


class _LabelKind:
    """Stands for `Label`, a recursive type that cannot be taken apart."""


_NAMES = {"Label": _LabelKind}
_PLAIN = {int, str, bool, bytes}
_SPARSE = "csr_matrix"  # of SciPy, which takes long to import


def restore(kind: Any, value: Any, name: str = "state") -> Any:  # noqa: ANN401
    """Build a value of a declared type from what `from_json` returns, which may be anything.

    Parameters
    ----------
    kind
        A class with a class method ``restored``, which undoes ``stored``; a dataclass, whose fields are
        restored likewise (one that the file lacks takes its default); an array of a type of NumPy;
        `scipy.sparse.csr_matrix`; a label; ``int``, ``float``, ``str``, ``bool``, ``bytes``; and lists,
        tuples, dictionaries and unions of these. Any other type takes the value unchanged.
    value
        What the file holds in its place.
    name
        What it is called, for messages.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Line:
    ...     slope: float
    ...     name: str | None = None
    >>> restore(Line, {"slope": 2})
    Line(slope=2.0, name=None)
    >>> restore(Line, {"slope": "steep"})
    Traceback (most recent call last):
    twinwl.files.model_files.ModelFileError: state/slope is 'steep', not a float; the file is damaged
    """
    if kind is _LabelKind:
        return normalise_label(value)
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin is NDArray:  # an alias with arguments of its own, from NumPy 2.5 on
        origin = np.ndarray
    if origin in {Union, types.UnionType}:
        if value is None and type(None) in parts:
            return None
        *others, last = (part for part in parts if part is not type(None))
        for other in others:
            with contextlib.suppress(ModelFileError):
                return restore(other, value, name)
        return restore(last, value, name)
    try:
        return _restore_plain(kind, origin, parts, value, name)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, TwinWLError):
            raise
        reason = f" ({error})" if str(error) else ""
        kind_name = getattr(kind, "__name__", kind)
        raise ModelFileError(
            f"{name} is {shown(value)}, not a {kind_name}{reason}; the file is damaged"
        ) from error


def _restore_plain(kind: Any, origin: Any, parts: tuple[Any, ...], value: Any, name: str) -> Any:  # noqa: ANN401, C901, PLR0911  (one case per kind)
    if hasattr(origin, "restored"):
        return origin.restored(value)
    if is_dataclass(origin):
        return _restore_fields(origin, value, name)
    if origin is dict:
        return {
            restore(parts[0], key, name): restore(parts[1], part, f"{name}/{key}")
            for key, part in value.items()
        }
    if hasattr(origin, "_fields"):  # a named tuple
        return origin(*value)
    if origin in {list, tuple} and isinstance(value, list | tuple):
        if parts[0] in _PLAIN and parts[-1] in {..., parts[0]} and set(map(type, value)) == {parts[0]}:
            return origin(value)  # the usual case, and a quick one
        each = parts if origin is tuple and ... not in parts else parts[:1] * len(value)
        pairs = enumerate(zip(each, value, strict=True))
        return origin(restore(part, entry, f"{name}/{place}") for place, (part, entry) in pairs)
    if getattr(origin, "__name__", "") == _SPARSE:
        matrix = origin((value["data"], value["indices"], value["indptr"]), shape=value.get("shape"))
        matrix.check_format(full_check=True)
        return matrix
    if origin is np.ndarray:
        (element,) = get_args(parts[-1]) or parts
        fits = isinstance(value, np.ndarray) and np.issubdtype(value.dtype, element)
    elif origin is float:
        fits = type(value) in {int, float}
    else:
        fits = origin not in {list, tuple, *_PLAIN} or type(value) is kind
    if not fits:
        raise TypeError
    return float(value) if origin is float else value


def _restore_fields(kind: Any, value: Fields, name: str) -> Any:  # noqa: ANN401
    hints, values = get_type_hints(kind, localns=_NAMES), {}
    for field in fields(kind):
        if field.name in value:
            values[field.name] = restore(hints[field.name], value[field.name], f"{name}/{field.name}")
        elif field.init and field.default is field.default_factory is MISSING:
            raise ModelFileError(f"{name} lacks {field.name!r}; the file is damaged")
    return kind(**values)


_MANIFEST = "manifest.json"
# No objects, so there is nothing to unpickle; no dates, no records, no other byte order than '<'.
_PLAIN_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S[1-9]\d*|<U[1-9]\d*")
_LARGEST_MANIFEST = 1 << 26  # bytes; parsed JSON takes up to 25 times the memory of its text


def _write_members(stream: IO[bytes], manifest: str, arrays: Mapping[str, Values]) -> None:
    if len(manifest) > _LARGEST_MANIFEST:
        raise ModelFileError(
            f"the labels and parameters of the model take {len(manifest):,} bytes as text; "
            f"a model file holds up to {_LARGEST_MANIFEST:,}"
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        # Members that are opened have no date: the same model gives the same bytes.
        with archive.open(_MANIFEST, "w") as member:
            member.write(manifest.encode())
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _read_members(path: Path) -> tuple[Fields, dict[str, Values]]:
    """Return the manifest and the arrays by name.

    Members are stored, not compressed, and together no larger than the file, so reading a file never takes
    more memory than a small multiple of its size.
    """
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if len(members) != len(archive.infolist()):
            raise ModelFileError("two members of the file have one name")
        if _MANIFEST not in members:
            raise ModelFileError(f"there is no {_MANIFEST} in it, so it is not a twinwl model")
        for name, member in members.items():
            if name != _MANIFEST and not re.fullmatch(r"(?!.*(^|/)\.{0,2}/)[^\\:\0]+\.npy", name):
                raise ModelFileError(f"the member {name[:200]!r} is unexpected in a model file")
            if member.file_size != member.compress_size or member.compress_type or member.flag_bits & 1:
                raise ModelFileError(f"the member {name[:200]!r} is compressed or encrypted")
        # Entries of a directory may overlap: then they hold more than there is.
        if sum(member.file_size for member in members.values()) > path.stat().st_size:
            raise ModelFileError("its members claim more bytes than the file has")
        if members[_MANIFEST].file_size > _LARGEST_MANIFEST:
            raise ModelFileError(f"its {_MANIFEST} has more than {_LARGEST_MANIFEST:,} bytes")
        manifest = json.loads(archive.read(_MANIFEST))
        return manifest, {
            name.removesuffix(".npy"): read_array(archive.read(name), name)
            for name in members
            if name != _MANIFEST
        }


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
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:
        raise ModelFileError(f"{name} is not an array ({error})") from error
    if stream.read(1):
        raise ModelFileError(f"{name} has more bytes than its header says")
    return _checked_array(array, name)


def _checked_array(array: Values, name: str) -> Values:
    """Return an array in the byte order of all files; refuse what it cannot hold."""
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not _PLAIN_DTYPE.fullmatch(array.dtype.str):
        raise ModelFileError(
            f"{name} is an array of {array.dtype}, which a model file cannot hold; "
            "use numbers, booleans or strings"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"{name} holds a number that is not finite")
    return array


def _importable_name(parameter: str, value: object) -> list[str]:
    """Return how a file names a class or function, or the class of an object, that can be imported.

    A lambda, or a class or function defined inside a function, cannot be found by its name.
    """
    kind, named = ("made", value) if hasattr(value, "__qualname__") else ("object", type(value))
    name = _name_of(named)
    if _at(name) is not named:
        raise TwinWLError(
            f"{parameter}: {name.replace(':', '.')} cannot be imported by that name, so a model file cannot "
            "name it; define it with def or class at the top level of a module, without a wrapper around it"
        )
    return [kind, name]


def _found_object(parameter: str, entry: Sequence[str], allowed: list[object]) -> object:
    """Return the one of the allowed classes, functions, objects and names that a file names."""
    kind, name = entry
    for candidate in allowed:
        result = _at(name) if candidate == name else candidate
        named = result if hasattr(result, "__qualname__") else type(result)
        if _name_of(named) == name and (kind == "made") == (result is named):
            return result
    short = name.rpartition(":")[2]
    raise ModelFileError(
        f"{parameter} is {name}, code that is not of twinwl; if you trust it, load with "
        f"allow=[{short}{'(…)' if kind == 'object' else ''}]"
    )


def _name_of(value: Any) -> str:  # noqa: ANN401
    return f"{value.__module__}:{value.__qualname__}"


def _at(name: str) -> object:
    """Return what a name stands for, or None."""
    home, _, path = name.partition(":")
    try:
        return operator.attrgetter(path)(importlib.import_module(home))
    except (ImportError, AttributeError, ValueError):
        return None


EstimatorClass = TypeVar("EstimatorClass", bound=type)

FORMAT = "twinwl model"
FORMAT_VERSION = 4  # earlier ones are read too: `upgraded`

_SAVABLE: dict[str, type] = {}


def savable(kind: EstimatorClass) -> EstimatorClass:
    """Let objects of a class be saved and loaded, by decorating it; it is filed under its name."""
    _SAVABLE[kind.__qualname__] = kind
    return kind


def save(
    estimator: Any,  # noqa: ANN401  (one of twinwl's, which is checked)
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
        classifier or regressor; or a pipeline of scikit-learn whose steps are these or `SmilesToGraphs`.
        Estimators of other packages cannot be written without pickle.
    path
        The file to write, by custom ``….twinwl``; an existing one is replaced.
    atoms
        How the training molecules were read (as in `GraphBatch.from_smiles`), so that ``twinwl predict``
        reads new ones alike. None takes ``atoms_`` of the estimator, which has it from the graphs of
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
    about, arrays = {"atoms": atoms, "target": target, "positive": positive}, dict[str, Values]()
    manifest: dict[str, object] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "twinwl": version_of("twinwl"),
        **_entry(estimator, about, arrays, ""),
    }
    manifest["digest"] = _digest(manifest, arrays)
    text = json.dumps(manifest, ensure_ascii=True, allow_nan=False, indent=1)
    with open_to_write(file) as stream:
        _write_members(stream, text, arrays)


def _entry(
    estimator: Any,  # noqa: ANN401
    about: Mapping[str, str | None],
    arrays: dict[str, Values],
    place: str,
) -> dict[str, object]:
    """Return what a manifest says about an estimator, or about a pipeline with an entry for each step."""
    if type(estimator).__qualname__ == "Pipeline":
        last = len(estimator.steps) - 1
        steps = [
            [name, _entry(step, about if at == last else {}, arrays, f"{place}{at}/")]
            for at, (name, step) in enumerate(estimator.steps)
        ]
        return {"class": "Pipeline", "steps": steps}
    learnt, atoms = getattr(estimator, "atoms_", None), about.get("atoms")
    if learnt is not None and atoms not in {None, learnt}:
        raise TwinWLError(f"atoms: got {atoms!r}, but the model was fitted on molecules read with {learnt!r}")
    kind: Any = type(estimator)
    name = kind.__qualname__
    if _SAVABLE.get(name) is not kind:
        raise TwinWLError(
            f"a {name} cannot be saved as a model file; only twinwl's own estimators, and pipelines of them, "
            "can"
        )
    estimator._check_fitted()  # noqa: SLF001
    params = _writable_params(estimator)
    named = {
        one: _importable_name(one, params[one])
        for one in getattr(kind, "_named_parameters", ())
        if not isinstance(params[one], str)
    }
    entry: Fields = {
        "class": name,
        "state": to_json(estimator._to_state(), arrays, f"{place}state"),  # noqa: SLF001
        "params": to_json(params | dict.fromkeys(named), arrays, f"{place}params"),
    }
    if named:
        entry["named"] = named
    for one, constraint in _KEPT.items():
        value = getattr(estimator, f"{one}_", None) if about.get(one) is None else about[one]
        if value is not None and (one, value) != ("x", "auto"):
            entry[one] = checked(one, value, constraint)
    return entry


def load(path: str | PathLike[str], *, allow: Sequence[object] = ()) -> Any:  # noqa: ANN401
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
    if not source.is_file():
        raise ModelFileError(f"{str(source)!r}: there is no file of this name")
    try:
        return _rebuild(*_read_members(source), allowed)
    except MissingExtraError:
        raise
    except TwinWLError as error:
        raise ModelFileError(f"{str(source)!r}: {error}") from error
    except Exception as error:  # bytes that are not a zip, JSON that is not a model: there is no end of kinds
        raise ModelFileError(
            f"{str(source)!r} is not a model file, or only a part of one ({type(error).__name__}: {error}); "
            "save the model again"
        ) from error


# What a model remembers of the graphs and targets it was fitted on, as attributes that end in an underscore.
_KEPT = {"x": READINGS_OF_X, "atoms": JOINED_LEVELS, "target": NAME, "positive": NAME}


def _rebuild(manifest: Fields, arrays: dict[str, Values], allowed: list[object]) -> Any:  # noqa: ANN401
    if manifest.get("format") != FORMAT:
        raise ModelFileError("this is not a twinwl model: its manifest does not say so")
    version = manifest.get("version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelFileError(
            f"the file is of format {shown(version)}, and this twinwl {version_of('twinwl')} reads 1 to "
            f"{FORMAT_VERSION}; install a newer twinwl"
        )
    if manifest.pop("digest", None) != _digest(manifest, arrays):
        raise ModelFileError(
            "the file was changed after it was written; get it again from where it came from"
        )
    estimator = _rebuilt(manifest, version, arrays, allowed)
    if arrays:
        raise ModelFileError(f"the array {next(iter(arrays))!r} belongs to nothing in the manifest")
    return estimator


def _rebuilt(manifest: dict[str, Any], version: int, arrays: dict[str, Values], allowed: list[object]) -> Any:  # noqa: ANN401
    if manifest.get("class") == "Pipeline":
        from sklearn.pipeline import Pipeline  # noqa: PLC0415  (slow to import)

        steps = [(str(name), _rebuilt(step, version, arrays, allowed)) for name, step in manifest["steps"]]
        return Pipeline(steps)
    kind = _class_of(manifest.get("class"))
    params = from_json(manifest["params"], arrays)
    state = upgraded(version, from_json(manifest["state"], arrays))
    for parameter, entry in manifest.get("named", {}).items():
        if parameter not in getattr(kind, "_named_parameters", ()):
            raise ModelFileError(f"the manifest names {parameter!r}, which the estimator does not have")
        params[parameter] = _found_object(parameter, entry, allowed)
    estimator = kind._from_state(params, state)  # noqa: SLF001
    for one, constraint in _KEPT.items():
        if one in manifest:
            setattr(estimator, f"{one}_", checked(one, manifest[one], constraint))
    return estimator


def _class_of(name: object) -> Any:  # noqa: ANN401
    # Public names are loaded on first use, and a class registers itself as it is loaded.
    package = importlib.import_module(__name__.partition(".")[0])
    if name == "NTwinTransformer":  # the only one that is not at the top
        importlib.import_module(f"{package.__name__}.nn")
    elif name in package.__all__:
        getattr(package, str(name))
    if not isinstance(name, str) or name not in _SAVABLE:
        raise ModelFileError(f"the file claims to hold a {shown(name)}, which is not an estimator of twinwl")
    return _SAVABLE[name]


def _writable_params(estimator: Any) -> Fields:  # noqa: ANN401
    params: Fields = estimator.get_params(deep=False)
    left = {name: "code" for name in getattr(type(estimator), "_not_saved", ()) if params[name] is not None}
    if isinstance(params.get("random_state"), np.random.RandomState | np.random.Generator):
        left["random_state"] = "a generator"
    for name, what in left.items():
        warn_caller(f"1 parameter was left out of the file: {name} is {what}; it is None when loaded")
    return params | dict.fromkeys(left)


def _digest(manifest: Fields, arrays: Mapping[str, Values]) -> str:
    """Hash the manifest, without its digest, and every array with its name, type and shape."""
    digest = hashlib.sha256()
    digest.update(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
