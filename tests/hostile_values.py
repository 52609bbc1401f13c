"""Values that no caller should pass: what may reach a public door all the same."""

import array
import collections
import datetime as dt
import decimal
import enum
import fractions
import importlib.util
import types
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp

from twinwl import GraphBatch


class Colour(enum.Enum):
    RED = "red"


class OldSequence:
    """Iterable by indices alone."""

    def __getitem__(self, index):
        if index > 2:
            raise IndexError
        return index


def recursive_list():
    values = []
    values.append(values)
    return values


def recursive_dict():
    values = {}
    values["x"] = values
    return values


def odd_graph():
    graph = nx.Graph()
    graph.add_edge(float("nan"), (1, frozenset()), weight=object(), label=len)
    return graph


PLAIN = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    **{f"int {number}": lambda number=number: number for number in (-1, 0, 1, 2, 2**31, 2**32, 2**63, 2**64)},
    "huge int": lambda: 10**400,
    "huge negative int": lambda: -(10**400),
    **{
        f"float {number}": lambda number=number: number
        for number in (-1.0, -0.0, 0.5, 1.5, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"))
    },
    "complex": lambda: 1j,
    "Decimal": lambda: decimal.Decimal("sNaN"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "datetime": lambda: dt.datetime(2000, 1, 1, tzinfo=dt.UTC),
    "enum": lambda: Colour.RED,
    "object": object,
    "class": lambda: dict,
    "module": lambda: types,
    "function": lambda: len,
    "lambda": lambda: lambda: None,
    "identity": lambda: lambda x: x,
    "function of a list": lambda: lambda _: [],
    "exception": lambda: ValueError("x"),
    "slice": lambda: slice(None),
    "Path": lambda: Path("no such file"),
    "folder": Path,
}

TEXT = {
    "empty string": lambda: "",
    "x": lambda: "x",
    "None in words": lambda: "None",
    "NUL": lambda: "a\0b",
    "surrogate": lambda: "\ud800",
    "escape": lambda: "\x1b]0;title\x07",
    "megabyte": lambda: "C" * 10**6,
    "long number": lambda: "9" * 5000,
    "path": lambda: "no/such/../file.csv",
    "colon": lambda: "os:system",
    "empty bytes": lambda: b"",
    "bytes": lambda: b"Bw\xff",
    "bytearray": lambda: bytearray(b"Bw"),
    "memoryview": lambda: memoryview(b"Bw"),
}

COLLECTIONS = {
    "empty list": list,
    "empty tuple": tuple,
    "empty dict": dict,
    "empty set": set,
    "range": lambda: range(2),
    "list of None": lambda: [None, None],
    "list of floats": lambda: [0.5, float("nan")],
    "list of strings": lambda: ["CC", "Bw"],
    "list of bools": lambda: [True, False],
    "list of objects": lambda: [object(), object()],
    "list of huge ints": lambda: [10**400, 2**64],
    "list of empty lists": lambda: [[], []],
    "list of pairs": lambda: [(0, 1), (1, 2)],
    "list of edge lists": lambda: [[(0, 1)], [(0, -1)]],
    "ragged": lambda: [[1], [1, 2]],
    "list of sets": lambda: [{0, 1}, {1, 2}],
    "list of arrays": lambda: [np.eye(2), np.eye(3)],
    "list of NaN arrays": lambda: [np.full((2, 2), np.nan)] * 2,
    "mixed": lambda: [1, "a", None, [(0, 1)]],
    "tuple of three": lambda: (1, 2, 3),
    "pair": lambda: ([[(0, 1)]], [0]),
    "set": lambda: {1, "a"},
    "frozenset": lambda: frozenset({1}),
    "dict": lambda: {"a": 1, 2: None},
    "dict of lists": lambda: {"n_iter": [1, 2]},
    "dict view": lambda: {"a": 1}.items(),  # noqa: PLW0108
    "deque": lambda: collections.deque([1, 2]),
    "Counter": lambda: collections.Counter("ab"),
    "array": lambda: array.array("d", [0.5]),
    "recursive list": recursive_list,
    "recursive dict": recursive_dict,
    "generator": lambda: (x for x in ()),
    "iterator": lambda: iter([[(0, 1)]]),
    "old sequence": OldSequence,
}

# One for each of six graphs: what has the right length gets further.
SIXES = {
    "six None": lambda: [None] * 6,
    "six NaN": lambda: [float("nan")] * 6,
    "six floats": lambda: [0.5, 1e308, 5e-324, -0.0, float("inf"), 2.0],
    "six huge ints": lambda: [10**400, -(10**400), 2**64, 2**63, 0, 1],
    "six bools": lambda: [True, False] * 3,
    "six strings": lambda: ["a", "", "\0", "\ud800", "a" * 10**5, "b"],
    "six bytes": lambda: [b"a", b"\0"] * 3,
    "six kinds": lambda: [1, "a", None, 1.5, b"", ()],
    "six objects": lambda: [object() for _ in range(6)],
    "six enums": lambda: [Colour.RED] * 6,
    "six classes": lambda: [int, str] * 3,
    "six tuples": lambda: [(1, 2), (3,)] * 3,
    "six lists": lambda: [[0], [1]] * 3,
    "six times": lambda: np.array([0, 1] * 3, "M8[ns]"),
    "six times, missing": lambda: np.full(6, "NaT", "M8[s]"),
    "six complex": lambda: np.arange(6) * 1j,
    "six structured": lambda: np.zeros(6, "i4,f8"),
    "six masked": lambda: np.ma.masked_array([0, 1] * 3, [True] * 6),
    "six long doubles": lambda: np.arange(6, dtype=np.longdouble),
    "six by one": lambda: np.zeros((6, 1)),
    "six by none": lambda: np.zeros((6, 0)),
    "six subnormal": lambda: np.full(6, 5e-324),
    "six large": lambda: np.full(6, 1e308),
    "six zeros": lambda: np.zeros(6),
    "six matrices": lambda: [np.eye(3)] * 6,
    "six label lists": lambda: [["C", None, 1.5]] * 6,
    "six counts": lambda: [3, 3, 3, 3, 3, 2**31],
}

ARRAYS = {
    **{
        f"array {kind} {shape}": lambda kind=kind, shape=shape: np.zeros(shape, kind)
        for kind in ("int32", "int64", "float64", "bool")
        for shape in ((), (0,), (1,), (2,), (2, 2), (1, 2, 3))
    },
    **{
        f"array {kind}": lambda kind=kind: np.ones(2, kind)
        for kind in (
            "int8",
            "uint64",
            "float16",
            "longdouble",
            "complex128",
            "U3",
            "S3",
            "M8[s]",
            "m8[D]",
            ">i8",
            "i4,f8",
        )
    },
    "array of NaN": lambda: np.array([np.nan, np.inf]),
    "array of extremes": lambda: np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
    "array of objects": lambda: np.array([None, object()], object),
    "array of lists": lambda: np.array([[(0, 1)], None], object),
    "array of batches": lambda: np.asarray(GraphBatch.from_edges([[(0, 1)]])),
    "rising": lambda: np.arange(3),
    "falling": lambda: np.arange(3)[::-1],
    "strided": lambda: np.arange(6, dtype=np.int32)[::2],
    "read-only": lambda: np.broadcast_to(np.int64(0), (3,)),
    "masked": lambda: np.ma.masked_array([1, 2], [True, False]),
    "matrix": lambda: np.asmatrix([[0, 1], [1, 0]]),
    "recarray": lambda: np.rec.array([(1, 2.0)]),
    "asymmetric": lambda: np.array([[0, 1], [0, 0]]),
    "weighted": lambda: np.array([[0, 0.5], [0.5, 0]]),
    "NumPy bool": lambda: np.True_,
    "NumPy int": lambda: np.int64(-3),
    "NumPy NaN": lambda: np.float32("nan"),
    "NumPy time": lambda: np.datetime64("NaT"),
    "NumPy string": lambda: np.str_("x"),
    "NumPy void": lambda: np.void(b"abc"),
    "dtype": lambda: np.dtype("f8"),
    "Generator": lambda: np.random.default_rng(0),
    "RandomState": lambda: np.random.RandomState(0),
    "sparse": lambda: sp.csr_array([[0, 1], [1, 0]]),
}

OBJECTS = {
    "graph": lambda: nx.path_graph(3),
    "empty graph": nx.Graph,
    "digraph": lambda: nx.DiGraph([(0, 1)]),
    "multigraph": lambda: nx.MultiGraph([(0, 1), (0, 1)]),
    "odd graph": odd_graph,
    "list of odd graphs": lambda: [odd_graph(), odd_graph()],
    "mixed graphs": lambda: [nx.Graph(), nx.DiGraph()],
    "class of graphs": lambda: nx.Graph,
    "batch": lambda: GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]]),
    "empty batch": lambda: GraphBatch.from_edges([]),
    "directed batch": lambda: GraphBatch.from_edges([[(0, 1)]], directed=True),
    "batch without nodes": lambda: GraphBatch.from_edges([[], []]),
    "batch with features": lambda: GraphBatch.from_edges([[(0, 1)]], node_features=[np.eye(2)]),
    "list of batches": lambda: [GraphBatch.from_edges([[(0, 1)]])] * 2,
}


def _of_extras():
    """Return what only exists where optional packages are installed."""
    found = {}
    if importlib.util.find_spec("pandas"):
        import pandas as pd  # noqa: PLC0415

        found |= {
            "Series": lambda: pd.Series([1, None]),
            "Series of objects": lambda: pd.Series(["a", pd.NA], index=[5, 5]),
            "Categorical": lambda: pd.Categorical(["a", None]),
            "DataFrame": lambda: pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
            "empty DataFrame": pd.DataFrame,
            "NA": lambda: pd.NA,
            "NaT": lambda: pd.NaT,
            "Index": lambda: pd.Index([1.5]),
        }
    if importlib.util.find_spec("torch"):
        import torch  # noqa: PLC0415

        found |= {
            "tensor": lambda: torch.tensor([1, 2]),
            "tensor with gradient": lambda: torch.ones(2, 2, requires_grad=True),
            "Module": lambda: torch.nn.Linear(1, 1),
        }
    if importlib.util.find_spec("torch_geometric"):
        import torch  # noqa: PLC0415
        from torch_geometric.data import Data  # noqa: PLC0415

        found |= {
            "empty Data": lambda: [Data()],
            "Data of strings": lambda: [Data(x="x", edge_index="y")],
            "Data out of range": lambda: [
                Data(x=torch.ones(1, 1), edge_index=torch.tensor([[0, 5], [5, 0]]))
            ],
            "Data of floats": lambda: [Data(x=torch.ones(2, 1), edge_index=torch.ones(2, 2))],
            "Data of one axis": lambda: [
                Data(x=torch.ones(2), edge_index=torch.ones(2), edge_attr=torch.ones(3))
            ],
        }
    if importlib.util.find_spec("igraph"):
        import igraph  # noqa: PLC0415

        found |= {
            "igraph": lambda: igraph.Graph.Ring(3),
            "list of igraphs": lambda: [igraph.Graph([(0, 0)]), igraph.Graph.Full(2)],
        }
    if importlib.util.find_spec("rdkit"):
        from rdkit import Chem  # noqa: PLC0415

        found |= {
            "empty molecule": lambda: [Chem.Mol()],
            "molecule with a dummy": lambda: [Chem.MolFromSmiles("*C")],
            "list of molecules and None": lambda: [Chem.MolFromSmiles("C"), None],
        }
    return found


WRONG_VALUES = {**PLAIN, **TEXT, **COLLECTIONS, **SIXES, **ARRAYS, **OBJECTS, **_of_extras()}
