"""Model files that were changed by someone who knows the format: refused, and never at the cost of memory.

Every estimator that can be saved is saved once. Each parameter, fitted value and array of its file is
replaced by hostile ones and the file signed again. A process of its own, whose memory is limited, loads them.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from itertools import pairwise

import numpy as np
import pytest

import twinwl as tw
from tests.files.test_model_files import ESTIMATORS, GRAPHS, fitted
from twinwl.files import model_files

resource = pytest.importorskip("resource", reason="memory is limited by the operating system")

HOSTILE_VALUES = [
    None, True, -1, 30_000, 10**9, 2**70, {"float": "nan"}, "x", "<U500000000", [], {"dict": []},
    {"array": "none"},
]  # fmt: skip
HOSTILE_HEADERS = [
    ("<U0", (10**9,), b""),
    ("|S0", (10**9,), b""),
    ("|V0", (10**9,), b""),
    ("<f4", (0, 10**12), b""),
    ("<f4", (10**9,), b"\0" * 8),
    ("<f4", (True, 2), b"\0" * 8),
    ("<f4", (False,), b""),
    (">f4", (2,), b"\0" * 8),
    (">i8", (2,), b"\0" * 16),
    ("<M8[ns]", (2,), b"\0" * 16),
    ("<m8[s]", (2,), b"\0" * 16),
    ("<c8", (2,), b"\0" * 16),
    ("|b1", (2,), b"\2\3"),
    ("<U1", (2,), b"\xff" * 8),
    ("|O", (2,), b"\0" * 16),
    ([("a", "<f4")], (2,), b"\0" * 8),
    ("<f4", (2,), np.array([1, np.nan], "<f4").tobytes()),
    ("<f8", (2,), np.array([-np.inf, 0], "<f8").tobytes()),
]
# Room for the work of loading a small model; every file here is below 100 kB.
MEMORY = 256 << 20
# Parameters that say how large a network is: any change of them must be refused.
SIZES = {"params/hidden", "params/layers"}


def header(descr, shape):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


class ModelFile:
    """The parts of a model file, to be changed and signed again."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.manifest = json.loads(archive.read("manifest.json"))
            self.arrays = {}
            for name in archive.namelist():
                if name != "manifest.json":
                    array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                    self.arrays[name.removesuffix(".npy")] = (array.dtype.str, array.shape, array.tobytes())

    def write(self, path, manifest=None, arrays=None):
        manifest = {**(manifest or self.manifest)}
        manifest.pop("digest")
        arrays = arrays or self.arrays
        digest = hashlib.sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode())
        for name in sorted(arrays):
            descr, shape, content = arrays[name]
            digest.update(f"\0{name}\0{descr}\0{shape}\0".encode() + content)
        manifest["digest"] = digest.hexdigest()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest))
            for name, (descr, shape, content) in arrays.items():
                archive.writestr(f"{name}.npy", header(descr, shape) + content)

    def leaves(self, value, place=""):
        """Yield the place of each value of the manifest that is not a container, and how to replace it."""
        match value:
            case {"dict": pairs}:
                for pair in pairs:
                    here = f"{place}/{pair[0]}"
                    yield here, pair, 1
                    yield from self.leaves(pair[1], here)
            case {"tuple": list(parts)} | list(parts):
                for number, part in enumerate(parts[:2]):
                    yield f"{place}/{number}", parts, number
                    yield from self.leaves(part, f"{place}/{number}")


def mutations(path, folder, tried):
    """Write every mutation of a model file; return the kind, the place and the hostile value of each.

    What was ``tried`` with another file of the same class, or with an array of the same name, is left out.
    """
    model = ModelFile(path)
    done = []

    def written(*what, **parts):
        key = what if what[0] == "header" else (model.manifest["class"], *what)
        if key in tried:
            return
        tried.add(key)
        model.write(folder / f"{len(done):05}.twinwl", **parts)
        done.append(what)

    for part in ("params", "state"):
        for place, container, key in list(model.leaves(model.manifest[part], part)):
            before = container[key]
            for value in HOSTILE_VALUES:
                container[key] = value
                written(part, place, str(value), manifest=model.manifest)
            container[key] = before
    for name, (descr, shape, content) in model.arrays.items():
        for hostile in HOSTILE_HEADERS:
            written("header", name, str(hostile[:2]), arrays={**model.arrays, name: hostile})
        filled = b"\xff" * len(content)
        written("content", name, "255", arrays={**model.arrays, name: (descr, shape, filled)})
        written("header", name, "longer", arrays={**model.arrays, name: (descr, shape, content + b"x")})
        rest = {other: parts for other, parts in model.arrays.items() if other != name}
        written("header", name, "missing", arrays=rest)
    for one, other in pairwise(model.arrays):
        swapped = {**model.arrays, one: model.arrays[other], other: model.arrays[one]}
        written("content", one, other, arrays=swapped)
    return done


LOADER = """
import resource, sys
from pathlib import Path
import twinwl as tw
folder, memory = Path(sys.argv[1]), int(sys.argv[2])
for model in folder.glob("*.twinwl"):
    tw.load(model)  # what the first use imports and compiles
with open("/proc/self/statm") as stream:
    used = int(stream.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
for path in sorted(folder.glob("*/*.twinwl")):
    try:
        tw.load(path)
    except tw.TwinWLError:
        outcome = "refused"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {str(error)[:200]!r}"
    else:
        outcome = "loaded"
    print(path.relative_to(folder), outcome, flush=True)
"""


def attack(names, folder):
    """Return what became of each mutation of some estimators: (name, kind, place, value, outcome)."""
    tried, keys = {}, set()
    for name in names:
        number = len(tried)
        model = folder / f"{number}.twinwl"
        tw.save(fitted(ESTIMATORS[name][0]), model)
        (folder / str(number)).mkdir()
        tried[name] = mutations(model, folder / str(number), keys)
    done = subprocess.run(
        [sys.executable, "-c", LOADER, folder, str(MEMORY)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    became = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    return [
        (name, *what, became[f"{number}/{place:05}.twinwl"])
        for number, name in enumerate(tried)
        for place, what in enumerate(tried[name])
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize(
    "names",
    [["vectorizer"], pytest.param(list(ESTIMATORS), marks=pytest.mark.exhaustive)],
    ids=["one", "all"],
)
def test_hostile_files_are_refused_within_little_memory(names, tmp_path):
    outcomes = attack(names, tmp_path)
    assert [found for found in outcomes if found[-1] not in {"refused", "loaded"}] == []
    loaded = [found for found in outcomes if found[-1] == "loaded"]
    assert [found for found in loaded if found[2] in SIZES] == []
    assert [found for found in loaded if found[1] == "header"] == []


def test_every_class_that_can_be_saved_is_attacked():
    for name in tw.__all__:
        getattr(tw, name)  # what can be saved registers itself
    _ = tw.nn
    attacked = {type(estimator).__name__ for estimator, _ in ESTIMATORS.values()}
    # SmilesToGraphs learns nothing: its file holds two parameters, which are checked as any others.
    assert attacked | {"SmilesToGraphs"} == set(model_files._SAVABLE)


def test_overlapping_members_are_refused(tmp_path):
    """A directory may name the same bytes again and again: the members then hold more than the file."""
    model = tmp_path / "model.twinwl"
    tw.save(tw.STwinVectorizer().fit(GRAPHS), model)
    with zipfile.ZipFile(model, "a") as archive:
        info = archive.getinfo("manifest.json")
        info.file_size = info.compress_size = 10**12
        archive.writestr("more.npy", b"")
    with pytest.raises(tw.TwinWLError, match="more bytes than the file has"):
        tw.load(model)


def test_manifest_of_a_hundred_megabytes_is_not_parsed(tmp_path):
    path = tmp_path / "model.twinwl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", b"[" + b"[]," * (1 << 25) + b"[]]")
    with pytest.raises(tw.TwinWLError, match="more than 67,108,864 bytes"):
        tw.load(path)
