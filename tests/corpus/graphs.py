"""Small files of graphs for the tests of corpora, and folders compared byte by byte."""

import networkx as nx
import numpy as np

import twinwl as tw


def atlas(n_graphs=1253):
    """Return all graphs of up to seven nodes as graph6, each with a permuted copy, shuffled."""
    rng = np.random.default_rng(0)
    texts = []
    for graph in nx.graph_atlas_g()[:n_graphs]:
        order = rng.permutation(len(graph)).tolist()
        again = nx.relabel_nodes(graph, dict(enumerate(order)))
        texts += [text(graph), text(again)]
    return [texts[place] for place in rng.permutation(len(texts))]


def text(graph):
    return nx.to_graph6_bytes(graph, nodes=sorted(graph), header=False).decode().strip()


def shards_of(folder):
    """Return the bytes of all Parquet files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def groups_of(folder):
    """Return the representative of each graph, as the table of groups has it."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    tables = [pq.read_table(path) for path in sorted((folder / "groups").glob("*.parquet"))]
    return np.concatenate([table.column("representative").to_numpy() for table in tables])


def expected_groups(graphs):
    """Return the same from memory."""
    found = tw.deduplicate(graphs)
    return found.representatives[found.labels]
