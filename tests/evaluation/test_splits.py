"""Splits by words, columns and files: what they say, and what is wrong with them in one clear sentence."""

import datetime as dt
import gzip
import json

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, PredefinedSplit, ShuffleSplit

import twinwl as tw
from twinwl import TwinWLError
from twinwl.datasets.dataset import RowError
from twinwl.datasets.formats import ReadOptions
from twinwl.evaluation.splits import Column, groups_of, is_column, read_column, split_of


def data(n_graphs=40, groups=None, **more):
    graphs = tw.GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * (n_graphs // 2))
    y = np.arange(n_graphs) % 2
    found = tw.Dataset.from_graphs(graphs, y, name="mine", groups=groups)
    return tw.Dataset("mine", found.graphs, found.y, found.groups, **more)


def fold_of(split, given=None, seed=0, task="classification"):
    (fold,) = split_of(data() if given is None else given, split, 10, task).folds(seed)
    return fold


def message(split, given=None, task="classification"):
    with pytest.raises(TwinWLError) as error:
        split_of(data() if given is None else given, split, 10, task).folds(0)
    return str(error.value)


# ---------------------------------------------------------------------- values


def test_parts_are_named_in_any_case_and_by_their_usual_names():
    fold = fold_of(
        ["Train", "training "] * 15 + ["VALID", "val", "dev", "validation", "valid"] + ["Test"] * 5
    )
    assert fold.train.tolist() == list(range(30))
    assert fold.validation.tolist() == list(range(30, 35))
    assert fold.test.tolist() == list(range(35, 40))


def test_without_a_validation_part_a_tenth_of_training_is_held_out_by_the_seed():
    parts = ["train"] * 30 + ["test"] * 10
    first, other = (fold_of(parts, seed=seed) for seed in (0, 1))
    assert first.test.tolist() == other.test.tolist() == list(range(30, 40))
    assert len(first.validation) == 4  # of each class a tenth, and one at least: 1.5 is rounded to 2
    assert first.training_part.tolist() == list(range(30))
    assert first.validation.tolist() != other.validation.tolist()


@pytest.mark.parametrize(
    "make",
    [
        int,
        str,
        float,
        lambda year: f"{year}-05-17",
        lambda year: dt.date(year, 5, 17),
        lambda year: dt.datetime(year, 5, 17, 12, tzinfo=dt.UTC),
    ],
)
def test_years_and_dates_test_on_the_latest(make):
    years = np.repeat(np.arange(2000, 2020), 2)
    shuffled = np.random.default_rng(0).permutation(40)
    fold = fold_of([make(int(year)) for year in years[shuffled]])
    of = [sorted(set(years[shuffled][part].tolist())) for part in (fold.train, fold.validation, fold.test)]
    assert of == [list(range(2000, 2016)), [2016, 2017], [2018, 2019]]


def test_a_split_by_time_says_so():
    split = split_of(data(), [2001] * 30 + [2002] * 10, 10, "classification")
    assert ", by time: tested on 2002 and later, the rest is up to 2001; " in split.text
    assert "test 10" in split.text


@pytest.mark.parametrize(
    ("split", "said"),
    [
        (["train"] * 40, "no graph is marked 'test' (train 40, validation 0, test 0)"),
        ([2001] * 40, "less than a tenth of the graphs are later than 2001, too few to test on"),
        (["train"] * 30 + ["valid"] * 10, "no graph is marked 'test' (train 30, validation 10, test 0)"),
        (["valid"] * 30 + ["test"] * 10, "no graph is marked 'train' (train 0, validation 30, test 10)"),
        (["train"] * 39 + [None], "1 of 40 graphs have no value (rows 39)"),
        (["train"] * 20 + [""] * 20, "20 of 40 graphs have no value (rows 20, 21, 22, 23, 24, …)"),
        (["train"] * 39 + ["tset"], "row 39 holds 'tset', expected train, validation or test"),
        (["train"] * 39 + [2001], "row 39 holds 2001, expected train, validation or test everywhere"),
        ([0, 1] * 20, "split, fold 0: class 0 has no graph among those to learn from"),
        ([0] * 20 + [1] * 19, "split: got 39 values for 40 graphs; give one per graph"),
        ([0] * 40, "expected a pair (train, test) of graph indices, none empty"),
        ([2001] * 38 + [3, 3], "row 38 holds 3, expected train, validation or test everywhere, the"),
        ([0.5, 1.5] * 20, "row 0 holds 0.5"),
        ([2001] * 38 + [2002] * 2, "less than a tenth of the graphs are later than 2001, too few to test on"),
        (["train", "test"] * 20, "class 1 has no graph among those to learn from (train 20, "),
        (["train"] * 39, "split: got 39 values for 40 graphs; give one per graph"),
    ],
)  # fmt: skip
def test_values_that_do_not_split(split, said):
    assert said in message(split)


def test_numbers_need_no_class_to_learn_from():
    assert len(fold_of(["train", "test"] * 20, task="regression").test) == 20


def test_groups_are_not_torn_apart():
    given = data(groups=np.arange(40) // 4)
    assert "graphs of one group are on both sides" in message(["train"] * 30 + ["test"] * 10, given)
    fold = fold_of(["train"] * 32 + ["test"] * 8, given)
    held = set((fold.validation // 4).tolist())
    assert not held & set((fold.train // 4).tolist())


# ---------------------------------------------------------------------- folds that are given


def parts(folds):
    return [(fold.training_part.tolist(), fold.test.tolist()) for fold in folds]


quarter_of_graph = np.arange(40) // 10
PAIRS = [
    (np.flatnonzero(quarter_of_graph != number), np.flatnonzero(quarter_of_graph == number))
    for number in range(4)
]


@pytest.mark.parametrize(
    ("split", "name"),
    [
        (PAIRS, "split"),
        ([(train.tolist(), test.tolist()) for train, test in PAIRS], "split"),
        (iter(PAIRS), "split"),
        (quarter_of_graph, "split"),
        ((quarter_of_graph + 1).tolist(), "split"),
        ([f"{number}" for number in quarter_of_graph], "split"),
        (Column("fold", [f"{number}.0" for number in quarter_of_graph]), "column 'fold' of mine"),
        (KFold(4), "KFold"),
        (PredefinedSplit(quarter_of_graph), "PredefinedSplit"),
    ],
)
def test_folds_are_pairs_of_indices_numbers_or_a_splitter(split, name):
    found = split_of(data(), split, 10, "classification")
    assert parts(found.folds(0)) == [(train.tolist(), test.tolist()) for train, test in PAIRS]
    assert found.text == f"{name}: 4 folds"
    assert found.kind.startswith(f"{name} ")


def test_graphs_without_a_fold_are_always_learnt_from():
    found = split_of(data(), [-1] * 20 + [0] * 10 + [1] * 10, 10, "classification").folds(0)
    assert [fold.test.tolist() for fold in found] == [list(range(20, 30)), list(range(30, 40))]
    assert all(set(range(20)) <= set(fold.training_part.tolist()) for fold in found)


def test_a_splitter_is_given_the_groups_and_the_targets():
    given = data(groups=quarter_of_graph)
    assert parts(split_of(given, LeaveOneGroupOut(), 10, "classification").folds(0)) == [
        (train.tolist(), test.tolist()) for train, test in PAIRS
    ]
    seen = []

    class Spy(KFold):
        def split(self, X, y=None, groups=None):
            seen.append((X.shape, y.tolist(), groups.tolist()))
            return super().split(X, y)

    split_of(given, Spy(4), 10, "classification")
    assert seen == [((40,), [0, 1] * 20, quarter_of_graph.tolist())]


def test_a_random_splitter_is_asked_once_so_that_all_methods_have_the_same_folds():
    found = split_of(data(), ShuffleSplit(3, test_size=10), 10, "classification")
    first, again = (parts(found.folds(seed)) for seed in (0, 1))
    assert first == again


def test_each_given_fold_holds_out_other_graphs():
    first, second = split_of(data(), [PAIRS[0], PAIRS[0]], 10, "classification").folds(0)
    assert first.validation.tolist() != second.validation.tolist()


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ([([0, 1, 2], [2, 3])], "split, fold 0: graph 2 is listed twice; train and test must not overlap"),
        (
            [([0, 1], [2]), ([0, 1], [])],
            "split, fold 1: got ([0, 1], []), expected a pair (train, test) of graph indices, none empty",
        ),
        ([([0, 1], np.empty(0, int))], "expected a pair (train, test) of graph indices, none empty"),
        ([([], [2])], "split, fold 0: got ([], [2]), expected a pair"),
        ([([0, 1], [40])], "split, fold 0: graph 40 is out of range: mine has the graphs 0 to 39"),
        ([([0, -1], [3])], "split, fold 0: graph -1 is out of range"),
        ([([0, 1, 1], [3])], "split, fold 0: graph 1 is listed twice"),
        ([([0.5, 1], [3])], "split, fold 0: got ([0.5, 1], [3]), expected a pair"),
        ([([True] * 40, [False] * 40)], "split, fold 0: got ([True, "),
        ([([0, 1], [2], [3])], "split, fold 0: got ([0, 1], [2], [3]), expected a pair (train, test)"),
        ([], "split: got no folds"),
        ([(list(range(0, 40, 2)), [1])], "split, fold 0: class 1 has no graph among those to learn from"),
        (LeaveOneGroupOut(), "split: LeaveOneGroupOut() cannot split mine (The 'groups' parameter"),
        (KFold(50), "cannot split mine (Cannot have number of splits n_splits=50"),
    ],
)
def test_folds_that_cannot_be_are_refused(split, said):
    assert said in message(split)


def test_given_folds_do_not_tear_groups_apart():
    assert "split, fold 0: graphs of one group are on both sides" in message(
        PAIRS, data(groups=np.arange(40) // 4)
    )


# ---------------------------------------------------------------------- columns


def table(tmp_path, n_rows=40):
    parts = ["train"] * (n_rows - 10) + ["test"] * 10
    lines = [
        f"{'C' * (2 + row % 7)}{'O' * (row % 2)},{row % 2},{parts[row]},{row // 4}" for row in range(n_rows)
    ]
    lines[3] = "not a molecule,0,train,0"
    path = tmp_path / "m.csv"
    path.write_text("smiles,y,part,lab\n" + "\n".join(lines) + "\n")
    return path


def test_cells_of_a_column_belong_to_the_rows_that_were_read(tmp_path):
    pytest.importorskip("rdkit")
    path = table(tmp_path)
    with pytest.warns(tw.TwinWLWarning, match="left out 1 of 40 rows"):
        found = tw.load_dataset(path, target="y")
    column = read_column(path, ReadOptions(), "part", "split")
    fold = fold_of(column, found)
    assert found.rows[fold.test].tolist() == list(range(30, 40))
    labs = groups_of(read_column(path, ReadOptions(), "lab", "groups"), found)
    assert labs[:3].tolist() == [0, 0, 0]
    assert labs[3] == 1  # row 3 could not be read


def test_a_column_that_is_not_there_names_what_is(tmp_path):
    with pytest.raises(TwinWLError, match="split: got 'prat'; did you mean 'part'"):
        read_column(table(tmp_path), ReadOptions(), "prat", "split")
    with pytest.raises(TwinWLError, match="groups: got 'lap'; did you mean 'lab'"):
        read_column(table(tmp_path), ReadOptions(), "lap", "groups")


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "m.csv").write_text("smiles,y,part,part\nCC,1,train,test\nCO,0,test,train\n")
    with pytest.raises(TwinWLError, match="split: got 'part', and 2 columns are called so; rename one"):
        read_column(tmp_path / "m.csv", ReadOptions(), "part", "split")


def test_groups_without_a_value_are_refused():
    with pytest.raises(
        TwinWLError, match=r"column 'lab' of mine: 2 of 40 graphs have no value \(rows 1, 2\)"
    ):
        groups_of(Column("lab", ["a", None, ""] + ["b"] * 37), data())


def test_words_and_files_are_no_columns(tmp_path):
    (tmp_path / "year").touch()
    assert is_column("year")
    assert not is_column(str(tmp_path / "year"))
    assert not any(
        map(is_column, ["stratified", "scaffold", "gnn-comparison", "a.json", "b.CSV.gz", None, 3])
    )


# ---------------------------------------------------------------------- files


def gaps():
    """Rows 0 to 41, of which 5 and 41 could not be read."""
    rows = np.array([row for row in range(41) if row != 5])
    errors = (RowError(5, 7, "graph", "bad"), RowError(41, 43, "graph", "bad"))
    return data(rows=rows, errors=errors)


PARTS = ["train"] * 30 + ["valid"] * 4 + ["test"] * 8
BY_PART = {
    part: [row for row, name in enumerate(PARTS) if name == part] for part in ("train", "valid", "test")
}
FILES = {
    "parts.json": json.dumps(BY_PART),
    "list.json": json.dumps(PARTS),
    "rows.json": json.dumps({str(row): part for row, part in enumerate(PARTS)}),
    "one.csv": "split\n" + "\n".join(PARTS),
    "two.csv": "row,split\n" + "\n".join(f"{row},{PARTS[row]}" for row in reversed(range(42))),
    "more.tsv": "index\tid\tpart\n" + "\n".join(f"{row}\tx{row}\t{part}" for row, part in enumerate(PARTS)),
}


@pytest.mark.parametrize("name", FILES)
def test_every_form_of_a_file_is_the_same_split(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    given = gaps()
    fold = fold_of(str(tmp_path / name), given)
    assert given.rows[fold.train].tolist() == [row for row in range(30) if row != 5]
    assert given.rows[fold.validation].tolist() == [30, 31, 32, 33]
    assert given.rows[fold.test].tolist() == list(range(34, 41))


def test_a_folder_of_ogb_is_a_split(tmp_path):
    for part, rows in BY_PART.items():
        with gzip.open(tmp_path / f"{part}.csv.gz", "wt") as file:
            file.write("".join(f"{row}\n" for row in rows))
    assert len(fold_of(tmp_path, gaps()).test) == 7


def test_several_folds_in_one_file(tmp_path):
    folds = [
        {"train": list(range(30)), "test": list(range(30, 42))},
        {"train": list(range(12, 42)), "test": list(range(12))},
    ]
    (tmp_path / "folds.json").write_text(json.dumps(folds))
    split = split_of(gaps(), tmp_path / "folds.json", 10, "classification")
    assert [len(fold.test) for fold in split.folds(0)] == [11, 11]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.json", {"train": [0, 1], "test": [2]}, "37 of 40 graphs have no value (rows 3, 4, 6, 7, 8, …)"),
        ("s.json", {**BY_PART, "test": [34, 99]}, "row 99 is out of range: mine has the rows 0 to 41"),
        ("s.json", {**BY_PART, "test": [0]}, "row 0 is listed twice, as train and test"),
        ("s.json", {**BY_PART, "test": ["x"]}, "got 'x' for a row, expected an integer"),
        ("s.json", {**BY_PART, "test": [1.5]}, "got 1.5 for a row"),
        ("s.json", "no json at all", "not readable as JSON"),
        ("s.json", "3", 'got 3, expected {"train": [rows], "test": [rows]}'),
        ("s.json", [], "40 of 40 graphs have no value"),
        (
            "s.json",
            [["train"], ["test"]] * 21,
            "row 0 holds ['train'], expected train, validation or test",
        ),
        ("s.csv", "a,b\n1,2\n", "got the columns 'a', 'b'"),
        ("s.csv", "row,split\n0,train\n0,test\n", "row 0 is listed twice"),
        ("s.csv", "split\n" + "train\n" * 60, "row 42 is out of range"),
    ],
)
def test_files_that_do_not_split(name, content, said, tmp_path):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert said in message(str(path), gaps())


def test_a_folder_without_parts_is_refused(tmp_path):
    assert "there is no train.csv" in message(tmp_path)
