"""A finished corpus on disk: its shards, some or all of its graphs, and what it is made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from twinwl.arguments import PATH, RANDOM_STATE, Constraint, checked, foreign_array, integer
from twinwl.arrays import Int64
from twinwl.corpus.jobs import MANIFEST, OF_GRAPHS, read_manifest
from twinwl.corpus.shards import arrow, graphs_in, labels_in, parts_of, read_shard
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, shown
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.isomorphism.hashing import graph_hashes

_MOST_SHOWN = 10**7
_LABELS = Constraint("a list of labels", labels_in)


class StoredGraphs:
    """Base of `Corpus`: graphs in a folder of Parquet shards, of which one at a time is in memory."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked("folder", folder, PATH)
        self.manifest = read_manifest(self.folder)
        if self.manifest["job"] not in OF_GRAPHS:
            raise TwinWLError(
                f"{self.folder}: got the result of {self.manifest['job']!r}, expected a corpus of graphs"
            )

    def __len__(self) -> int:
        return int(self.manifest["rows"])

    def __repr__(self) -> str:
        n_shards = len(self.manifest["shards"])
        return f"Corpus({len(self):,} graphs in {n_shards:,} shard{'' if n_shards == 1 else 's'})"

    def __iter__(self) -> Iterator[GraphBatch]:
        for path, table in self._read():
            yield self._graphs(path, table)

    def _read(self) -> Iterator[tuple[str, Any]]:
        """Yield the path and the table of each shard that has graphs."""
        for part in parts_of(self.folder, self.manifest):
            table = read_shard(part, None, self.manifest["columns"])
            if table.num_rows:
                yield part.path, table

    @property
    def shards(self) -> list[Path]:
        """Paths of the shards, in order."""
        return [self.folder / "shards" / entry["name"] for entry in self.manifest["shards"]]

    def head(self, n: int = 5) -> Dataset:
        """Return the first graphs as a `Dataset`, with their ids as names.

        Parameters
        ----------
        n
            Number of graphs.

        Returns
        -------
        Dataset
            The graphs; ``rows`` has their numbers.
        """
        n = checked("n", n, integer(0, _MOST_SHOWN))
        return self._dataset(np.arange(min(n, len(self))))

    def sample(self, n: int = 5, random_state: object = 0) -> Dataset:
        """Return some graphs, chosen at random, in the order of the corpus.

        Parameters
        ----------
        n
            Number of graphs.
        random_state
            Seed, or a generator of NumPy.

        Returns
        -------
        Dataset
            The graphs; ``rows`` has their numbers.
        """
        return self._dataset(self.random_rows(n, random_state))

    def random_rows(self, n: int, random_state: object = 0) -> Int64:
        """Return the row numbers of `sample`.

        Returns
        -------
        array of int64
            Increasing numbers of graphs.
        """
        n = checked("n", n, integer(0, _MOST_SHOWN))
        seed = checked("random_state", random_state, *RANDOM_STATE)
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        rows = np.random.default_rng(seed).choice(len(self), min(n, len(self)), replace=False, shuffle=False)
        return np.sort(rows).astype(np.int64)

    def table(self, rows: object) -> Any:  # noqa: ANN401
        """Return rows of the corpus as an Arrow table.

        Parameters
        ----------
        rows : array of int64
            Numbers of graphs, counted over all shards, increasing.

        Returns
        -------
        pyarrow.Table
            All columns of the shards. Node and edge labels are codes that each shard numbers for itself.
        """
        tables = [table for _, table in self._tables(_increasing(rows, len(self)))]
        if not tables:
            return next(self._read())[1].slice(0, 0)
        return arrow().concat_tables([table.replace_schema_metadata(None) for table in tables])

    def hashes(self) -> Iterator[tuple[str, str]]:
        """Compute the hash of each graph, in order.

        Yields
        ------
        tuple of str
            Id and hash.
        """
        for path, table in self._read():
            hashes = graph_hashes(graphs_in(table, path))
            yield from zip(table.column("id").to_pylist(), hashes, strict=True)

    def info(self) -> dict[str, Any]:
        r"""Return sizes, labels, settings, and how fast the corpus was made.

        >>> import tempfile
        >>> from pathlib import Path
        >>> from twinwl import Corpus
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "graphs.g6").write_text("Bw\nBW\n")
        >>> info = Corpus.build(f"{folder}/graphs.g6", f"{folder}/corpus").info()
        >>> info["graphs"], info["nodes"], info["edges"], info["errors"]
        (2, 6, 5, 0)
        """
        shards = self.manifest["shards"]
        where = self.folder / MANIFEST
        labels = {
            name: sorted(
                {
                    repr(label)
                    for entry in shards
                    for label in checked(f"{where}: {name}", entry[name], _LABELS)
                }
            )
            for name in ("node_labels", "edge_labels")
        }
        read = (
            len(self) + self.manifest["errors"]
            if self.manifest["job"] == "build"
            else self.manifest["graphs"]
        )
        seconds = self.manifest["seconds"]
        return {
            "folder": str(self.folder),
            "made_by": self.manifest["job"],
            "graphs": len(self),
            "errors": self.manifest["errors"],
            "shards": len(shards),
            "bytes": sum(path.stat().st_size for path in self.shards if path.exists()),
            "nodes": self.manifest["nodes"],
            "edges": self.manifest["edges"],
            "largest": max(entry["largest"] for entry in shards),
            **{name: [] if found == ["None"] else found for name, found in labels.items()},
            "columns": self.manifest["columns"],
            "settings": {
                name: value for name, value in self.manifest["settings"].items() if value is not None
            },
            "seconds": seconds,
            "rows_per_second": round(read / seconds, 1) if seconds else None,
        }

    def _tables(self, rows: Int64) -> Iterator[tuple[str, Any]]:
        for part in parts_of(self.folder, self.manifest):
            here = rows[np.searchsorted(rows, part.first) : np.searchsorted(rows, part.stop)]
            if len(here):
                table = read_shard(part, None, self.manifest["columns"])
                yield part.path, table.take(arrow().array(here - part.first))

    def _graphs(self, path: str, table: Any) -> GraphBatch:  # noqa: ANN401
        return graphs_in(table, path, self.manifest["settings"].get("atoms"))

    def _dataset(self, rows: Int64) -> Dataset:
        parts = list(self._tables(rows))
        if not parts:
            raise TwinWLError("n: got no graph to show, expected at least one")
        graphs = concatenate([self._graphs(path, table) for path, table in parts])
        names = itertools.chain.from_iterable(table.column("id").to_pylist() for _, table in parts)
        return Dataset(self.folder.name or "corpus", graphs, names=tuple(names), rows=rows)


def _increasing(rows: object, n: int) -> Int64:
    found = foreign_array("rows", rows)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TwinWLError(f"rows: got {shown(rows)}, expected an array of row numbers")
    found = found.astype(np.int64)
    if len(found) and (found[0] < 0 or found[-1] >= n or (np.diff(found) <= 0).any()):
        raise TwinWLError(f"rows: got {shown(rows)}, expected increasing numbers from 0 to {n - 1:,}")
    return found
