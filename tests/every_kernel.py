"""A tour of the library on tiny graphs that calls every kernel; run as a script, it prints what came out.

With ``NUMBA_DISABLE_JIT=1`` kernels are plain Python, and the tour also prints which of them were called.
"""

import ast
import importlib.util
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numba  # noqa: F401  (where it is loaded, kernels are compiled also for small graphs)
import numpy as np
import pytest

import twinwl as tw
from twinwl.evaluation.methods import METHODS
from twinwl.models.search import Queries
from twinwl.neural.rows import ColourLevels
from twinwl.refinement import colours, identities, round_kernels
from twinwl.refinement.colours import refine
from twinwl.refinement.content_keys import content_keys
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

READ_OUT = ("edges", "triangles", "degrees", "wl", "marked-wl-2", "rooted-fwl2")
SMALL, DENSE = 9, 33  # nodes of graphs that are quick also without the compiler
PACKAGE = Path(tw.__file__).parent


def all_kernels():
    """Return (file, function) of every function under the decorator ``kernel``."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = {getattr(getattr(each, "func", each), "id", "") for each in node.decorator_list}
                if "kernel" in names:
                    found.add((path.relative_to(PACKAGE).as_posix(), node.name))
    return found


def tour(folder):
    """Return plain values that depend on every kernel."""
    two_triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    plain = tw.from_networkx([nx.path_graph(3), nx.star_graph(6), nx.cycle_graph(6), two_triangles])
    labelled = tw.from_edges(
        [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 6,
        [["C", "N", "O"]] * 12,
        edge_labels=[["a", "b"], ["a", "b", "a"]] * 6,
    )
    directed = tw.from_edges([[(0, 1), (1, 2)], [(0, 1), (2, 1)]], directed=True)
    # Without edges some tables are empty. Of so many nodes, two that are alike are searched from one by one.
    edgeless = tw.from_edges([[]], [[0, *range(130)]], edge_labels=[[]])
    long = tw.from_networkx([nx.path_graph(70), nx.star_graph(80)])
    out = [tw.from_graph6(["Bw", "D?{"]).indices.tolist(), str(tw.compare(plain[2], plain[3]))]
    for batch in (plain, labelled, directed, edgeless):
        out.append(tw.graph_hashes(batch))
        out.append(tw.graph_hashes(batch, "stable"))
        out += [tw.graph_hashes(batch, 2, readout=name) for name in READ_OUT]
        out.append(tw.deduplicate(batch).labels.tolist())
    for features in ("count", "size", "joint"):
        for batch in (labelled, plain, long):
            vectorizer = tw.STwinVectorizer(2, features, edge_labels=True, min_df=2).fit(batch)
            out.append(vectorizer.transform(batch).toarray().tolist())
    out.append(tw.STwinVectorizer(1, pairs=3).fit_transform(labelled).toarray().tolist())
    for base in ("linear", "minmax", "intersection"):
        out.append(tw.TwinKernel(2, base=base).fit(labelled).transform(labelled).tolist())
    out.append(
        tw.STwinSVC(1, (1.0, 3.0), inner_folds=2).fit(labelled, [0, 1] * 6).held_out_decisions_.tolist()
    )
    levels = ColourLevels()
    levels.add(labelled.graph_ptr, labelled.node_labels)
    levels.add(labelled.graph_ptr, own=(0, None), messages=(0, labelled.indptr, labelled.indices))
    out.append([values.tolist() for values in levels.take(np.arange(2)).pooled(1)])
    out.append([keys.tolist() for keys in content_keys(refine(labelled, 2).alphabet)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TWINWL_NUM_THREADS", "2")
        out.append(refine(plain, 2).colours.tolist())
    out.append(refine(plain, 1, initial="ring").colours.tolist())
    out.append(Queries(labelled).similar_pairs(labelled, 0.5).similarity.tolist())
    out.append(Queries(labelled).most_similar([labelled], 2, n_graphs=len(labelled)).indices.tolist())
    out += large(long)
    out += growing()
    out.append(rooted_subgraphs(plain, 2).indices.tolist())
    out.append(tw.graph_hashes(plain, readout="degrees"))
    out.append(tw.load_dataset(tu_folder(folder)).graphs.indices.tolist())
    return [*out, *networks(labelled)]


def large(long):
    """Return rooted sizes of graphs that count as large, by searches and by blocks of bitsets."""
    hubs = nx.complete_bipartite_graph(3, 80)
    hubs.add_edges_from((node, 100 + node) for node in range(3, 40))
    hubs.add_edges_from((100 + node, 200 + node) for node in range(3, 10))
    batches = [
        long,
        tw.from_networkx(
            [nx.convert_node_labels_to_integers(hubs), nx.barabasi_albert_graph(300, 3, seed=0)]
        ),
        tw.from_networkx([nx.gnm_random_graph(90, 200, seed=0, directed=True)]),
    ]
    middling = nx.gnm_random_graph(200, 300, seed=0)
    batches.append(tw.from_networkx([middling, nx.barabasi_albert_graph(200, 2, seed=0)]))
    vectorizer = tw.STwinVectorizer(2).fit(batches[1])
    out = [vectorizer.transform(batches[1]).toarray().tolist()]
    with pytest.MonkeyPatch.context() as patch:
        out += [rooted_sizes(batch, 4).tolist() for batch in batches]
        patch.setattr(identities, "LARGE", 66)
        patch.setattr(identities, "_GROUPING_STEPS_PER_ARC", 0)
        for row_in_steps in (0, 10**9):
            patch.setattr(identities, "_STEPS_PER_ROW", row_in_steps)
            out += [rooted_sizes(batch, 4).tolist() for batch in batches]
    return out


def growing():
    """Return what refinement and isomorphism give for graphs of many sizes, for whose results room grows."""
    out = []
    for n in (1, 2, 5, 9, 20, 33, 71, 199):
        hub, alone = 2 * n // 5, (n + 1) // 4  # the subgraph of the hub needs most room after many small ones
        kinds = [nx.empty_graph(n), nx.gnm_random_graph(n, 2 * n, seed=0), nx.empty_graph(n)]
        kinds[-1].add_edges_from((hub, node) for node in range(alone, n) if node != hub)
        kinds += [nx.complete_graph(n)] if n <= DENSE else []
        for graph in kinds:
            batch = tw.from_networkx([graph])
            out += [rooted_subgraphs(batch, hops).indices.tolist() for hops in (1, 2)[: 1 + (n <= DENSE)]]
            out += [refine(batch, 3).colours.tolist(), rooted_sizes(batch, 3).tolist()]
            out += [tw.graph_hashes(batch), tw.graph_hashes(batch, "stable")]
            out.append(tw.deduplicate(tw.concatenate([batch, batch])).labels.tolist())
            readouts = READ_OUT if n <= SMALL else READ_OUT[:4]
            out += [tw.graph_hashes(batch, 1, readout=name) for name in readouts]
    return out


def tu_folder(folder):
    """Write a data set of two graphs in the TU text format."""
    (folder / "TINY").mkdir()
    for name, text in (("A", "1, 2\n2, 1\n3, 4\n4, 3\n"), ("graph_indicator", "1\n1\n2\n2\n")):
        (folder / "TINY" / f"TINY_{name}.txt").write_text(text)
    (folder / "TINY" / "TINY_graph_labels.txt").write_text(f"{os.getpid()}\n-1\n")  # not in the cache
    return folder / "TINY"


def networks(batch):
    """Return what networks of all kinds give in training, to 3 digits: plain Python rounds in its own way."""
    if importlib.util.find_spec("torch") is None:
        return []
    y = [0, 1] * (len(batch) // 2)
    import torch  # noqa: PLC0415

    from twinwl.neural.rows import pool  # noqa: PLC0415

    rows = torch.ones(2, 1, requires_grad=True)
    pool(rows, np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 1], np.int32)).sum().backward()
    models = [tw.STwinClassifier(2, hidden=4), tw.NTwinClassifier(layers=2, hidden=4)]
    if importlib.util.find_spec("torch_geometric") is not None:
        models += [METHODS[name].build({}, 0) for name in ("id-gnn-fast", "123-gnn")]
        # A wider one has weights whose gradient is nothing but rounding, which Adam makes a whole step of.
        models.append(METHODS["ppgn"].build({"hidden": 4}, 0))
    out = []
    for model in models:
        model.set_params(max_epochs=2, validation_fraction=None, random_state=0)
        out.append(np.round(model.fit(batch, y).predict_proba(batch), 3).tolist())
    return out


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")  # words wrap around, as they shall
    called = set()

    def note(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)):
            called.add((Path(name).relative_to(PACKAGE).as_posix(), frame.f_code.co_name))

    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        sys.setprofile(note)
    # Small work takes the paths of large work too.
    colours._STEPS_WORTH_A_THREAD, round_kernels._SLOTS_IN_CACHE = 1, 1
    with tempfile.TemporaryDirectory() as folder:
        found = tour(Path(folder))
    sys.setprofile(None)
    missed = sorted(all_kernels() - called)
    json.dump({"found": found, "missed": missed}, sys.stdout)


if __name__ == "__main__":
    main()
