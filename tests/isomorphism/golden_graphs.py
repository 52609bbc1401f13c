"""Graphs whose hashes are promised for ever, and what was asked of each.

``python -m tests.isomorphism.golden_graphs`` writes these files and the test vectors in docs/ anew. That is a
breaking change: do it only together with a new version prefix.
"""

import json
import math
from pathlib import Path

import numpy as np

import twinwl as tw


def graph(edges, n=None, labels=None, edge_labels=None, *, directed=False):
    return tw.GraphBatch.from_edges(
        [edges],
        num_nodes=None if n is None else [n],
        node_labels=None if labels is None else [labels],
        edge_labels=None if edge_labels is None else [edge_labels],
        directed=directed,
    )


PATH = [(0, 1), (1, 2)]
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
ETHANOL = {"labels": ["C", "C", "O"], "edge_labels": ["SINGLE", "SINGLE"]}

GRAPHS = {
    "no node": graph([], 0),
    "one node": graph([], 1),
    "two nodes": graph([], 2),
    "edge": graph([(0, 1)]),
    "path": graph(PATH),
    "square": graph(SQUARE),
    "long path": graph([(node, node + 1) for node in range(99)]),
    "label None": graph([], 1, [None]),
    "label False": graph([], 1, [False]),
    "label True": graph([], 1, [True]),
    "label 0": graph([], 1, [0]),
    "label 1": graph([], 1, [1]),
    "label -1": graph([], 1, [-1]),
    "label 2**100": graph([], 1, [2**100]),
    "label 1.0": graph([], 1, [1.0]),
    "label 0.1": graph([], 1, [0.1]),
    "label inf": graph([], 1, [float("inf")]),
    "label ''": graph([], 1, [""]),
    "label '1'": graph([], 1, ["1"]),
    "label b'1'": graph([], 1, [b"1"]),
    "label ü": graph([], 1, ["ü"]),
    "label u + diaeresis": graph([], 1, ["u\u0308"]),
    "label 水": graph([], 1, ["水"]),
    "label lone surrogate": graph([], 1, ["\ud800"]),
    "label nul": graph([], 1, ["\0"]),
    "label ()": graph([], 1, [()]),
    "label (1, 'a')": graph([], 1, [(1, "a")]),
    "label ((1,), 'a')": graph([], 1, [((1,), "a")]),
    "ethanol": graph(PATH, **ETHANOL),
    "edges 1, 111": graph(PATH, edge_labels=["1", "111"]),
    "edges 11, 11": graph(PATH, edge_labels=["11", "11"]),
    "edges 1, True": graph(PATH, edge_labels=[1, True]),
    "arcs": graph(PATH, directed=True),
    "arcs to the middle": graph([(0, 1), (2, 1)], directed=True),
    "arcs both ways": graph([(0, 1), (1, 0)], directed=True),
    "labelled arcs": graph(PATH, labels=["a", "b", "c"], edge_labels=["x", "y"], directed=True),
}

ASKED = (
    *({"graph": name} for name in GRAPHS),
    *(
        {"graph": name, "n_iter": "stable", "readout": readout}
        for name in ("no node", "square", "ethanol", "labelled arcs")
        for readout in ("size", "edges", "degrees", "wl", "rooted-wl", "rooted-fwl2", "canonical")
    ),
    {"graph": "path", "n_iter": 0},
    {"graph": "long path", "n_iter": "stable"},
    {"graph": "ethanol", "readout": ["size", "wl"]},
    {"graph": "ethanol", "edge_labels": False},
    *(
        {"graph": name, "n_iter": "stable", "readout": f"marked-wl-{n_marks}"}
        for name in ("no node", "square", "ethanol", "labelled arcs")
        for n_marks in (1, 2)
    ),
)


# Larger than the graphs whose rooted subgraphs are followed to the end.
LARGE_GRAPHS = {
    "path of 257 nodes": graph([(node, node + 1) for node in range(256)]),
    "ring of 300 nodes": graph([(node, (node + 1) % 300) for node in range(300)]),
    "star with 400 leaves": graph([(0, leaf) for leaf in range(1, 401)], labels=["hub", *"ab" * 200]),
}

STABLE_ASKED = (
    *({"graph": name, "n_iter": None} for name in (*GRAPHS, *LARGE_GRAPHS)),
    *(
        {"graph": name, "n_iter": None, "readout": readout}
        for name in ("no node", "square", "ethanol", "labelled arcs", "long path", "path of 257 nodes")
        for readout in ("edges", "degrees", "wl", "rooted-wl", "rooted-fwl2", "canonical")
        if (name, readout) != ("long path", "rooted-fwl2")  # cubic
    ),
    {"graph": "ethanol", "n_iter": None, "readout": ["size", "wl"]},
    {"graph": "ethanol", "n_iter": None, "edge_labels": False},
    *(
        {"graph": name, "n_iter": None, "readout": f"marked-wl-{n_marks}"}
        for name in ("no node", "square", "ethanol", "labelled arcs", "long path", "path of 257 nodes")
        for n_marks in (1, 2)
    ),
)

FILES = {"golden_hashes.json": ASKED, "golden_stable_hashes.json": STABLE_ASKED}


def vectors():
    """Return the graphs with their hashes as test vectors for other implementations."""
    return [_vector(name, batch) for name, batch in (GRAPHS | LARGE_GRAPHS).items()]


def _vector(name, batch):
    sources, targets = batch.arcs()
    kept = np.flatnonzero((sources < targets) | batch.directed)
    edge_labels = batch.edge_labels
    return {
        "name": name,
        "n": batch.n_nodes,
        "directed": batch.directed,
        "edges": np.column_stack([sources, targets])[kept].tolist(),
        "node_labels": [_json(label) for label in batch.labels_of_nodes()] if batch.has_node_labels else None,
        "edge_labels": None
        if edge_labels is None
        else [_json(batch.edge_vocabulary[code]) for code in edge_labels[kept]],
        "hash": tw.graph_hash(batch),
    }


def _json(label):
    if isinstance(label, bytes):
        return {"bytes": label.hex()}
    if isinstance(label, float) and not math.isfinite(label):  # JSON has no such numbers
        return {"float": str(label)}
    return [_json(part) for part in label] if isinstance(label, tuple) else label


def hash_of(asked):
    options = {"n_iter": 3} | asked
    return tw.graph_hash((GRAPHS | LARGE_GRAPHS)[options.pop("graph")], **options)


def hashes_of(file):
    return [{**asked, "hash": hash_of(asked)} for asked in FILES[file]]


if __name__ == "__main__":
    for file in FILES:
        (Path(__file__).parent / file).write_text(json.dumps(hashes_of(file), indent=1) + "\n")
    lines = ",\n".join(json.dumps(vector) for vector in vectors())
    (Path(__file__).parents[2] / "docs" / "hash_vectors.json").write_text(f"[\n{lines}\n]\n")
