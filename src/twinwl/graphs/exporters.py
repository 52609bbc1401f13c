"""Conversion of a GraphBatch to the graphs of other libraries.

Each method returns a list with one object per graph, in order; nodes are numbered 0..n-1 within their graph.

Molecules out of a GraphBatch, as SMILES: built atom by atom, and read again before they are returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from twinwl.arguments import NAME, checked
from twinwl.arrays import Int32, Int64
from twinwl.errors import GraphInputError, import_extra, setting, shown
from twinwl.graphs.labels import Vocabulary

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    import scipy.sparse
    import torch_geometric.data
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label

_MOST_TRIES = 512
_NEON = 10
_HETERO = {"B", "N", "O", "P", "S", "Se", "Te"}


def _smiles_of(chem: ModuleType, graph: GraphBatch, number: int) -> str:
    if graph.directed or not graph.has_node_labels or (graph.edge_labels is None and graph.n_edges):
        raise GraphInputError(
            "not a molecule: it needs element symbols as node labels and bond types as edge labels, "
            "as GraphBatch.from_smiles gives them",
            number,
        )
    bare = _skeleton(chem, graph, number)
    for candidate in _completions(chem, bare):
        try:
            chem.SanitizeMol(candidate)
            smiles: str = chem.MolToSmiles(candidate)
            again = chem.MolFromSmiles(smiles)
        except (ValueError, RuntimeError):
            continue
        if again is not None and _same_skeleton(chem, again, bare):
            return smiles
    raise GraphInputError("no molecule with these atoms and bonds has possible valences", number)


def _skeleton(chem: ModuleType, graph: GraphBatch, number: int) -> Chem.Mol:
    """Return the molecule with elements and bond types only."""
    table = chem.GetPeriodicTable()
    types = {str(name).lower(): kind for name, kind in chem.BondType.names.items()}
    molecule = chem.RWMol()
    for label in graph.labels_of_nodes():
        try:
            atomic_number = 0 if label == "*" else table.GetAtomicNumber(label)
        except (RuntimeError, TypeError, ValueError):
            atomic_number = -1
        if atomic_number < 0:
            remedy = f"read molecules with {setting(atoms='skeleton')} to write them again"
            raise GraphInputError(f"{shown(label)} is not an element symbol", number, remedy=remedy)
        molecule.AddAtom(chem.Atom(atomic_number))
    ends, codes = edges_of(graph)
    for pair, label in zip(ends.tolist(), _labels_of(codes, graph.edge_vocabulary)):
        kind = types.get(str(label))
        if kind is None:
            raise GraphInputError(f"{shown(label)} is not a bond type", number)
        molecule.AddBond(*pair, kind)
        if kind == chem.BondType.AROMATIC:
            molecule.GetBondBetweenAtoms(*pair).SetIsAromatic(True)  # noqa: FBT003
            for end in pair:
                molecule.GetAtomWithIdx(end).SetIsAromatic(True)  # noqa: FBT003
    return molecule


def _completions(chem: ModuleType, bare: Chem.Mol) -> Iterator[Chem.Mol]:
    """Yield the molecule with charges and hydrogens that may make its valences right, plainest first.

    An aromatic nitrogen may bear a hydrogen (pyrrole) or a charge (pyridinium); an atom with more bonds than
    its valences allow bears a charge (ammonium is positive, hexafluorophosphate negative).
    """
    options = [(atom.GetIdx(), states) for atom in bare.GetAtoms() if len(states := _states(chem, atom)) > 1]
    for choice in islice(_cheapest_first([len(states) for _, states in options]), _MOST_TRIES):
        made = chem.RWMol(bare)
        for (place, states), chosen in zip(options, choice):
            charge, hydrogens = states[chosen]
            made.GetAtomWithIdx(place).SetFormalCharge(charge)
            made.GetAtomWithIdx(place).SetNumExplicitHs(hydrogens)
        yield made


def _states(chem: ModuleType, atom: Chem.Atom) -> list[tuple[int, int]]:
    """Return what an atom may be, as (charge, explicit hydrogens), the likeliest first."""
    if atom.GetIsAromatic():
        return [(0, 0), (0, 1), (1, 0), (-1, 0)] if atom.GetSymbol() in _HETERO else [(0, 0)]
    allowed = list(chem.GetPeriodicTable().GetValenceList(atom.GetAtomicNum()))
    bonds = int(sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds()))
    if -1 in allowed or bonds in allowed or (allowed and bonds < min(allowed)):
        return [(0, 0)]
    far = [(2, 0), (3, 0), (-2, 0)] if atom.GetAtomicNum() > _NEON else []  # perchlorate: Cl+3
    return [(0, 0), (1, 0), (-1, 0), *far]


def _cheapest_first(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield one choice per place, those with the smallest sum first."""
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _choices(sizes, total)


def _choices(sizes: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0] - 1, total) + 1):
        for rest in _choices(sizes[1:], total - first):
            yield (first, *rest)


def _same_skeleton(chem: ModuleType, one: Chem.Mol, other: Chem.Mol) -> bool:
    """Tell whether two molecules agree in elements, bonds and bond types, whatever the order of atoms."""

    def skeleton(molecule: Chem.Mol) -> str:
        out = chem.RWMol(molecule)
        for atom in out.GetAtoms():
            plain = chem.Atom(atom.GetAtomicNum())
            plain.SetIsAromatic(atom.GetIsAromatic())
            plain.SetNoImplicit(True)  # noqa: FBT003
            out.ReplaceAtom(atom.GetIdx(), plain)
        for bond in out.GetBonds():
            bond.SetStereo(chem.BondStereo.STEREONONE)
            bond.SetBondDir(chem.BondDir.NONE)
        text: str = chem.MolToSmiles(out)
        return text

    return skeleton(one) == skeleton(other)


class Exporters:
    """The ``to_…`` methods of `GraphBatch`."""

    __slots__ = ()

    def to_networkx(
        self, node_label: str = "label", edge_label: str = "label", node_features: str = "features"
    ) -> list[nx.Graph]:
        """Return networkx graphs: ``DiGraph`` if the batch is directed, else ``Graph``.

        Labels and features, if there are any, become attributes of these names.

        >>> from twinwl import GraphBatch
        >>> [ethanol] = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "C", "O"]]).to_networkx()
        >>> ethanol.nodes(data="label")
        NodeDataView({0: 'C', 1: 'C', 2: 'O'}, data='label')
        """
        import networkx as nx  # noqa: PLC0415

        node_label = checked("node_label", node_label, NAME)
        edge_label = checked("edge_label", edge_label, NAME)
        node_features = checked("node_features", node_features, NAME)
        batch = cast("GraphBatch", self)
        out = []
        for graph in batch:
            made = nx.DiGraph() if batch.directed else nx.Graph()
            made.add_nodes_from(range(graph.n_nodes))
            ends, codes = edges_of(graph)
            made.add_edges_from(ends.tolist())
            if graph.edge_labels is not None:
                labels = zip(map(tuple, ends.tolist()), _labels_of(codes, graph.edge_vocabulary))
                nx.set_edge_attributes(made, dict(labels), edge_label)
            if graph.has_node_labels:
                nx.set_node_attributes(made, dict(enumerate(graph.labels_of_nodes())), node_label)
            if graph.node_features is not None:
                nx.set_node_attributes(made, dict(enumerate(graph.node_features.copy())), node_features)
            out.append(made)
        return out

    def to_scipy(self) -> list[scipy.sparse.csr_array]:
        """Return adjacency matrices of zeros and ones, without labels and features.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1)]]).to_scipy()[0].toarray()
        array([[0, 1],
               [1, 0]], dtype=int8)
        """
        from scipy.sparse import csr_array  # noqa: PLC0415

        return [
            csr_array(
                (np.ones(len(graph.indices), np.int8), graph.indices.copy(), graph.indptr.astype(np.int32)),
                shape=(graph.n_nodes, graph.n_nodes),
            )
            for graph in cast("GraphBatch", self)
        ]

    def to_igraph(self, node_label: str = "label", edge_label: str = "label") -> list[igraph.Graph]:
        """Return igraph graphs; labels become vertex and edge attributes of these names.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 2)]]).to_igraph()[0].summary()
        'IGRAPH U--- 3 2 -- '
        """
        import igraph  # noqa: PLC0415

        node_label = checked("node_label", node_label, NAME)
        edge_label = checked("edge_label", edge_label, NAME)
        out = []
        for graph in cast("GraphBatch", self):
            ends, codes = edges_of(graph)
            made = igraph.Graph(n=graph.n_nodes, edges=ends.tolist(), directed=graph.directed)
            if graph.has_node_labels:
                made.vs[node_label] = graph.labels_of_nodes()
            if graph.edge_labels is not None:
                made.es[edge_label] = list(_labels_of(codes, graph.edge_vocabulary))
            out.append(made)
        return out

    def to_pyg(self) -> list[torch_geometric.data.Data]:
        """Return PyTorch Geometric ``Data``, as `GraphBatch.from_pyg` reads them.

        ``edge_index`` has both arcs of each edge. ``x`` has the features, in single precision, if there are
        any. Otherwise it has the labels: integers as they are, one column per entry for tuples of integers,
        and for all other labels their index in ``batch.node_vocabulary``. If there are both, the labels are
        in ``node_label``. ``edge_attr`` has the edge labels by the same rule.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1)]], node_labels=[[6, 8]]).to_pyg()
        [Data(x=[2, 1], edge_index=[2, 2], num_nodes=2)]
        """
        torch = import_extra("torch", "neural")
        data = import_extra("torch_geometric.data", "baselines")
        batch = cast("GraphBatch", self)
        node_rows = _integer_rows(batch.node_vocabulary)
        edge_rows = _integer_rows(batch.edge_vocabulary)
        out = []
        for graph in batch:
            fields: dict[str, object] = {}
            if graph.has_node_labels:
                fields["x"] = torch.from_numpy(node_rows[graph.node_labels])
            if graph.node_features is not None:
                if "x" in fields:
                    fields["node_label"] = fields["x"]
                fields["x"] = torch.from_numpy(graph.node_features.astype(np.float32))
            if graph.edge_labels is not None:
                fields["edge_attr"] = torch.from_numpy(edge_rows[graph.edge_labels])
            edge_index = torch.from_numpy(np.stack(graph.arcs()))
            out.append(data.Data(edge_index=edge_index, num_nodes=graph.n_nodes, **fields))
        return out

    def to_smiles(self) -> list[str]:
        """Return SMILES of molecules that were read with ``atoms="skeleton"``.

        Atoms are the node labels (element symbols) and bonds the edge labels, so charges, hydrogens and
        stereo, which a batch does not have, are chosen such that the valences are right. Every string is read
        again and compared with its graph; a graph that fits no molecule is an error.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_smiles(["OCC", "c1ccc[nH]1"], atoms="skeleton").to_smiles()
        ['CCO', 'c1cc[nH]c1']
        """
        chem = import_extra("rdkit.Chem", "chem")
        with import_extra("rdkit.rdBase", "chem").BlockLogs():  # failed tries are not the user's concern
            return [_smiles_of(chem, graph, number) for number, graph in enumerate(cast("GraphBatch", self))]


def edges_of(graphs: GraphBatch) -> tuple[Int64, Int32]:
    """Return the ends of each edge (of each arc if directed), shape (n_edges, 2), and its label code."""
    sources, targets = graphs.arcs()
    once = np.ones(len(targets), np.bool_) if graphs.directed else sources < targets
    codes = np.empty(0, np.int32) if graphs.edge_labels is None else graphs.edge_labels[once]
    return np.column_stack([sources[once], targets[once]]), codes


def _labels_of(codes: Int32, vocabulary: Vocabulary) -> Iterator[Label]:
    return (vocabulary[code] for code in codes.tolist())


def _integer_rows(vocabulary: Vocabulary) -> Int64:
    """Return one row of integers per label: its own if it has some, else its index in the vocabulary."""
    rows = [label if isinstance(label, tuple) else (label,) for label in vocabulary]
    own = all(type(entry) is int and -(2**63) <= entry < 2**63 for row in rows for entry in row)
    if rows and own and len({len(row) for row in rows}) == 1:
        return np.array(rows, np.int64)
    return np.arange(len(vocabulary), dtype=np.int64)[:, None]
