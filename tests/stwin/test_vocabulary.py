import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stwin.test_features import batches
from tests.stwin.test_vectorizer import PATH, TRIANGLE, molecules, same_bytes
from twinwl import GraphBatch, STwinSVC, STwinVectorizer, TwinWLError, load, save
from twinwl.models.features import KINDS
from twinwl.models.vectorizer import ColumnCounts, column_keys, freeze
from twinwl.refinement.content_keys import hexadecimal

INITIAL = st.sampled_from(["label", "degree", "ring"])


def counted_in_parts(vectorizer, batch, cuts):
    """Fit from counts of parts of the graphs, which never see each other."""
    rows = np.split(np.arange(len(batch)), cuts)
    parts = [ColumnCounts.of(batch[part], vectorizer.settings, part) for part in rows if len(part)]
    counts = ColumnCounts.merge(parts[::-1]).frequent(vectorizer.column_choice, len(batch))
    graphs = batch[np.unique(counts.first)]
    return freeze(vectorizer, counts, graphs)


@pytest.mark.parametrize("kind", [*KINDS, "wl"])
@pytest.mark.parametrize("limits", [{}, {"min_df": 2}, {"max_features": 4}], ids=str)
@pytest.mark.filterwarnings("ignore:.*only labels that no training graph has")  # rare labels are dropped
@settings(max_examples=15, deadline=None)
@given(
    batch=batches(),
    cut=st.integers(0, 4),
    edge_labels=st.booleans(),
    initial=st.sampled_from(["label", "degree", "ring"]),
)
def test_counts_of_parts_give_the_columns_of_a_fit_in_memory(kind, limits, batch, cut, edge_labels, initial):
    features, readout = (kind, "size") if kind in KINDS else ("joint", kind)

    def new():
        return STwinVectorizer(2, features, edge_labels, initial, **limits, readout=readout)

    try:
        in_memory = new().fit(batch)
    except TwinWLError as error:
        assert "min_df" in str(error)  # noqa: PT017
        return
    in_parts = counted_in_parts(new(), batch, [cut])
    expected, got = in_memory.transform(batch), in_parts.transform(batch)
    assert same_bytes(expected, got)
    assert (
        in_parts.n_graphs_with_column_.tolist() == np.bincount(got.indices, minlength=got.shape[1]).tolist()
    )
    for column in range(got.shape[1]):
        assert str(in_parts.explain_column(column)) == str(in_memory.explain_column(column))


def test_new_graphs_are_encoded_as_by_a_fit_in_memory():
    graphs, _ = molecules()
    new = GraphBatch.from_edges([PATH, TRIANGLE, [(0, 1), (0, 2), (0, 3)]])
    in_parts = counted_in_parts(STwinVectorizer(3, "joint", min_df=10), graphs, [7, 20])
    assert same_bytes(
        STwinVectorizer(3, "joint", min_df=10).fit(graphs).transform(new), in_parts.transform(new)
    )
    assert in_parts.unseen_rates(new)[-1] > 0


def test_rare_columns_leave_no_trace_in_the_alphabet():
    graphs, _ = molecules()
    assert counted_in_parts(STwinVectorizer(3, min_df=15), graphs, [9]).columns_ is None


def test_keys_of_columns_are_the_same_for_ever():
    graphs = GraphBatch.from_edges([PATH], [["C", "C", "O"]])
    keys = column_keys(STwinVectorizer(1, "joint").fit(graphs).space_)
    assert [hexadecimal(key) for key in keys[1]] == [
        "2eaa23b9b1b6641e0fde2b358b5bd7c6",
        "605d53bfb59cba7b82a6ba7cb611ef69",
        "1990c4076b558e2c9e833484259008d7",
    ]


def test_graphs_that_lack_what_was_counted_are_refused():
    vectorizer = STwinVectorizer(2)
    counts = ColumnCounts.of(GraphBatch.from_edges([PATH]), vectorizer.settings, np.array([0]))
    with pytest.raises(TwinWLError, match="changed since"):
        freeze(vectorizer, counts, GraphBatch.from_edges([TRIANGLE]))


@pytest.fixture
def vocabulary(tmp_path):
    graphs, _ = molecules()
    save(counted_in_parts(STwinVectorizer(2, min_df=2), graphs, [11]), tmp_path / "vocabulary.twinwl")
    return tmp_path / "vocabulary.twinwl"


@pytest.mark.parametrize(
    "stricter", [{}, {"min_df": 17}, {"max_features": 3}, {"min_df": 9, "max_features": 5}]
)
def test_a_vocabulary_can_be_cut_further_without_counting_again(vocabulary, stricter):
    graphs, _ = molecules()
    expected = STwinVectorizer(2, **{"min_df": 2, **stricter}).fit(graphs)
    cut = STwinVectorizer.from_vocabulary(vocabulary, n_iter=2, **stricter)
    assert same_bytes(expected.transform(graphs), cut.transform(graphs))
    assert cut.get_params() == expected.get_params()
    save(cut, vocabulary)
    assert same_bytes(load(vocabulary).transform(graphs), cut.transform(graphs))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"features": "joint"}, "features: got 'joint', but the vocabulary .* was counted with 'size'"),
        ({"n_iter": 3}, "n_iter: got 3"),
        ({"min_df": 1}, "only has columns of 2 graphs"),
        ({"min_df": 1000}, "no column occurs"),
        ({"min_df": 0}, "min_df"),
        ({"max_features": 0}, "max_features"),
    ],
)
def test_a_vocabulary_of_other_settings_is_refused(vocabulary, asked, message):
    with pytest.raises(TwinWLError, match=message):
        STwinVectorizer.from_vocabulary(vocabulary, **asked)


def test_other_models_are_no_vocabulary(tmp_path):
    graphs, y = molecules()
    for model in (STwinVectorizer(1).fit(graphs), STwinSVC(n_iter=1).fit(graphs, y)):
        save(model, tmp_path / "model.twinwl")
        with pytest.raises(TwinWLError, match="expected a vocabulary"):
            STwinVectorizer.from_vocabulary(tmp_path / "model.twinwl")


def test_a_misspelt_setting_is_an_error(vocabulary):
    with pytest.raises(TypeError, match="colour"):
        STwinVectorizer.from_vocabulary(vocabulary, colour=1)
