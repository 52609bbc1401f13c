"""Corpus: graphs beyond memory, in a folder."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from twinwl.arguments import (
    FLAG,
    NAME,
    PATH,
    RANDOM_STATE,
    checked,
    foreign_array,
    instance,
    integer,
    is_a,
    items,
    one_of,
)
from twinwl.corpus.building import build_corpus
from twinwl.corpus.comparing import Overlap, dedup_corpus, overlap_of
from twinwl.corpus.jobs import Job
from twinwl.corpus.key_groups import Part, parts_of, task_of
from twinwl.corpus.manifest import read_manifest
from twinwl.corpus.running import Running, RunOptions
from twinwl.corpus.shards import arrow, digest_of, graphs_in, read_shard, write_shard
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.kinds import ROW_KINDS
from twinwl.errors import TwinWLError, shown
from twinwl.files.atomic import errors_of_writing
from twinwl.files.json_values import from_json
from twinwl.graphs.atom_labels import ATOMS
from twinwl.isomorphism.hashing import graph_hashes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.stwin.vectorizer import STwinVectorizer

Estimator = TypeVar("Estimator")
_MOST_SHOWN = 10**7


class Corpus:
    r"""Graphs in a folder of Parquet shards, of which one shard at a time is in memory.

    ``len(corpus)`` is the number of graphs; iterating gives one `GraphBatch` per shard. Make one with
    `Corpus.build`. ``docs/scaling.md`` describes the files.

    Parameters
    ----------
    folder
        A folder that `Corpus.build` or `dedup` has written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = Path(folder, "graphs.g6").write_text("Bw\nBW\nBg\nBw\n")
    >>> corpus = Corpus.build(f"{folder}/*.g6", f"{folder}/corpus")
    >>> corpus
    Corpus(4 graphs in 1 shard)
    >>> distinct = corpus.dedup(f"{folder}/distinct")
    >>> len(distinct), [graph.n_edges for batch in distinct for graph in batch]
    (2, [3, 2])
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked("folder", folder, PATH)
        self.manifest = read_manifest(self.folder)
        if "columns" not in self.manifest or "rows" not in self.manifest:
            raise TwinWLError(
                f"{self.folder}: got the result of {self.manifest['job']!r}, expected a corpus of graphs"
            )

    @classmethod
    def build(
        cls,
        inputs: str | Path | Iterable[str | Path],
        folder: str | Path,
        *,
        kind: str | None = None,
        atoms: str | None = None,
        smiles_column: str | None = None,
        id_column: str | None = None,
        edges_column: str | None = None,
        directed: bool = False,
        rows_per_shard: int | None = None,
        fresh: bool = False,
        engine: str = "local",
        workers: int | None = None,
        address: str | None = None,
        memory: int | str = "1GiB",
        progress: bool | None = None,
        on_event: Callable[[dict[str, Any]], object] | None = None,
    ) -> Corpus:
        """Parse files into a corpus, or go on where an earlier call with the same arguments was stopped.

        Rows that cannot be read are set aside in ``folder/errors``, with file, row, reason and text.

        Parameters
        ----------
        inputs
            Paths, or patterns such as ``"part-*.smi"``: graph6 (``.g6``, ``.s6``, ``.d6``), ``.smi``,
            ``.csv``, ``.tsv``, ``.sdf``, all of them also as ``.gz``, and ``.parquet`` with a column of
            SMILES or of edges.
        folder
            Where the corpus goes; a new or empty folder, or one to go on with.
        kind
            ``"graph6"``, ``"smiles"``, ``"table"`` or ``"sdf"``, if the ending of the files does not say.
        atoms
            What the labels of molecules contain, as in `GraphBatch.from_smiles`; None is ``"constitution"``.
        smiles_column, id_column, edges_column
            Columns of tables; None finds them by their names: ``smiles``, ``id``, and ``ends``, ``edges`` or
            ``edge_index``.
        directed
            Whether edges of a Parquet file are arcs.
        rows_per_shard
            None: 65,536 graphs of graph6 or edges, 16,384 molecules (4,096 from SD files), fewer if they are
            large.
        fresh
            Whether to delete what an earlier call left in the folder.
        engine, workers, address
            Where tasks run: ``"local"`` processes, or ``"ray"``, with the address of a cluster. None uses all
            processors.
        memory
            Bytes for each process.
        progress
            Whether to show a progress bar; None shows it if standard error is a terminal.
        on_event
            Function that is called with a dictionary after each task and at the end.

        Returns
        -------
        Corpus
            The corpus in ``folder``.
        """
        running = Running(fresh, engine, workers, address, memory, progress, on_event)
        wanted = {
            "kind": checked("kind", kind, one_of(*sorted(ROW_KINDS)), None),
            "atoms": checked("atoms", atoms, ATOMS, None),
            "smiles_column": checked("smiles_column", smiles_column, NAME, None),
            "id_column": checked("id_column", id_column, NAME, None),
            "edges_column": checked("edges_column", edges_column, NAME, None),
            "directed": checked("directed", directed, FLAG),
            "rows_per_shard": checked("rows_per_shard", rows_per_shard, integer(1, 1 << 24), None),
        }
        path = checked("folder", folder, PATH)
        build_corpus(inputs, path, wanted, running)
        return cls(path)

    def __len__(self) -> int:
        return int(self.manifest["rows"])

    def __repr__(self) -> str:
        n_shards = len(self.manifest["shards"])
        return f"Corpus({len(self):,} graphs in {n_shards:,} shard{'' if n_shards == 1 else 's'})"

    def __iter__(self) -> Iterator[GraphBatch]:
        for path in self.shards:
            table = read_shard(path, None, self.manifest["columns"])
            if table.num_rows:
                yield graphs_in(table, str(path))

    @property
    def shards(self) -> list[Path]:
        """Paths of the shards, in order."""
        return [self.folder / "shards" / entry["name"] for entry in self.manifest["shards"]]

    def dedup(
        self,
        output: str | Path,
        **running: Unpack[RunOptions],
    ) -> Corpus:
        """Write a corpus with the first graph of each group of isomorphic ones, in order; return it.

        It has a column ``n_copies``. For each graph of this corpus, ``output/groups`` has the row of its
        representative, counted over all shards from 0, and the size of its group.

        Parameters
        ----------
        output
            A new or empty folder, or one to go on with.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``progress`` and
            ``on_event``.

        Returns
        -------
        Corpus
            The corpus of representatives.
        """
        path = checked("output", output, PATH)
        dedup_corpus(self.folder, self.manifest, path, Running(**running))
        return Corpus(path)

    def overlap(
        self,
        other: Corpus | str | Path,
        output: str | Path | None = None,
        **running: Unpack[RunOptions],
    ) -> Overlap:
        """Count the graphs that this corpus has in common with another one, up to isomorphism.

        Parameters
        ----------
        other
            A corpus, or its folder.
        output
            Folder for Parquet shards of the graphs of this corpus that are in the other: ``id``, ``row``,
            ``other_row`` (its first copy there), ``n_other`` (how many copies). None writes none.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``progress`` and
            ``on_event``.

        Returns
        -------
        Overlap
            Counts: ``graphs``, ``distinct``, ``shared``, ``graphs_shared``, and those of the other corpus.
        """
        second = other if is_a(other, Corpus) else Corpus(checked("other", other, PATH))
        path = None if output is None else checked("output", output, PATH)
        return overlap_of(
            (self.folder, second.folder),
            (self.manifest, second.manifest),
            path,
            Running(**running),
        )

    def hash(
        self,
        output: str | Path,
        **running: Unpack[RunOptions],
    ) -> list[Path]:
        """Write the hash of each graph, as `graph_hashes` has it, to Parquet shards with ``id`` and ``hash``.

        Parameters
        ----------
        output
            A new or empty folder, or one to go on with.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``progress`` and
            ``on_event``.

        Returns
        -------
        list of Path
            The shards.
        """
        path = checked("output", output, PATH)
        parts = parts_of(self.folder, self.manifest)
        settings = {"of": digest_of(*(part.digest for part in parts))}
        with Job(path, "hash", settings, Running(**running)) as job:
            with errors_of_writing(path):
                (path / "shards").mkdir(exist_ok=True)
            tasks = [task_of(part, path, (part, str(path))) for part in parts]
            job.finish(job.run("hash", hash_shard, tasks, (self.manifest["columns"],)))
            return [task.output for task in tasks]

    def features(
        self,
        output: str | Path,
        vectorizer: STwinVectorizer | None = None,
        **running: Unpack[RunOptions],
    ) -> STwinVectorizer:
        """Write STwin features with one vocabulary for all graphs; return the fitted vectorizer.

        ``output/vocabulary.twinwl`` is that vectorizer, for `STwinVectorizer.from_vocabulary`. The shards
        have ``id``, the other columns, and the nonzero entries of each graph: ``columns`` and ``values``.
        `twinwl.corpus.features.read_features` returns one as a SciPy matrix.

        Parameters
        ----------
        output
            A new or empty folder, or one to go on with.
        vectorizer
            Its parameters decide; ``min_df`` has to be a number of graphs. None is ``STwinVectorizer()``.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``progress`` and
            ``on_event``.

        Returns
        -------
        STwinVectorizer
            Fitted.
        """
        from twinwl.corpus.features import features_of  # noqa: PLC0415
        from twinwl.stwin.vectorizer import STwinVectorizer as Vectorizer  # noqa: PLC0415

        chosen = (
            Vectorizer() if vectorizer is None else checked("vectorizer", vectorizer, instance(Vectorizer))
        )
        path = checked("output", output, PATH)
        return features_of(self.folder, self.manifest, path, chosen, Running(**running))

    def train(
        self, estimator: Estimator, target: str | Iterable[str], *, memory: int | str = "1GiB"
    ) -> Estimator:
        """Train an `STwinClassifier` or `STwinRegressor` on the graphs that have a target.

        Graphs are read shard by shard; features are kept in temporary files. Graphs are held out to choose
        the epoch by a hash of their keys, so copies of a graph are on the same side. Where all features fit
        into a quarter of the memory, the result is that of ``fit`` in memory with the same graphs held out,
        to the bit. Otherwise mini-batches are drawn from as many shards at a time as fit, chosen at random.

        Parameters
        ----------
        estimator
            What to train; it is returned.
        target
            Name of a column, or of several, for a model of several tasks.
        memory
            Bytes for this process.

        Returns
        -------
        STwinClassifier or STwinRegressor
            The estimator, fitted.
        """
        from twinwl.corpus.models import train_on_corpus  # noqa: PLC0415

        names = [target] if is_a(target, str) else items("target", target, "a name, or a list of names")
        listed = [checked("target", name, NAME) for name in names]
        train_on_corpus(
            self.folder, self.manifest, estimator, listed, int(Running(memory=memory).memory) // 4
        )
        return estimator

    def predict(
        self,
        model: str | Path,
        output: str | Path,
        *,
        proba: bool = False,
        **running: Unpack[RunOptions],
    ) -> list[Path]:
        """Write the predictions of a model to Parquet shards with ``id`` and all columns of the input.

        Parameters
        ----------
        model
            A model file.
        output
            A new or empty folder, or one to go on with.
        proba
            Whether to add the probability of each class.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``progress`` and
            ``on_event``.

        Returns
        -------
        list of Path
            The shards.
        """
        from twinwl.corpus.models import predict_corpus  # noqa: PLC0415

        return predict_corpus(
            self.folder,
            self.manifest,
            checked("model", model, PATH),
            checked("output", output, PATH),
            Running(**running),
            proba=checked("proba", proba, FLAG),
        )

    def hashes(self) -> Iterator[tuple[str, str]]:
        """Compute the hash of each graph, in order.

        Yields
        ------
        tuple of str
            Id and hash.
        """
        for path in self.shards:
            table = read_shard(path, None, self.manifest["columns"])
            if table.num_rows:
                hashes = graph_hashes(graphs_in(table, str(path)))
                yield from zip(table.column("id").to_pylist(), hashes, strict=True)

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
        """Return rows of the corpus as an Arrow table, with all columns but codes of labels that differ.

        Parameters
        ----------
        rows : array of int64
            Numbers of graphs, counted over all shards, increasing.

        Returns
        -------
        pyarrow.Table
            The columns of shards, without the labels that codes stand for.
        """
        tables = [table for _, table, _ in self._tables(_increasing(rows, len(self)))]
        if not tables:
            return read_shard(self.shards[0]).slice(0, 0)
        return arrow().concat_tables([table.replace_schema_metadata(None) for table in tables])

    def _tables(self, rows: Int64) -> Iterator[tuple[Path, Any, Int64]]:
        first = 0
        for path, entry in zip(self.shards, self.manifest["shards"], strict=True):
            here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + entry["rows"])]
            if len(here):
                table = read_shard(path, None, self.manifest["columns"])
                yield path, table.take(arrow().array(here - first)), here
            first += entry["rows"]

    def _dataset(self, rows: Int64) -> Dataset:
        from twinwl.graphs.batch import concatenate  # noqa: PLC0415

        parts = list(self._tables(rows))
        if not parts:
            raise TwinWLError("n: got no graph to show, expected at least one")
        graphs = concatenate([graphs_in(table, str(path)) for path, table, _ in parts])
        names = itertools.chain.from_iterable(table.column("id").to_pylist() for _, table, _ in parts)
        return Dataset(self.folder.name or "corpus", graphs, names=tuple(names), rows=rows)

    def info(self) -> dict[str, Any]:
        r"""Return sizes, labels, settings, and how fast the corpus was made.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "graphs.g6").write_text("Bw\nBW\n")
        >>> info = Corpus.build(f"{folder}/graphs.g6", f"{folder}/corpus").info()
        >>> info["graphs"], info["nodes"], info["edges"], info["errors"]
        (2, 6, 5, 0)
        """
        shards = self.manifest["shards"]
        labels = {
            name: sorted({repr(from_json(label, {})) for entry in shards for label in entry[name]})
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


def hash_shard(part: Part, output: str, columns: Mapping[str, str]) -> dict[str, Any]:
    """Write the hashes of a shard."""
    path = Path(part.path)
    table = read_shard(path, None, columns)
    hashes = graph_hashes(graphs_in(table, str(path)))
    pa = arrow()
    written = pa.table({"id": table.column("id"), "hash": pa.array(hashes, pa.string())})
    return {"rows": len(hashes), "digest": write_shard(Path(output, "shards", path.name), written)}


def _increasing(rows: object, n: int) -> Int64:
    found = foreign_array("rows", rows)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TwinWLError(f"rows: got {shown(rows)}, expected an array of row numbers")
    found = found.astype(np.int64)
    if len(found) and (found[0] < 0 or found[-1] >= n or (np.diff(found) <= 0).any()):
        raise TwinWLError(f"rows: got {shown(rows)}, expected increasing numbers from 0 to {n - 1:,}")
    return found
