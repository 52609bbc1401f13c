"""`Corpus`: graphs beyond memory, in a folder, and the jobs that make one or go through it.

To build one, input files are parsed once, piece by piece, into shards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from twinwl.arguments import (
    FLAG,
    NAME,
    PATH,
    RANDOM_STATE,
    Constraint,
    checked,
    foreign_array,
    instance,
    integer,
    items,
    one_of,
)
from twinwl.arrays import AnyPath, Fields, Int64, Names
from twinwl.corpus import pieces, shards
from twinwl.corpus.comparing import Overlap, dedup_corpus, overlap_of
from twinwl.corpus.jobs import MANIFEST, OF_GRAPHS, Job, Running, RunOptions, Task, read_manifest
from twinwl.corpus.shards import OWN_COLUMNS, Part, arrow, digest_of, graphs_in, write_shard
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ROW_KINDS, numbered_lines, smiles_column_of
from twinwl.datasets.records import choose_smiles, graph6_records
from twinwl.errors import GraphInputError, TwinWLError, import_extra, nearest, setting, shown
from twinwl.graphs.atom_labels import IDENTITY_ATOMS
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.molecules import ATOMS
from twinwl.isomorphism.hashing import graph_hashes
from twinwl.models.base import one_seed, warn_of_edge_labels

if TYPE_CHECKING:
    from twinwl.models.vectorizer import STwinVectorizer


def build_corpus(inputs: object, folder: Path, wanted: Fields, running: Running) -> Fields:
    """Build a corpus, or resume an unfinished one; return its manifest.

    Parameters
    ----------
    inputs
        Paths or patterns.
    folder
        Where the corpus goes.
    wanted
        The options of `twinwl.Corpus.build` by name.
    running
        As in `twinwl.corpus.jobs.Job`.
    """
    arrow()
    has_columns = any(wanted[name] is not None for name in ("smiles_column", "id_column", "edges_column"))
    sources = pieces.find_sources(inputs, wanted["kind"], has_columns=has_columns)
    settings = settings_for(sources, wanted)
    with Job(folder, "build", settings, running) as job:
        ready = [
            pieces.unpack(source, job.work(f"input-{place:05}"))
            if source.name.lower().endswith(".gz")
            else source
            for place, source in enumerate(sources)
        ]
        job.subfolder("errors")
        tasks: list[Task] = []
        for source in ready:
            for piece in pieces.pieces_of(source, wanted["rows_per_shard"]):
                name = f"part-{len(tasks):05}.parquet"
                output = job.subfolder("shards") / name
                tasks.append(Task(name, piece.digest, (piece, name, str(folder)), piece.n_rows, output))
        if not tasks:
            raise GraphInputError(f"{sources[0].name}: there is no graph in it")
        if job.finished is not None and len(tasks) < len(job.finished["shards"]):
            raise TwinWLError(
                f"{folder} has {len(job.finished['shards'])} shards, these inputs make {len(tasks)}; give "
                f"another folder, or start again with {setting(fresh=True)}"
            )
        entries = job.run("build", build_piece, tasks, (settings,))
        if not any(entry["rows"] for entry in entries):
            reason = entries[0].get("first_error", "")
            raise GraphInputError(f"{sources[0].name}: none of its rows can be used; the first: {reason}")
        return job.finish(entries, **shards.summary_of(folder, entries))


def build_piece(piece: pieces.Piece, name: str, folder: str, settings: Fields) -> Fields:
    """Read a piece and write its shard, and one of its errors if there are any; return what is noted."""
    shard, errors = pieces.shard_of(piece, settings)
    if errors.num_rows:
        write_shard(Path(folder, "errors", name), errors)
    digest = write_shard(Path(folder, "shards", name), shard)
    labels = json.loads(shard.schema.metadata[shards.METADATA])
    noted = {
        "source": piece.source.name,
        "first_row": piece.row,
        **shards.counts_in(shard),
        "errors": errors.num_rows,
        "node_labels": labels["node_labels"] or [None],
        "edge_labels": labels["edge_labels"] or [],
        "digest": digest,
    }
    if errors.num_rows:
        noted["first_error"] = errors.column("reason")[0].as_py()
    return noted


def settings_for(sources: Sequence[pieces.Source], wanted: Fields) -> Fields:
    """Return all that shards depend on besides the rows: the same for all files, or an error."""
    settings = _settings_of(sources[0], wanted)
    for source in sources[1:]:
        here = _settings_of(source, wanted)
        if here != settings:
            name = next(name for name in settings if here.get(name) != settings[name])
            raise GraphInputError(
                f"{source.name} differs from {sources[0].name} in {name.replace('_', ' ')} "
                f"({here.get(name)} against {settings[name]}); build a corpus of each"
            )
    # Named only where they are dropped: corpora of earlier versions can then be continued.
    dropped = {} if wanted["edge_labels"] else {"edge_labels": False}
    return {**settings, "rows_per_shard": wanted["rows_per_shard"], **dropped}


def _settings_of(source: pieces.Source, wanted: Fields) -> Fields:
    settings: Fields = {"kind": "molecules", "atoms": wanted["atoms"] or IDENTITY_ATOMS}
    settings |= {"directed": False, "smiles_column": None, "id_column": None, "columns": {}, "types": {}}
    if source.kind == "graph6":
        first = next(graph6_records(numbered_lines(source.path), ""), None)
        is_directed = first is not None and first.text.startswith("&")
        return {**settings, "kind": "graph6", "atoms": None, "directed": is_directed}
    listed = pieces.types_in(source)
    types, chosen = dict(listed), {}
    names = [name for name, _ in listed]
    if wanted["edges_column"] is not None or (
        source.kind == "parquet" and wanted["smiles_column"] is None and smiles_column_of(names) is None
    ):
        chosen = pieces.edge_columns_of(types, wanted["edges_column"], source.name)
        settings |= {"kind": "edges", "atoms": None, "directed": wanted["directed"], **chosen}
    else:
        import_extra("rdkit.Chem", "chem")
        if source.kind in {"table", "parquet"}:
            settings["smiles_column"] = choose_smiles(names, source.name, wanted["smiles_column"])
    id_column = wanted["id_column"]
    if id_column is not None and id_column not in types:
        raise GraphInputError(f"{source.name}: id_column: got {id_column!r}; {nearest(id_column, types)}")
    settings["id_column"] = id_column or next((name for name in types if name.lower() == "id"), None)
    columns: dict[str, str] = {}
    for name in types:
        if name and name not in {settings["id_column"], *chosen.values()}:
            columns[name] = shards.free_name(name, {*OWN_COLUMNS, *columns.values()})
    new_types = {new: types[old] for old, new in columns.items()}
    return {**settings, "columns": columns, "types": new_types}


Estimator = TypeVar("Estimator")
_MOST_SHOWN = 10**7
_LABELS = Constraint("a list of labels", shards.labels_in)


class Corpus:
    r"""Graphs in a folder of Parquet shards, of which one shard at a time is in memory.

    ``len(corpus)`` is the number of graphs; iterating gives one `GraphBatch` per shard. Make one with
    `Corpus.build`. ``docs/howto/large.md`` describes the files.

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
            yield graphs_in(table, path, self.atoms)

    def _read(self, rows: Int64 | None = None) -> Iterator[tuple[str, Any]]:
        """Yield the path of each shard that has graphs, or some of the ``rows``, and a table of these."""
        for part in self.parts():
            table = part.read_rows(rows)
            if table is not None:
                yield part.path, table

    def parts(self, first: int = 0) -> list[Part]:
        """Return the shards with their rows numbered from ``first``."""
        parts = []
        for entry, path in zip(self.manifest["shards"], self.shards):
            stop = first + entry["rows"]
            parts.append(Part(str(path), first, stop, entry["digest"], self.manifest["columns"]))
            first = stop
        return parts

    @property
    def digest(self) -> str:
        """Digest of all shards."""
        return digest_of(*(entry["digest"] for entry in self.manifest["shards"]))

    @property
    def atoms(self) -> Any:  # noqa: ANN401
        """How molecules were read; None for other graphs."""
        return self.manifest["settings"].get("atoms")

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
        return self.take(np.arange(min(n, len(self))))

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
        n = checked("n", n, integer(0, _MOST_SHOWN))
        seed = one_seed(checked("random_state", random_state, *RANDOM_STATE))
        rows = np.random.default_rng(seed).choice(len(self), min(n, len(self)), replace=False, shuffle=False)
        return self.take(np.sort(rows))

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
        numbers = self._checked(rows)
        tables = [table for _, table in self._read(numbers)] or [next(self._read())[1].slice(0, 0)]
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
            yield from zip(table.column("id").to_pylist(), hashes)

    def info(self) -> Fields:
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
            name: {
                repr(label) for entry in shards for label in checked(f"{where}: {name}", entry[name], _LABELS)
            }
            for name in ("node_labels", "edge_labels")
        }
        made_by = self.manifest["job"]
        n_read = self.manifest["graphs"] if made_by == "dedup" else len(self) + self.manifest["errors"]
        seconds = self.manifest["seconds"]
        return {
            "folder": str(self.folder),
            "made_by": made_by,
            "graphs": len(self),
            "errors": self.manifest["errors"],
            "shards": len(shards),
            "bytes": sum(path.stat().st_size for path in self.shards if path.exists()),
            "nodes": self.manifest["nodes"],
            "edges": self.manifest["edges"],
            "largest": max(entry["largest"] for entry in shards),
            **{name: [] if values == {"None"} else sorted(values) for name, values in labels.items()},
            "columns": self.manifest["columns"],
            "settings": {
                name: value for name, value in self.manifest["settings"].items() if value is not None
            },
            "seconds": seconds,
            "rows_per_second": round(n_read / seconds, 1) if seconds else None,
        }

    def take(self, rows: object) -> Dataset:
        """Return some graphs as a `Dataset`, with their ids as names.

        Parameters
        ----------
        rows : array of int64
            As of `table`; at least one.

        Returns
        -------
        Dataset
            The graphs; ``rows`` has their numbers, ``smiles`` their SMILES if the corpus has these.
        """
        numbers = self._checked(rows)
        parts = list(self._read(numbers))
        if not parts:
            raise TwinWLError("n: got no graph to show, expected at least one")
        settings = self.manifest["settings"]
        smiles = settings.get("columns", {}).get(settings.get("smiles_column"), "smiles")

        def column(name: str) -> Names:
            return tuple(cell for _, table in parts for cell in table.column(name).to_pylist())

        return Dataset(
            self.folder.name or "corpus",
            concatenate([graphs_in(table, path, self.atoms) for path, table in parts]),
            smiles=column(smiles) if self.atoms and smiles in self.manifest["columns"] else None,
            names=column("id"),
            rows=numbers,
        )

    def _checked(self, rows: object) -> Int64:
        numbers = foreign_array("rows", rows)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise TwinWLError(f"rows: got {shown(rows)}, expected an array of row numbers")
        numbers = numbers.astype(np.int64)
        if (np.diff(numbers, prepend=-1, append=len(self)) <= 0).any():
            raise TwinWLError(
                f"rows: got {shown(rows)}, expected increasing numbers from 0 to {len(self) - 1:,}"
            )
        return numbers

    @classmethod
    def build(
        cls,
        inputs: AnyPath | Iterable[AnyPath],
        folder: AnyPath,
        *,
        kind: str | None = None,
        atoms: str | None = None,
        smiles_column: str | None = None,
        id_column: str | None = None,
        edges_column: str | None = None,
        directed: bool = False,
        edge_labels: bool = True,
        rows_per_shard: int | None = None,
        **running: Unpack[RunOptions],
    ) -> Corpus:
        """Parse files into a corpus, or resume where an earlier call with the same arguments was stopped.

        Rows that cannot be read are set aside in ``folder/errors``, with file, row, reason and text.

        Parameters
        ----------
        inputs
            Paths, or patterns such as ``"part-*.smi"``: graph6 (``.g6``, ``.s6``, ``.d6``), ``.smi``,
            ``.csv``, ``.tsv``, ``.sdf``, all of them also as ``.gz``, and ``.parquet`` with a column of
            SMILES or of edges.
        folder
            Where the corpus goes; a new or empty folder, or one to resume in.
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
        **running
            How to run; the result does not depend on it. ``fresh``: whether to delete what an earlier call
            left in the folder. ``engine``, ``workers`` and ``address``: where tasks run, in ``"local"``
            processes (the default) or on ``"ray"``, with the address of a cluster; ``workers`` is how many,
            by default one for each processor. ``memory``: bytes for each process, by default ``"1GiB"``.
            ``verbose``: whether to show a progress bar; by default only if standard error is a terminal.
            ``on_event``: function that is called with a dictionary after each task and at the end.

        Returns
        -------
        Corpus
            The corpus in ``folder``.
        """
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
        build_corpus(inputs, path, wanted, Running(**running))
        return cls(path)

    def dedup(
        self,
        output: AnyPath,
        **running: Unpack[RunOptions],
    ) -> Corpus:
        """Write a corpus with the first graph of each group of isomorphic ones, in order; return it.

        It has a column ``n_copies``. For each graph of this corpus, ``output/groups`` has the row of its
        representative, counted over all shards from 0, and the size of its group.

        Parameters
        ----------
        output
            A new or empty folder, or one to resume in.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``verbose`` and
            ``on_event``.

        Returns
        -------
        Corpus
            The corpus of representatives.
        """
        path = checked("output", output, PATH)
        dedup_corpus(self, path, Running(**running))
        return Corpus(path)

    def overlap(
        self,
        other: Corpus | AnyPath,
        output: AnyPath | None = None,
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
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``verbose`` and
            ``on_event``.

        Returns
        -------
        Overlap
            Counts: ``graphs``, ``distinct``, ``shared``, ``graphs_shared``, and those of the other corpus.
        """
        second = other if isinstance(other, Corpus) else Corpus(checked("other", other, PATH))
        return overlap_of(self, second, checked("output", output, PATH, None), Running(**running))

    def features(
        self,
        output: AnyPath,
        vectorizer: STwinVectorizer | None = None,
        **running: Unpack[RunOptions],
    ) -> STwinVectorizer:
        """Write STwin features with one vocabulary for all graphs; return the fitted vectorizer.

        ``output/vocabulary.twinwl`` is that vectorizer, for `STwinVectorizer.from_vocabulary`. The shards
        have ``id``, the other columns, and the nonzero entries of each graph: ``columns`` and ``values``.
        `twinwl.corpus.models.read_features` returns one as a SciPy matrix.

        Parameters
        ----------
        output
            A new or empty folder, or one to resume in.
        vectorizer
            Its parameters decide; ``min_df`` has to be a number of graphs. None is ``STwinVectorizer()``.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``verbose`` and
            ``on_event``.

        Returns
        -------
        STwinVectorizer
            Fitted.
        """
        from twinwl.corpus.models import features_of  # noqa: PLC0415
        from twinwl.models.vectorizer import STwinVectorizer as Vectorizer  # noqa: PLC0415

        chosen = (
            Vectorizer() if vectorizer is None else checked("vectorizer", vectorizer, instance(Vectorizer))
        )
        path = checked("output", output, PATH)
        self._warn_of_edge_labels(chosen)
        return features_of(self, path, chosen, Running(**running))

    def train(
        self, estimator: Estimator, target: str | Iterable[str], *, memory: int | str = "1GiB"
    ) -> Estimator:
        """Train an `STwinClassifier` or `STwinRegressor` on the graphs that have a target.

        Graphs are read shard by shard; features are kept in temporary files. Graphs are held out to choose
        the epoch as in ``fit``: of molecules rare scaffolds; where these are too few, and of other graphs,
        at random, with copies of a graph on the same side. Where all features fit
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
        train_on_corpus(self, estimator, listed, int(Running(memory=memory).memory) // 4)
        self._warn_of_edge_labels(estimator)
        return estimator

    def _warn_of_edge_labels(self, estimator: Any) -> None:  # noqa: ANN401
        """Warn as ``fit`` does in memory, where the graphs of one shard are all that is seen at a time."""
        if estimator.edge_labels is None:
            warn_of_edge_labels(estimator, len(self.info()["edge_labels"]))

    def predict(
        self,
        model: AnyPath,
        output: AnyPath,
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
            A new or empty folder, or one to resume in.
        proba
            Whether to add the probability of each class.
        **running
            As in `build`: ``fresh``, ``engine``, ``workers``, ``address``, ``memory``, ``verbose`` and
            ``on_event``.

        Returns
        -------
        list of Path
            The shards.
        """
        from twinwl.corpus.models import predict_corpus  # noqa: PLC0415

        files = checked("model", model, PATH), checked("output", output, PATH)
        return predict_corpus(self, *files, Running(**running), proba=checked("proba", proba, FLAG))
