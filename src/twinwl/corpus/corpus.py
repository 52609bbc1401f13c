"""Corpus: graphs beyond memory, in a folder, and the jobs that make one or go through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from twinwl.arguments import FLAG, NAME, PATH, checked, instance, integer, items, one_of
from twinwl.corpus.building import build_corpus
from twinwl.corpus.comparing import Overlap, dedup_corpus, overlap_of, task_of
from twinwl.corpus.jobs import Job, Running, RunOptions
from twinwl.corpus.shards import Part, arrow, digest_of, graphs_in, parts_of, read_shard, write_shard
from twinwl.corpus.stored_graphs import StoredGraphs
from twinwl.datasets.formats import ROW_KINDS
from twinwl.files.atomic import errors_of_writing
from twinwl.graphs.atom_labels import ATOMS
from twinwl.isomorphism.hashing import graph_hashes
from twinwl.models.base import warn_of_edge_labels

if TYPE_CHECKING:
    from twinwl.models.vectorizer import STwinVectorizer

Estimator = TypeVar("Estimator")


class Corpus(StoredGraphs):
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
        edge_labels: bool = True,
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
        edge_labels
            Whether to keep edge labels (types of bonds). Without them, graphs that differ only there are the
            same for `dedup` and `overlap`.
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
            "edge_labels": checked("edge_labels", edge_labels, FLAG),
            "rows_per_shard": checked("rows_per_shard", rows_per_shard, integer(1, 1 << 24), None),
        }
        path = checked("folder", folder, PATH)
        build_corpus(inputs, path, wanted, running)
        return cls(path)

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
        second = other if isinstance(other, Corpus) else Corpus(checked("other", other, PATH))
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
        from twinwl.models.vectorizer import STwinVectorizer as Vectorizer  # noqa: PLC0415

        chosen = (
            Vectorizer() if vectorizer is None else checked("vectorizer", vectorizer, instance(Vectorizer))
        )
        path = checked("output", output, PATH)
        self._warn_of_edge_labels(chosen)
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

        names = [target] if isinstance(target, str) else items("target", target, "a name, or a list of names")
        listed = [checked("target", name, NAME) for name in names]
        train_on_corpus(
            self.folder, self.manifest, estimator, listed, int(Running(memory=memory).memory) // 4
        )
        self._warn_of_edge_labels(estimator)
        return estimator

    def _warn_of_edge_labels(self, estimator: Any) -> None:  # noqa: ANN401
        """Warn as ``fit`` does in memory, where the graphs of one shard are all that is seen at a time."""
        if estimator.edge_labels is None:
            warn_of_edge_labels(estimator, len(self.info()["edge_labels"]))

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


def hash_shard(part: Part, output: str, columns: Mapping[str, str]) -> dict[str, Any]:
    """Write the hashes of a shard."""
    table = read_shard(part, None, columns)
    hashes = graph_hashes(graphs_in(table, part.path))
    pa = arrow()
    written = pa.table({"id": table.column("id"), "hash": pa.array(hashes, pa.string())})
    return {"rows": len(hashes), "digest": write_shard(Path(output, "shards", Path(part.path).name), written)}
