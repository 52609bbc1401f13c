import tracemalloc
from itertools import chain, combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.isomorphism.known_graphs import rook, shrikhande
from tests.isomorphism.relabelling import relabelled
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import concatenate
from twinwl.isomorphism import deduplication
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.readouts import ReadoutError

any_batches = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=False, max_nodes=4, max_graphs=8)
)


@given(batch=any_batches)
def test_groups_are_those_of_canonical_forms(batch):
    forms = certificates(batch, range(len(batch)))
    first_of_form = {}
    for graph, form in enumerate(forms):
        first_of_form.setdefault(form, graph)
    result = tw.deduplicate(batch)
    assert result.representatives.tolist() == list(first_of_form.values())
    assert [result.representatives[label] for label in result.labels] == [
        first_of_form[form] for form in forms
    ]


@given(batch=any_batches)
def test_groups_and_labels_say_the_same(batch):
    result = tw.deduplicate(batch)
    assert len(result.groups) == len(result.representatives) == len(result)
    for number, group in enumerate(result.groups):
        assert group.tolist() == np.flatnonzero(result.labels == number).tolist()
        assert group[0] == result.representatives[number]


@given(batch=any_batches, exact=st.booleans())
def test_a_stream_gives_the_same_groups(batch, exact):
    whole = tw.deduplicate(batch, exact)
    assert tw.deduplicate(iter(batch), exact).labels.tolist() == whole.labels.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deduplication, "_GRAPHS_PER_BLOCK", 2)
        assert tw.deduplicate(iter([batch, batch]), exact).labels.tolist() == [*whole.labels] * 2


def test_relabelled_copies_of_the_atlas_are_found_again():
    atlas = GraphBatch.from_networkx(nx.graph_atlas_g())
    copies = relabelled(atlas, np.random.default_rng(1))
    assert tw.deduplicate(concatenate([atlas, copies])).labels.tolist() == [*range(1253)] * 2


def test_only_exactness_tells_rook_and_shrikhande_apart():
    graphs = [rook(), shrikhande(), rook()]
    assert tw.deduplicate(graphs).labels.tolist() == [0, 1, 0]
    assert tw.deduplicate(graphs, exact=False).labels.tolist() == [0, 0, 0]
    assert tw.deduplicate(graphs, exact=False, readout="rooted-fwl2").labels.tolist() == [0, 1, 0]


def test_labels_of_nodes_and_edges_are_respected():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]] * 4,
        node_labels=[["C", "C", "O"], ["O", "C", "C"], ["C", "C", "N"], ["C", "C", "O"]],
        edge_labels=[["-", "="], ["=", "-"], ["-", "="], ["=", "-"]],
    )
    assert tw.deduplicate(batch).labels.tolist() == [0, 0, 1, 2]


def test_an_empty_collection_has_no_groups():
    for nothing in ([], iter([])):
        result = tw.deduplicate(nothing)
        assert (len(result), result.groups, result.labels.tolist()) == (0, [], [])


def test_memory_does_not_grow_with_the_length_of_a_stream():
    short, long = (_peak_memory(n_blocks) for n_blocks in (30, 120))
    assert long < 1.2 * short


def _peak_memory(n_blocks):
    """Return the most bytes held while grouping a stream of five kinds of graphs."""
    cycle = [(node, (node + 1) % 60) for node in range(60)]
    kinds = GraphBatch.from_edges([[*cycle, (0, skip)] for skip in range(2, 7)])
    everyone = np.arange(100) % 5
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deduplication, "_GRAPHS_PER_BLOCK", 500)
        tracemalloc.start()
        result = tw.deduplicate((kinds[everyone] for _ in range(n_blocks)), exact=False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (len(result.labels), len(result)) == (100 * n_blocks, 5)
    return peak


def test_an_error_counts_graphs_from_the_start_of_the_stream(monkeypatch):
    monkeypatch.setattr(deduplication, "_GRAPHS_PER_BLOCK", 4)
    graphs = chain([nx.path_graph(2)] * 9, ["CC"])
    with pytest.raises(GraphInputError, match="graph 9: ") as caught:
        tw.deduplicate(graphs)
    assert caught.value.graph == 9


def test_a_failing_readout_counts_graphs_from_the_start_of_the_stream(monkeypatch):
    monkeypatch.setattr(deduplication, "_GRAPHS_PER_BLOCK", 2)
    graphs = (nx.path_graph(n) for n in range(1, 9))
    with pytest.raises(ReadoutError, match="graph 6, root 3") as caught:
        tw.deduplicate(graphs, exact=False, n_iter=9, readout=lambda rooted: 1 // (7 - len(rooted)))
    assert caught.value.graph == 6


def test_an_unknown_readout_is_refused_before_the_stream_is_touched():
    stream = iter([nx.path_graph(2)])
    with pytest.raises(TwinWLError, match="readout: got"):
        tw.deduplicate(stream, readout="sise")
    assert next(stream)


def test_the_number_of_groups_is_shown():
    assert repr(tw.deduplicate([nx.path_graph(2)] * 3)) == "Deduplication(3 graphs, 1 groups)"


def test_groups_are_counted_at_each_level_that_tells_their_molecules_apart():
    pytest.importorskip("rdkit", reason="needs RDKit")
    smiles = ["CCO", "OCC", "CC(=O)O", "CC(=O)[O-]", "C[C@H](O)F", "C[C@@H](O)F", "CC(O)F"]
    found = tw.deduplicate(tw.from_smiles(smiles, atoms="skeleton"))
    counts = deduplication.differing_groups(found, smiles, "skeleton")
    assert counts == {"constitution": 1, "isotope": 0, "stereo": 1}


ALANINES = ["CC(N)C(=O)O", "OC(=O)C(C)N", "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "[13CH3]C(N)C(=O)O"]
OTHERS = ["CC(N)C(=O)[O-]", "[13CH3][C@H](N)C(=O)O", "CC=CC", "C/C=C/C", r"C/C=C\C", "C/C=C/[13CH3]"]


@pytest.mark.parametrize("level", ["skeleton", "constitution", "isotope", "stereo"])
@given(smiles=st.lists(st.sampled_from(ALANINES + OTHERS), max_size=8))
def test_groups_that_differ_are_those_with_two_molecules_that_agree_up_to_a_level(level, smiles):
    pytest.importorskip("rdkit", reason="needs RDKit")
    ladder = ["skeleton", "constitution", "isotope", "stereo"]
    labels = {each: tw.deduplicate(tw.from_smiles(smiles, atoms=each)).labels for each in ladder}
    found = tw.deduplicate(tw.from_smiles(smiles, atoms=level))
    expected = {}
    for before, each in pairwise(ladder[ladder.index(level) :]):
        groups = {
            int(found.labels[a])
            for a, b in combinations(range(len(smiles)), 2)
            if labels[before][a] == labels[before][b] and labels[each][a] != labels[each][b]
        }
        expected[each] = len(groups)
    assert deduplication.differing_groups(found, smiles, level) == expected


@given(
    labels=st.lists(st.integers(0, 4), max_size=12),
    data=st.data(),
)
def test_the_graph_to_keep_is_the_best_of_its_group(labels, data):
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64) if labels else np.empty(0, np.int64)
    found = tw.results.Deduplication(codes)
    scores = data.draw(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, float("nan")]), min_size=len(labels), max_size=len(labels))
    )
    groups = [np.flatnonzero(codes == group).tolist() for group in range(len(found))]
    best = [max(group, key=lambda graph: np.nan_to_num(scores[graph], nan=-1.0)) for group in groups]
    assert found.choose("first").tolist() == [group[0] for group in groups]
    assert found.choose("last").tolist() == [group[-1] for group in groups]
    assert found.choose(scores).tolist() == best


def test_missing_targets_contradict_nothing():
    found = tw.results.Deduplication(np.array([0, 0, 1, 1, 1, 2]))
    assert found.contradictions([1, None, "a", "b", None, 1]).tolist() == [1]
    assert found.contradictions([1.0, float("nan"), 2.0, 2.0, 2.0, 1.0]).tolist() == []


@pytest.mark.parametrize(("keep", "message"), [("best", "keep: got 'best'"), ([1.0], "expected one number")])
def test_a_wrong_choice_is_refused(keep, message):
    with pytest.raises(TwinWLError, match=message):
        tw.results.Deduplication(np.array([0, 0])).choose(keep)
    with pytest.raises(TwinWLError, match="y: got 1 targets for 2 graphs"):
        tw.results.Deduplication(np.array([0, 0])).contradictions([1])
