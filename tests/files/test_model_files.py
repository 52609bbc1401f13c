"""Model files: what is saved predicts the same bytes, and what was tampered with is refused."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_regressor

import twinwl as tw
from twinwl.files import model_files
from twinwl.files.model_files import ModelFileError
from twinwl.models.calibration import ClassHead

pytest.importorskip("torch", reason="needs PyTorch")

CLASSES = np.array(["cycle", "path"])


def some_graphs():
    random = np.random.default_rng(0)
    edges, labels = [], []
    for i in range(24):
        size = int(random.integers(4, 9))
        path = [(j, j + 1) for j in range(size - 1)]
        edges.append(path if i % 2 else [*path, (size - 1, 0)])
        labels.append(random.choice(["C", "N"], size).tolist())
    return tw.GraphBatch.from_edges(edges, node_labels=labels)


GRAPHS = some_graphs()
Y = CLASSES[np.arange(24) % 2]

ESTIMATORS = {
    "vectorizer": (tw.STwinVectorizer(n_iter=2, min_df=2), lambda model: model.transform(GRAPHS).toarray()),
    "joint": (tw.STwinVectorizer(features="joint"), lambda model: model.transform(GRAPHS).toarray()),
    "kernel": (tw.TwinKernel(base="minmax"), lambda model: model.transform(GRAPHS)),
    "svc": (tw.STwinSVC(n_iter=2, C=1.0, random_state=0), lambda model: model.predict_proba(GRAPHS)),
    "svr": (tw.STwinSVR(n_iter=2, C=1.0, random_state=0), lambda model: model.predict(GRAPHS)),
    "classifier": (
        tw.STwinClassifier(max_epochs=3, class_weight={"path": 2.0}, random_state=0),
        lambda model: model.predict_proba(GRAPHS),
    ),
    "regressor": (tw.STwinRegressor(max_epochs=3), lambda model: model.predict(GRAPHS)),
    "ntwin regressor": (
        tw.NTwinRegressor(layers=2, hidden=4, max_epochs=2),
        lambda model: model.predict(GRAPHS),
    ),
    "raw classifier": (
        tw.STwinClassifier(max_epochs=3, features="count", scaling="none", random_state=0),
        lambda model: model.predict_proba(GRAPHS),
    ),
    "ntwin ppgn": (
        tw.NTwinClassifier(layers=2, hidden=4, max_epochs=2, readout="ppgn", subtree="gin"),
        lambda model: model.predict_proba(GRAPHS),
    ),
    "ntwin gcn": (
        tw.NTwinRegressor(layers=8, hops=1, hidden=4, max_epochs=2, readout="gcn"),
        lambda model: model.predict(GRAPHS),
    ),
    "ntwin deep sets": (
        tw.NTwinRegressor(layers=8, hops=1, hidden=4, max_epochs=2, readout="deepsets"),
        lambda model: model.predict(GRAPHS),
    ),
    "ntwin transformer": (
        tw.nn.NTwinTransformer(layers=2, hidden=4, max_epochs=2, random_state=0),
        lambda model: model.transform(GRAPHS),
    ),
    "ntwin": (
        tw.NTwinClassifier(layers=2, hidden=4, max_epochs=2, random_state=0),
        lambda model: model.predict_proba(GRAPHS),
    ),
}


def fitted(estimator):
    """Fit to classes, or to numbers where that is what it predicts."""
    return estimator.fit(GRAPHS, np.arange(24) / 7 if is_regressor(estimator) else Y)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.twinwl"
    tw.save(tw.STwinClassifier(max_epochs=2, random_state=0).fit(GRAPHS, Y), path)
    return path


def rewritten(path, target, change=None, members=None, compression=zipfile.ZIP_STORED):
    """Copy a model file with its manifest or its members changed; zip checksums stay right."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        manifest = json.loads(content["manifest.json"])
        change(manifest)
        content["manifest.json"] = json.dumps(manifest).encode()
    content.update(members or {})
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)
    return target


def resigned(path, target, change):
    """Change a file as someone would who knows how digests are made."""
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        manifest = json.loads(archive.read("manifest.json"))
    del manifest["digest"]
    change(manifest, arrays)
    manifest["digest"] = model_files._digest(manifest, arrays)
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", stream.getvalue())
    return target


@pytest.mark.parametrize("name", ESTIMATORS)
def test_loaded_model_answers_the_same_bytes(name, tmp_path):
    estimator, answer = ESTIMATORS[name]
    fitted(estimator)
    tw.save(estimator, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert type(loaded) is type(estimator)
    assert loaded.get_params() == estimator.get_params()
    assert answer(loaded).tobytes() == answer(estimator).tobytes()


def test_history_and_explanation_survive(tmp_path):
    model = tw.STwinClassifier(max_epochs=3, random_state=0).fit(GRAPHS, Y)
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert loaded.history_ == model.history_
    assert np.array_equal(loaded.explain(GRAPHS[0]).node_shares, model.explain(GRAPHS[0]).node_shares)


def test_the_name_of_the_target_survives(tmp_path):
    model = tw.STwinVectorizer(n_iter=1).fit(tw.GraphBatch.from_edges([[(0, 1)]]))
    tw.save(model, tmp_path / "a.twinwl", target="p_np")
    tw.save(tw.load(tmp_path / "a.twinwl"), tmp_path / "b.twinwl")
    assert tw.load(tmp_path / "b.twinwl").target_ == "p_np"
    with pytest.raises(tw.TwinWLError, match="target"):
        tw.save(model, tmp_path / "c.twinwl", target=3)


@pytest.mark.parametrize(
    "classes", [np.array([3, 7]), np.array([False, True]), np.array(["a", "b"], object), np.array([1.0, 2.0])]
)
def test_classes_come_back_as_they_were(classes, tmp_path):
    model = tw.STwinClassifier(max_epochs=1, random_state=0).fit(GRAPHS, classes[np.arange(24) % 2])
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl").classes_
    assert loaded.tolist() == classes.tolist()
    assert loaded.dtype == model.classes_.dtype


def test_same_model_gives_the_same_bytes(tmp_path):
    model = tw.STwinClassifier(max_epochs=1, random_state=0).fit(GRAPHS, Y)
    tw.save(model, tmp_path / "a")
    tw.save(model, tmp_path / "b")
    tw.save(tw.load(tmp_path / "a"), tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_generator_as_random_state_is_left_out_with_a_warning(tmp_path):
    model = tw.STwinClassifier(max_epochs=1, random_state=np.random.RandomState(0)).fit(GRAPHS, Y)
    with pytest.warns(tw.TwinWLWarning, match="random_state"):
        tw.save(model, tmp_path / "model.twinwl")
    assert tw.load(tmp_path / "model.twinwl").random_state is None


# ---------------------------------------------------------------------- writing


def test_unfitted_model_is_not_written(tmp_path):
    with pytest.raises(tw.TwinWLError, match="not fitted"):
        tw.save(tw.STwinClassifier(), tmp_path / "model.twinwl")
    assert list(tmp_path.iterdir()) == []


def test_other_objects_are_not_written(tmp_path):
    class STwinVectorizer(tw.STwinVectorizer):
        """A subclass may hold anything."""

    for thing in (object(), STwinVectorizer().fit(GRAPHS)):
        with pytest.raises(tw.TwinWLError, match="cannot be saved"):
            tw.save(thing, tmp_path / "model.twinwl")


def test_nothing_is_half_written(tmp_path, monkeypatch):
    model = tw.STwinVectorizer().fit(GRAPHS)
    path = tmp_path / "model.twinwl"
    tw.save(model, path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(tw.TwinWLError, match="disk full"):
        tw.save(model, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_named_in_the_error(tmp_path):
    model = tw.STwinVectorizer().fit(GRAPHS)
    with pytest.raises(tw.TwinWLError, match=f"cannot write '{tmp_path}': Is a directory"):
        tw.save(model, tmp_path)
    with pytest.raises(tw.TwinWLError, match=r"nowhere/model\.twinwl': No such file or directory"):
        tw.save(model, tmp_path / "nowhere" / "model.twinwl")


@pytest.mark.parametrize("path", [None, 3, ["model.twinwl"], b"model.twinwl", "", ".", "x" * 5000, "a\0b"])
def test_paths_that_name_no_file(path):
    with pytest.raises(tw.TwinWLError):
        tw.save(tw.STwinVectorizer().fit(GRAPHS), path)
    with pytest.raises(tw.TwinWLError):
        tw.load(path)


@pytest.mark.parametrize(
    "classes", [np.array(["2020-01-01", "2021-01-01"], "M8[D]"), np.array([(1,), (2,)], [("a", "i4")])]
)
def test_classes_of_a_kind_that_no_file_holds(classes, tmp_path):
    model = tw.STwinClassifier(max_epochs=1, random_state=0).fit(GRAPHS, Y)
    model.heads_ = [ClassHead(classes)]
    with pytest.raises(tw.TwinWLError, match="cannot hold"):
        tw.save(model, tmp_path / "model.twinwl")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_neither_written_nor_read(number, model_file, tmp_path):
    model = tw.load(model_file)
    model.module_.second.bias.data[0] = number
    with pytest.raises(ModelFileError, match=r"second\.bias holds a number that is not finite"):
        tw.save(model, tmp_path / "model.twinwl")

    def spoil(_, arrays):
        arrays["state/weights/second.bias"][0] = number

    with pytest.raises(ModelFileError, match=r"second\.bias.* holds a number that is not finite"):
        tw.load(resigned(model_file, tmp_path / "m", spoil))


def test_arrays_of_the_other_byte_order_are_written_in_the_usual_one(tmp_path):
    model = tw.STwinClassifier(max_epochs=1, random_state=0).fit(GRAPHS, Y)
    model.heads_ = [ClassHead(np.array([3, 7], ">i4"))]
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl").classes_
    assert (loaded.dtype.str, loaded.tolist()) == ("<i4", [3, 7])


def test_loaded_network_can_be_trained_on(model_file):
    module = tw.load(model_file).module_
    assert all(value.device.type == "cpu" and value.requires_grad for value in module.parameters())


# ---------------------------------------------------------------------- reading what is not to be trusted


def test_missing_file(tmp_path):
    with pytest.raises(ModelFileError, match="no file"):
        tw.load(tmp_path / "model.twinwl")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello" * 100, pickle.dumps([1, 2])])
def test_files_that_are_no_models(content, tmp_path):
    path = tmp_path / "model.twinwl"
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        tw.load(path)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_truncated_file(share, model_file, tmp_path):
    content = model_file.read_bytes()
    path = tmp_path / "model.twinwl"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match="only a part"):
        tw.load(path)


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_flipped_byte_is_noticed_or_harmless(place, flip, model_file, tmp_path_factory):
    content = bytearray(model_file.read_bytes())
    content[int(place * len(content))] ^= flip
    path = tmp_path_factory.mktemp("flip") / "model.twinwl"
    path.write_bytes(content)
    try:
        model = tw.load(path)
    except ModelFileError:
        return
    expected = tw.load(model_file).predict_proba(GRAPHS)
    assert np.array_equal(model.predict_proba(GRAPHS), expected)


def test_newer_format_asks_for_a_newer_twinwl(model_file, tmp_path):
    path = rewritten(model_file, tmp_path / "m", lambda manifest: manifest.update(version=99))
    with pytest.raises(ModelFileError, match=r"format 99.*newer twinwl"):
        tw.load(path)


@pytest.mark.parametrize("version", [0, -1, True, "1", None])
def test_versions_that_do_not_exist(version, model_file, tmp_path):
    path = rewritten(model_file, tmp_path / "m", lambda manifest: manifest.update(version=version))
    with pytest.raises(ModelFileError, match="reads 1 to 4"):
        tw.load(path)


@pytest.mark.parametrize("name", ["os.system", "subprocess:Popen", "STwinClasifier", None, ["STwinSVC"], ""])
def test_classes_that_are_not_in_the_table(name, model_file, tmp_path):
    def rename(manifest, _):
        manifest["class"] = name

    with pytest.raises(ModelFileError, match="claims to hold"):
        tw.load(resigned(model_file, tmp_path / "m", rename))


@pytest.mark.parametrize("name", ["STwinSVC", "STwinVectorizer", "TwinKernel", "NTwinClassifier"])
def test_another_class_of_the_table(name, model_file, tmp_path):
    path = rewritten(model_file, tmp_path / "m", lambda manifest: manifest.update({"class": name}))
    with pytest.raises(ModelFileError, match="changed after it was written"):
        tw.load(path)

    def rename(manifest, _):
        manifest["class"] = name

    with pytest.raises(ModelFileError):
        tw.load(resigned(model_file, tmp_path / "n", rename))


def test_changed_parameter_is_noticed(model_file, tmp_path):
    def widen(manifest):
        pairs = manifest["params"]["dict"]
        manifest["params"]["dict"] = [[key, 65 if key == "hidden" else value] for key, value in pairs]

    with pytest.raises(ModelFileError, match="changed after it was written"):
        tw.load(rewritten(model_file, tmp_path / "m", widen))
    with pytest.raises(ModelFileError, match="do not fit the network"):
        tw.load(resigned(model_file, tmp_path / "n", lambda manifest, _: widen(manifest)))


def test_changed_array_is_noticed(model_file, tmp_path):
    def nudge(_, arrays):
        arrays["state/weights/second.bias"] = arrays["state/weights/second.bias"] + 1

    with zipfile.ZipFile(resigned(model_file, tmp_path / "r", nudge)) as archive:
        member = archive.read("state/weights/second.bias.npy")
    path = rewritten(model_file, tmp_path / "m", members={"state/weights/second.bias.npy": member})
    with pytest.raises(ModelFileError, match="changed after it was written"):
        tw.load(path)


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/evil.npy", "a/../../b.npy", "evil.py", "x.pkl", "dir/", "a\\b.npy"]
)
def test_unexpected_members(name, model_file, tmp_path):
    path = rewritten(model_file, tmp_path / "m", members={name: b"import os"})
    with pytest.raises(ModelFileError, match="unexpected"):
        tw.load(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["m"]


def test_extra_array_is_refused(model_file, tmp_path):
    def add(_, arrays):
        arrays["state/extra"] = np.zeros(3)

    with pytest.raises(ModelFileError, match="belongs to nothing"):
        tw.load(resigned(model_file, tmp_path / "m", add))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(model_file, tmp_path):
    path = rewritten(model_file, tmp_path / "m")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(ModelFileError, match="one name"):
        tw.load(path)


def test_compressed_member_is_refused(model_file, tmp_path):
    with pytest.raises(ModelFileError, match="compressed"):
        tw.load(rewritten(model_file, tmp_path / "m", compression=zipfile.ZIP_DEFLATED))


def test_no_manifest(model_file, tmp_path):
    with pytest.raises(ModelFileError, match=r"no manifest\.json"):
        tw.load(rewritten(model_file, tmp_path / "m", members={"manifest.json": None}))


@pytest.mark.parametrize("text", [b"{", b"[]", b"null", b'{"format": "other"}', b"\xff\xfe", b"[" * 100_000])
def test_manifests_that_say_nothing(text, model_file, tmp_path):
    with pytest.raises(ModelFileError):
        tw.load(rewritten(model_file, tmp_path / "m", members={"manifest.json": text}))


class Bomb:
    exploded = False

    def __reduce__(self):
        return setattr, (Bomb, "exploded", True)


def test_object_array_is_refused_and_never_unpickled(model_file, tmp_path):
    stream = io.BytesIO()
    array = np.empty(1, object)
    array[0] = Bomb()
    np.save(stream, array, allow_pickle=True)
    name = "state/weights/second.bias.npy"
    with pytest.raises(ModelFileError, match="Object arrays cannot be loaded"):
        tw.load(rewritten(model_file, tmp_path / "m", members={name: stream.getvalue()}))
    assert not Bomb.exploded


@pytest.mark.parametrize("shape", [(10**15,), (2**40, 2**40), (-1,), (3, 5)])
def test_array_that_claims_more_than_it_holds(shape, model_file, tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
    name = "state/weights/second.bias.npy"
    with pytest.raises(ModelFileError):
        tw.load(rewritten(model_file, tmp_path / "m", members={name: stream.getvalue() + b"\0" * 8}))


@pytest.mark.parametrize("entry", ["heads", "history", "weights", "vectorizer", "input"])
def test_missing_parts_are_refused_even_when_signed(entry, model_file, tmp_path):
    def drop(manifest, arrays):
        pairs = manifest["state"]["dict"]
        manifest["state"]["dict"] = [pair for pair in pairs if pair[0] != entry]
        for name in [name for name in arrays if name.startswith(f"state/{entry}")]:
            del arrays[name]

    with pytest.raises(ModelFileError):
        tw.load(resigned(model_file, tmp_path / "m", drop))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state/input/excess_columns", np.array([10**6])),
        ("state/input/usual_sizes", np.zeros(2)),
        ("state/weights/first.weight", np.zeros((1, 1), np.float32)),
        ("state/weights/second.bias", np.zeros(2, np.int8)),
        ("state/vectorizer/space/sig_items_1", np.full(3, 10**6)),
    ],
)
def test_arrays_that_do_not_fit_are_refused_even_when_signed(name, value, model_file, tmp_path):
    def put(_, arrays):
        assert name in arrays
        arrays[name] = value

    with pytest.raises(ModelFileError):
        tw.load(resigned(model_file, tmp_path / "m", put))


def test_the_atom_level_of_the_training_molecules_is_saved(tmp_path):
    graphs = replace(some_graphs(), atoms="constitution")
    tw.save(tw.STwinVectorizer(n_iter=1).fit(graphs), tmp_path / "m.twinwl")
    with pytest.raises(tw.TwinWLError, match=r"atoms='skeleton'.*atoms='constitution'"):
        tw.load(tmp_path / "m.twinwl").transform(replace(graphs, atoms="skeleton"))


def test_an_atom_level_that_the_model_was_not_fitted_on_is_refused(tmp_path):
    model = tw.STwinVectorizer(n_iter=1).fit(replace(some_graphs(), atoms="constitution"))
    tw.save(model, tmp_path / "m.twinwl", atoms="constitution")
    with pytest.raises(tw.TwinWLError, match=r"atoms: got 'ecfp', .* read with 'constitution'"):
        tw.save(model, tmp_path / "m.twinwl", atoms="ecfp")
