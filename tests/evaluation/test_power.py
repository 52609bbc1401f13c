"""`power` on tiny suites: sound, unsound, constant, noisy and broken things to score."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

import twinwl as tw
from tests.conftest import data_folder
from twinwl.errors import TwinWLError
from twinwl.evaluation.power import PUBLISHED, PairScore, Power, as_value
from twinwl.report.audit_page import power_page
from twinwl.report.page import results_html

HEXAGON, TRIANGLES = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
ROOK, SHRIKHANDE = (graph.to_networkx()[0] for graph in tw.load_dataset("SRG-16-6-2-2", n_copies=1).graphs)
PAIRS = [(HEXAGON, TRIANGLES), (ROOK, SHRIKHANDE)]


def outcomes(f, pairs=PAIRS, **options):
    return [score.outcome for score in tw.research.power(f, pairs, **options).scores]


def n_triangles(graph):
    return sum(nx.triangles(graph).values())


def spectrum(graph):
    return np.linalg.eigvalsh(nx.to_numpy_array(graph))


class Noisy:
    """The number of triangles and, at each call, something else of a given size."""

    def __init__(self, size):
        self.size, self.rng = size, np.random.default_rng(0)

    def __call__(self, graph):
        return n_triangles(graph) + self.size * self.rng.standard_normal()


def test_sound_function_separates_what_it_sees():
    found = tw.research.power(n_triangles, PAIRS, takes="networkx")
    hexagon, rook = found.scores
    assert (hexagon.outcome, rook.outcome) == ("separated", "same")
    assert (hexagon.difference, hexagon.noise) == (6.0, 0.0)
    assert found.separated == {"n_triangles": 1}


def test_constant_function_separates_nothing():
    assert outcomes(lambda _: 1) == ["same", "same"]


@pytest.mark.parametrize(
    "value",
    [
        lambda graph: graph.indices[:6].tolist(),
        lambda graph: graph.indices[:6].astype(float),
        lambda graph: str(graph.indices[:6]),
        lambda graph: tuple(graph.indices[:6].tolist()),
    ],
    ids=["integers", "floats", "text", "tuple"],
)
def test_value_that_changes_under_relabelling_is_unsound(value):
    assert outcomes(value) == ["unsound", "unsound"]


def test_noise_like_rounding_does_not_count_as_a_difference_nor_hide_one():
    assert outcomes(Noisy(1e-12), takes="networkx") == ["separated", "same"]
    assert outcomes(Noisy(1.0), takes="networkx") == ["unsound", "unsound"]


def test_difference_must_exceed_the_noise_clearly():
    rng = np.random.default_rng(0)

    def nearly_nothing(graph):  # the difference is about three times the noise
        return 1 + 6e-12 * (n_triangles(graph) > 0) + 1e-12 * rng.uniform(-1, 1)

    found = tw.research.power(nearly_nothing, PAIRS, takes="networkx")
    assert [score.outcome for score in found.scores] == ["unclear", "same"]
    assert (found.score("nearly_nothing").separated, found.score("nearly_nothing").unclear) == (0, 1)
    assert "differs by" in results_html(power_page(found))


def test_eigenvalues_separate_by_far_more_than_their_rounding():
    (hexagon, rook) = tw.research.power(spectrum, PAIRS, takes="networkx").scores
    assert (hexagon.outcome, rook.outcome) == ("separated", "same")
    assert hexagon.noise < 1e-9 < hexagon.difference


def test_readouts_by_name_list_and_function():
    found = tw.research.power({"size": "size", "both": ["edges", "canonical"], "own": [len]}, PAIRS, copies=3)
    assert found.separated == {"size": 1, "both": 2, "own": 1}
    first = found.scores[0]
    assert (first.round, first.difference) == (2, 6.0)


def test_readout_that_looks_at_node_numbers_is_refused():
    with pytest.raises(TwinWLError, match=r"pair 0: .*numbering of their nodes"):
        tw.research.power([lambda rooted: rooted.nodes], PAIRS[:1])


def test_kernels_and_transformers_are_fitted_to_each_pair():
    kernel = tw.TwinKernel(features="joint")
    found = tw.research.power(
        {
            "kernel": kernel,
            "wl kernel": tw.TwinKernel(features="count"),
            "vectorizer": tw.STwinVectorizer(features="joint"),
            "function": lambda g, h: float(n_triangles(g) * n_triangles(h)),
        },
        PAIRS,
        copies=4,
        takes="networkx",
    )
    assert found.separated == {"kernel": 1, "wl kernel": 0, "vectorizer": 1, "function": 1}
    assert not hasattr(kernel, "space_")  # a clone was fitted


def test_method_of_a_fitted_model_is_a_function():
    data = tw.load_dataset("TWINS", n_pairs=5)
    vectorizer = tw.STwinVectorizer(features="joint").fit(data.graphs)
    found = tw.research.power(vectorizer.transform, "TWINS:n_pairs=5", copies=2)
    assert found.separated == {"transform": 5}


def test_torch_modules():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn import GINConv, global_add_pool  # noqa: PLC0415

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.conv = GINConv(torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh()))
            self.dropout = torch.nn.Dropout(0.5)

        def forward(self, data):
            x = self.dropout(self.conv(data.x, data.edge_index))
            return global_add_pool(x, data.batch)

    class InParts(Net):
        def forward(self, x, edge_index, batch):
            return global_add_pool(self.conv(x, edge_index), batch)

    class Triangles(torch.nn.Module):
        def forward(self, data):
            matrix = torch.zeros(data.num_nodes, data.num_nodes)
            matrix[data.edge_index[0], data.edge_index[1]] = 1
            return torch.trace(matrix @ matrix @ matrix)

    class PerNode(Net):
        def forward(self, data):
            return self.conv(data.x, data.edge_index)

    with pytest.raises(TwinWLError, match=r"training mode.*call module\.eval\(\) first"):
        tw.research.power(Net(), PAIRS)
    found = tw.research.power(
        {"gin": Net().eval(), "parts": InParts().eval(), "cubes": Triangles().eval()}, PAIRS
    )
    assert found.separated == {"gin": 0, "parts": 0, "cubes": 1}
    assert {score.outcome for score in found.scores} == {"same", "separated"}
    with pytest.raises(TwinWLError, match="one row per node; pool over the nodes"):
        tw.research.power(PerNode().eval(), PAIRS)
    halves = Net()
    halves.eval()
    halves.dropout.train()
    with pytest.raises(TwinWLError, match="training mode"):
        tw.research.power(halves, PAIRS)
    assert halves.dropout.training  # nothing was changed


@pytest.fixture
def nearly_blind():
    """Return a module that adds a billionth of the number of triangles to one."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")

    class NearlyBlind(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(1e-9))

        def forward(self, x, edge_index):
            matrix = torch.zeros(len(x), len(x))
            matrix[edge_index[0], edge_index[1]] = 1
            return x[0] + self.scale * torch.trace(matrix @ matrix @ matrix)

    return NearlyBlind().eval()


def test_torch_modules_run_in_double_precision_on_one_thread(nearly_blind):
    import torch  # noqa: PLC0415

    threads = []
    nearly_blind.register_forward_hook(lambda *_: threads.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert outcomes(nearly_blind) == ["separated", "same"]
        assert (set(threads), torch.get_num_threads()) == ({1}, 2)
    finally:
        torch.set_num_threads(before)
    assert (nearly_blind.scale.dtype, torch.get_default_dtype()) == (torch.float32, torch.float32)


def test_torch_module_that_cannot_run_in_double_precision_runs_in_its_own(nearly_blind):
    import torch  # noqa: PLC0415

    single = torch.eye(1)

    class Fixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nearly_blind

        def forward(self, x, edge_index):
            return self.inner(x @ single, edge_index)

    assert outcomes(Fixed().eval()) == ["same", "same"]


def raising(_):
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raising, "raised ZeroDivisionError: by nothing"),
        (lambda _: None, "returned None"),
        (lambda _: float("nan"), "not finite"),
        (lambda _: {"a": 1}, "not hashable"),
        (lambda _: [["a"], 1], "not hashable"),
        (lambda graph: np.zeros(graph.n_nodes + graph.indices[0]), "vectors of different lengths"),
    ],
    ids=["raises", "none", "nan", "dictionary", "ragged", "lengths"],
)
def test_what_cannot_be_compared_is_an_error_or_counts_as_failed(function, message):
    with pytest.raises(TwinWLError, match=rf"pairs, pair [01]: .*{message}.*on_error=\"count\""):
        tw.research.power(function, PAIRS)
    found = tw.research.power(function, PAIRS, on_error="count")
    assert found.score(found.names[0]).failed
    assert any(message in score.error for score in found.scores)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        ("sise", "did you mean 'size'"),
        (5, "expected a readout, a function of a graph"),
        ({}, "empty dictionary"),
        ("no_such_module:f", "cannot import"),
        (tw.STwinSVC(), "cannot transform graphs"),
        (tw.TwinKernel, "got the class TwinKernel; give an object of it"),
    ],
    ids=["typo", "number", "nothing", "import", "classifier", "class"],
)
def test_what_cannot_be_scored_is_refused(f, message):
    with pytest.raises(TwinWLError, match=message):
        tw.research.power(f, PAIRS)


def test_values_of_all_kinds():
    assert as_value(np.float32(2)).rounding > as_value(2.0).rounding > as_value(2).rounding == 0
    assert as_value(1 + 2j).vector.tolist() == [1.0, 2.0]
    assert as_value((1, 2)).other == (1, 2)
    assert as_value((1.5, 2)).vector.tolist() == [1.5, 2.0]
    assert as_value(10**400).other == 10**400


def test_result_as_records_json_table_and_html():
    found = tw.research.power({"size": "size", "order <b>": lambda graph: graph.indices[0]}, "cfi", copies=2)
    assert repr(found) == "Power('cfi', 19 pairs; size: 6, order <b>: 0)"
    loaded = json.loads(found.to_json())
    assert loaded["methods"]["size"]["categories"]["cycles"]["separated"] == 6
    assert len(loaded["scores"]) == 38
    assert loaded["published"] == []
    assert "order &lt;b&gt;" in found._repr_html_()
    lines = str(found).splitlines()
    assert lines[1].split()[:3] == ["cycles", "6", "6"]
    page = results_html(power_page(found))
    assert "Unclear, unsound or failed" in page
    assert "order &lt;b&gt;" in page
    assert "K6" in page  # nothing tells that pair apart


def test_frame_has_one_row_per_pair(tmp_path):
    pandas = pytest.importorskip("pandas")
    found = tw.research.power("size", PAIRS, copies=1)
    assert isinstance(found.to_frame(), pandas.DataFrame)
    assert found.to_frame()["outcome"].tolist() == ["separated", "same"]
    found.save_page(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")


def test_categories_restrict_the_suite():
    assert tw.research.power("size", "cfi", categories=["grids"], copies=0).n_pairs == 3
    with pytest.raises(TwinWLError, match=r"categories: got 'grid'.*did you mean 'grids'"):
        tw.research.power("size", "cfi", categories=["grid"])


def test_published_figures_add_up_and_have_a_source():
    for row in PUBLISHED:
        parts = [row.basic, row.regular, row.extension, row.cfi]
        assert None in parts or sum(parts) == row.total
        assert row.source


def test_page_of_brec_shows_published_figures_with_their_source():
    from twinwl.datasets.generators import BREC_PARTS  # noqa: PLC0415

    numbered = [(name, pair) for name, part in BREC_PARTS.items() for pair in range(part.n_pairs)]
    scores = [
        PairScore("mine", name, number, f"{name} {pair}", "separated", 1.0, 0.0, None, 0.001, "")
        for number, (name, pair) in enumerate(numbered)
    ]
    found = Power("brec", {name: part.n_pairs for name, part in BREC_PARTS.items()}, 16, ("mine",), scores)
    page = results_html(power_page(found))
    for text in ("mine (here)", "I²-GNN", "281", "ICML 2024, table 2", "NeurIPS 2023", "140"):
        assert text in page
    assert len(json.loads(found.to_json())["published"]) == len(PUBLISHED)


def test_sizes_on_the_first_pairs_of_brec():
    folder = data_folder()
    if folder is None or not (folder / "BREC.zip").is_file():
        pytest.skip("BREC.zip was not found; set TWINWL_DATA to the folder that holds it")
    found = tw.research.power(
        {"size": "size", "rooted-wl": "rooted-wl"}, "brec", categories="basic", copies=1, data_dir=folder
    )
    assert found.separated == {"size": 16, "rooted-wl": 60}
