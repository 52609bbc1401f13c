"""The formats of files, one line each, and the ways to name data.

To add a format, write its reader and its line in `FORMATS`. Help texts, error messages and the choice by
ending come from the table.

==================================  =======================================================================
``MUTAG``, ``TWINS:n_pairs=50``     a known name
``MUTAG.zip`` or a folder           a TU data set
``molecules.csv`` ``.tsv``          a table with a column of SMILES; ``.parquet`` too
``molecules.sdf`` ``.mol``          molecules with coordinates
``molecules.smi`` ``.smiles``       SMILES, one per line, a name after it if you like
``graphs.g6`` ``.s6`` ``.d6``       graph6, sparse6 or digraph6, one per line
``a.edges`` ``.edgelist`` ``.txt``  edge list, ``u v`` or ``u v value`` per line; ``.csv``, ``.tsv`` too
``a.graphml`` ``a.gml`` ``a.col``     GraphML, GML, DIMACS
``a.json``                          node-link JSON of networkx or d3, one graph or an array of them
a folder of such files              one class per subfolder, or ``labels.csv`` beside the files
``FILE#17``                         graph 17 of a file, counted from 0
``smiles:CCO``, ``graph6:Bw``       the graph itself
``-``, ``smiles:-``                 graph6 or SMILES from standard input, one per line
==================================  =======================================================================

Text may be packed as ``.gz``. If the ending is ambiguous, the content decides: a table of molecules has a
column that is called SMILES, an edge list has two or three columns of names. Other content is refused.
"""

import contextlib
import csv
import gzip
import itertools
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, Self

from twinwl.arguments import FLAG, JOBS, NAME, PATH, Constraint, checked, items, one_of
from twinwl.arrays import AnyPath, Names
from twinwl.errors import GraphInputError, TwinWLError, first_line, import_name, setting, shown
from twinwl.graphs.atom_labels import MODEL_ATOMS
from twinwl.graphs.molecules import JOINED_LEVELS, AtomLevel


class Format(NamedTuple):
    """A format of files.

    Attributes
    ----------
    title : str
        What messages call it.
    endings : tuple of str
        Of the names of its files, without ``.gz``.
    reader : str
        ``"module:function"`` in `twinwl.datasets`, imported when it is needed. Of a format of ``rows``
        ``(where, reading, targets) -> Records``, else ``(path, reading) -> GraphBatch or Dataset``.
    options : tuple of str
        The fields of `ReadOptions` that it has beside those of every format.
    rows : bool
        Whether it has one graph per row, which may be unreadable by itself.
    in_folders : bool
        Whether such files are read in a folder of files.
    columns : str
        Like ``reader``, ``(where) -> dict``: returns the cells of all columns, where it has any.
    """

    title: str
    endings: Names
    reader: str
    options: Names = ()
    rows: bool = False
    in_folders: bool = True
    columns: str = ""


LABELS, MOLECULES = ("node_label", "edge_label"), ("target", "smiles_column", "id", "atoms")

FORMATS = {
    "graph6": Format("graph6", (".g6", ".s6", ".d6"), "records:read_graph6_lines", rows=True),
    "smiles": Format("SMILES", (".smi", ".smiles"), "records:read_smiles_lines", ("atoms",), rows=True),
    "table": Format(
        "table of molecules", (".csv", ".tsv", ".parquet"), "records:read_table", MOLECULES,
        rows=True, in_folders=False, columns="records:table_columns",
    ),
    "sdf": Format(
        "SD file", (".sdf", ".sd", ".mol"), "records:read_sdf", ("target", "id", "atoms"),
        rows=True, columns="records:sdf_columns",
    ),
    "edges": Format(
        "edge list", (".edges", ".edgelist", ".csv", ".tsv", ".txt"), "graph_files:read_edge_list",
        ("edge_label",),
    ),
    "dimacs": Format("DIMACS", (".col",), "graph_files:read_dimacs"),
    "graphml": Format("GraphML", (".graphml", ".xml"), "graph_files:read_graphml", LABELS),
    "gml": Format("GML", (".gml",), "graph_files:read_gml", LABELS),
    "json": Format("JSON node-link", (".json",), "graph_files:read_node_link", LABELS),
    "tu": Format("TU data set", (".zip",), "catalogue:read_tu_set", in_folders=False),
    "exp": Format("EXP in its authors' form", (".txt",), "catalogue:read_exp_set", in_folders=False),
    "folder": Format("folder of such files", (), "source:read_folder", (*LABELS, "atoms")),
}  # fmt: skip
ROW_KINDS = {kind for kind, form in FORMATS.items() if form.rows}
_SHARED = {".csv", ".tsv", ".txt"}  # endings of several formats: in a folder they may also be a readme
FOLDER_ENDINGS = {
    ending: kind
    for kind, form in FORMATS.items()
    for ending in form.endings
    if form.in_folders and ending not in _SHARED
}


def reader_of(kind: str, what: str = "reader") -> Callable[..., Any]:
    """Import a function that `FORMATS` names."""
    module, _, function = getattr(FORMATS[kind], what).partition(":")
    reader: Callable[..., Any] = import_name(f"twinwl.datasets.{module}", function)
    return reader


def known_formats() -> str:
    """Name the formats and their endings, for error messages and help texts.

    >>> known_formats().partition(",")[0]
    'graph6 (.g6 .s6 .d6)'
    """
    parts = [f"{form.title} ({' '.join(form.endings)})" for form in FORMATS.values() if form.endings]
    return ", ".join(parts) + ", a folder of these, or the graph itself (smiles:CCO, graph6:Bw)"


def _names(value: object) -> Names:
    names = tuple(NAME.accept(name) for name in items("target", value, "names of columns"))
    if not names:
        raise ValueError
    return names


_SEVERAL = Constraint("a list of such names", _names)
_OPTIONS = {
    **dict.fromkeys(("smiles_column", "id", *LABELS), NAME),
    "kind": one_of(*FORMATS),
    "data_dir": PATH,
    "progress": FLAG,
    "n_jobs": JOBS,
}


@dataclass(frozen=True)
class ReadOptions:
    """The options of `load_dataset` and of every subcommand for reading a source."""

    kind: str | None = None
    target: str | Names | None = None
    """Column of the targets. Several: a tuple, names joined by commas, or ``"all"``."""
    not_targets: Names = ()
    """Columns that ``target="all"`` leaves out, because they say how to split."""
    smiles_column: str | None = None
    id: str | None = None
    """Column of the ids, which become the names of the graphs; None looks for one with a usual name."""
    on_error: str = "skip"
    node_label: str | None = None
    edge_label: str | None = None
    data_dir: AnyPath | None = None
    progress: bool | None = None
    atoms: str | None = None
    """Content of the labels of molecules, several levels with commas; None means ``usual_atoms``."""
    usual_atoms: AtomLevel = MODEL_ATOMS
    n_jobs: int | None = None
    """Processes that read molecules."""
    shared: bool = False
    """Whether other sources have the same options: those of other formats, and a missing id, are left out."""

    def __post_init__(self) -> None:
        for option, constraint in _OPTIONS.items():
            checked(option, getattr(self, option), constraint, None)
        object.__setattr__(self, "target", checked("target", self.target, NAME, _SEVERAL, None))
        object.__setattr__(self, "atoms", checked("atoms", self.atoms, JOINED_LEVELS, None))
        checked("on_error", self.on_error, one_of("skip", "fail"))

    @property
    def level(self) -> AtomLevel:
        """Content of the labels of molecules."""
        return self.atoms or self.usual_atoms


KNOWN = "name"
"""The kind of a source that is the name of a data set."""
HEADINGS = {("source", "target"), ("from", "to"), ("src", "dst")}
_LITERALS = ("smiles", "graph6")
_SMILES = ("smiles", "canonical_smiles", "isomeric_smiles", "mol")
# Without blanks, underscores and the like; the first of these that a table has.
_IDS = (
    "id", "identifier", "name", "cid", "molid", "molname", "moleculeid", "moleculename", "compound",
    "compoundid", "compoundname", "chemblid", "moleculechemblid", "cmpdchemblid", "drugname",
)  # fmt: skip
SEPARATORS = ",;\t"
_PICKLES = {".pkl", ".pickle", ".pt"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.-]*(:.*)?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BONDS = re.compile(
    r"[A-Za-z0-9\])][=#(\[][A-Za-z\[(=#]|\[[A-Za-z]{1,2}[@+\]-]"
)  # as in SMILES, and in few names
_SAMPLE = 200  # lines that decide
_EDGE_COLUMNS = 3


class Place(NamedTuple):
    """Where graphs come from.

    Attributes
    ----------
    kind : str
        ``"name"``, or one of the keys of `FORMATS`.
    where : str
        A name, a path, ``-`` for standard input, or the literal itself.
    number : int or None
        Number of the requested graph, counted from 0.
    literal : bool
        Whether ``where`` is the graph itself and not the name of a file.
    """

    kind: str
    where: str
    number: int | None = None
    literal: bool = False


def place_of(
    source: AnyPath,
    kind: str | None = None,
    is_known: Callable[[str], bool] = lambda _name: False,
    *,
    has_columns: bool = False,
) -> Place:
    """Parse the name of a source.

    Parameters
    ----------
    source
        See the top of this module.
    kind
        The kind, if the ending does not say.
    is_known
        Function that returns whether a name is that of a known data set.
    has_columns
        Whether the user named columns, so that text in columns is a table.

    >>> place_of("smiles:C#N")
    Place(kind='smiles', where='C#N', number=None, literal=True)
    >>> place_of("graphs.g6#17")
    Place(kind='graph6', where='graphs.g6', number=17, literal=False)

    Raises
    ------
    GraphInputError
        If the kind is unknown (the message lists the known ones), or the text after ``#`` is not a number.
    """
    text = str(source)
    prefix, colon, literal = text.partition(":")
    if colon and prefix in _LITERALS and not isinstance(source, Path):
        literal = literal.strip()
        if not literal:
            raise GraphInputError(f"nothing follows {text!r}; write for example 'smiles:CCO' or 'graph6:Bw'")
        return Place(prefix, literal, literal=literal != STDIN)
    if text == STDIN:
        if kind not in {None, *_LITERALS}:
            raise GraphInputError(
                f"standard input is read as {setting(kind='graph6')} or {setting(kind='smiles')}, not "
                f"{kind!r}"
            )
        return Place(kind or "graph6", STDIN)
    close = get_close_matches(prefix, _LITERALS, n=1, cutoff=0.8)
    if colon and close and not isinstance(source, Path):
        raise GraphInputError(f"{shown(text)}: did you mean '{close[0]}:{literal}'?")
    where, number = _split_number(text)
    if not isinstance(source, Path) and kind is None and _NAME.fullmatch(where):
        endings = {ending for form in FORMATS.values() for ending in form.endings} | _PICKLES
        missing = not _exists(where) and ending_of(where) not in endings
        if missing or is_known(where.partition(":")[0]):
            return Place(KNOWN, where, number)
    with contextlib.suppress(RuntimeError):  # unknown user name after '~'
        where = str(Path(where).expanduser())
    _exists(where)  # raises an error if the path cannot be checked
    return Place(kind or _kind_of(Path(where), has_columns=has_columns), where, number)


def _split_number(text: str) -> tuple[str, int | None]:
    """Cut off ``#17``, unless that is part of the name of an existing file."""
    path, hash_sign, number = text.rpartition("#")
    if not hash_sign or _exists(text):
        return text, None
    if not path or not re.fullmatch(r"[0-9]{1,18}", number):
        raise GraphInputError(
            f"{shown(text)}: got {number!r} after '#', expected the number of a graph, counted from 0; "
            f"write for example {(path or 'FILE') + '#0'!r}"
        )
    return path, int(number)


def _exists(text: str) -> bool:
    try:
        Path(text).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:  # too long, in a folder that is closed to us, with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise GraphInputError(f"{shown(text)}: {reason}; give a name or a path") from error
    return True


def _kind_of(path: Path, *, has_columns: bool) -> str:
    if path.is_dir():
        return "tu" if any(path.glob("*_A.txt")) or any(path.glob("*/*_A.txt")) else "folder"
    ending = ending_of(path.name)
    if ending in _PICKLES:
        raise GraphInputError(
            f"{path} is a pickle, which could run anything when loaded; use the authors' GRAPHSAT.txt"
        )
    kinds = [kind for kind, form in FORMATS.items() if ending in form.endings]
    if not kinds:
        problem = f"unknown ending {path.suffix!r}" if path.suffix else "the name of the file has no ending"
        raise GraphInputError(
            f"{shown(str(path))}: {problem}. Pass {setting(kind=...)}. Known: {known_formats()}"
        )
    if "edges" not in kinds:
        return kinds[0]
    if has_columns:
        return "table"
    if ending == ".txt" and import_name("twinwl.datasets.graph_files", "looks_like_exp")(path):
        return "exp"
    kind = _table_or_edges(path)
    if kind not in kinds:
        title = FORMATS[kind].title
        raise GraphInputError(
            f"{path}: looks like a {title}; pass {setting(kind=kind)} if it is, else {setting(kind='edges')}"
        )
    return kind


def _table_or_edges(path: Path) -> str:
    """Decide by content whether text in columns is a table of molecules or an edge list, or refuse it."""
    lines = [
        (line, split_fields(text))
        for line, text in itertools.islice(text_lines(path), _SAMPLE)
        if text.strip() and not text.lstrip().startswith("#")
    ]
    if not lines:
        raise GraphInputError(f"{path}: the file is empty, except for comments")
    header = lines[0][1]
    if smiles_column_of(header) is not None:
        return "table"
    if tuple(field.lower() for field in header[:2]) in HEADINGS:
        return "edges"
    line, problem = _not_edges(lines)
    if problem:
        raise GraphInputError(
            f"{path}, line {line}: {problem}. If this is a table of molecules, write 'smiles' above their "
            f"column, or name it with {setting(smiles_column=...)} (its first line is "
            f"{shown(', '.join(header))}); if it is an edge list, whose only header may be 'source,target', "
            f"'from,to' or 'src,dst', pass {setting(kind='edges')}"
        )
    return "edges"


def _not_edges(lines: Sequence[tuple[int, list[str]]]) -> tuple[int, str]:
    """Return the first line that an edge list would hardly have, and why; no reason if there is none."""
    for line, cells in lines:
        # networkx writes the attributes of an edge as a dictionary, for which the reader has its own error.
        fields = list(itertools.takewhile(lambda cell: not cell.startswith("{"), cells))
        if len(fields) > _EDGE_COLUMNS:
            return line, f"got {len(fields)} columns, expected two or three in an edge list"
        for field in filter(_BONDS.search, fields):
            return line, f"{shown(field)} looks like SMILES"
    # A first line of words above numbers is not an edge.
    (line, header), *rows = lines
    columns = zip(header, *(fields for _, fields in rows))
    if rows and any(
        all(map(_INTEGER.fullmatch, cells)) and not any(map(_INTEGER.fullmatch, header))
        for _, *cells in columns
    ):
        return line, f"{shown(', '.join(header))} looks like a header"
    return line, ""


def smiles_column_of(header: Sequence[str]) -> str | None:
    """Return the column of SMILES by its name, or None if no column, or more than one, has such a name.

    >>> smiles_column_of(["id", "Smiles"]), smiles_column_of(["source", "target"])
    ('Smiles', None)
    """
    for candidate in _SMILES:
        columns = [column for column in header if column.lower() == candidate]
        if columns:
            return columns[0]
    named = [column for column in header if "smiles" in column.lower()]
    return named[0] if len(named) == 1 else None


def id_columns_of(header: Sequence[str]) -> list[str]:
    """Return the columns whose names are usual for ids, the most usual first.

    >>> id_columns_of(["smiles", "Compound Name", "mol_id"])
    ['mol_id', 'Compound Name']
    """
    names = {re.sub(r"[^a-z0-9]", "", column.lower()): column for column in reversed(header)}
    return [names[usual] for usual in _IDS if usual in names]


def split_fields(text: str) -> list[str]:
    """Split a line at commas, semicolons or tabs, with cells in quotes, or at blanks."""
    delimiter = max(SEPARATORS, key=text.count)
    if delimiter not in text:
        return text.split()
    fields = text.split(delimiter)
    with contextlib.suppress(csv.Error):  # raised again where the file is read
        fields = next(csv.reader([text.strip("\r\n")], delimiter=delimiter), [])
    fields = [field.strip() for field in fields]
    while fields and not fields[-1]:
        fields.pop()
    return fields


# ---------------------------------------------------------------------- text files and archives
# Sizes are limited, and errors name the file.

STDIN = "-"
MAX_BYTES = 2**29  # formats that are parsed as a whole are refused beyond this
MAX_LINE = 2**26  # a graph6 line of this length has some 28,000 nodes
# A column of equal numbers packs hundreds to one, but a whole set, with its arcs, about six to one.
MAX_RATIO, RATIO_FROM = 100, 2**24


class ArchiveMembers:
    """The files of a zip or of a folder and its subfolders, by their names inside it; nothing is unpacked.

    Parameters
    ----------
    path
        A zip file or a folder.

    Raises
    ------
    TwinWLError
        If the path does not exist, is not a readable zip, would unpack to far more than real data does, or
        has member names outside its folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.txt").write_text("1")
    ...     with ArchiveMembers(Path(folder)) as members:
    ...         members.names, members.read("a.txt")
    (['a.txt'], b'1')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        if path.is_dir():
            paths = [*path.glob("*"), *path.glob("*/*")]
            self.names = sorted(file.relative_to(path).as_posix() for file in paths if file.is_file())
            return
        with open_file(path) as stream:  # refuses what is not a file or not readable
            packed = stream.seek(0, 2)
        with one_error(f"{path} is not a readable zip"), zipfile.ZipFile(path) as archive:
            sizes = {
                member.filename: member.file_size for member in archive.infolist() if not member.is_dir()
            }
        self.names = sorted(sizes)
        # Entries may overlap, so what they say they take up counts for nothing beside the file's size.
        check_ratio(packed, sum(sizes.values()), str(path))
        for name in self.names:
            if name[0] in "/\\" or ".." in re.split(r"[/\\]", name):
                raise TwinWLError(f"{path}: the member name {name!r} is outside its folder; pack it again")
        self._zip = zipfile.ZipFile(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of one file, which must be small enough to be parsed as a whole."""
        if self._zip is None:
            with open_file(self.path / PurePosixPath(name)) as stream:
                return _read_bounded(stream, f"{self.path}: {name}")
        with one_error(f"{self.path}: cannot read {name}"), self._zip.open(name) as member:
            return _read_bounded(member, f"{self.path}: {name}")


@contextlib.contextmanager
def one_error(problem: str) -> Iterator[None]:
    """Turn whatever a library raises on broken bytes, a dozen kinds, into one error."""
    try:
        yield
    except TwinWLError:
        raise
    except Exception as error:
        raise GraphInputError(f"{problem} ({first_line(error)}); get it again") from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a text file that is small enough to be parsed at once; ``.gz`` is unpacked.

    Raises
    ------
    GraphInputError
        If it cannot be opened, is empty, too large, or not text.
    """
    with open_file(path) as stream:
        content = _read_bounded(stream, str(path))
    if path.suffix.lower() == ".gz":
        check_ratio(path.stat().st_size, len(content), str(path))
    if not content.strip():
        raise GraphInputError(f"{path}: the file is empty")
    _refuse_binary(content, str(path))
    return content


def read_text(path: Path) -> str:
    """Return the same, decoded."""
    return decode(read_bytes(path), str(path))


def ending_of(name: str) -> str:
    """Return the ending of a file name in lower case, without ``.gz``.

    >>> ending_of("a.GML.gz")
    '.gml'
    """
    return Path(name.lower().removesuffix(".gz")).suffix


def _read_bounded(stream: IO[bytes], name: str) -> bytes:
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise GraphInputError(
            f"{name}: larger than {MAX_BYTES >> 20} MiB, too large to parse at once; "
            "write its graphs as graph6 or SMILES, one per line, which are streamed"
        )
    return content


def check_ratio(packed: int, unpacked: int, name: str) -> None:
    """Refuse an archive that unpacks to far more than real data does, before it is unpacked.

    >>> check_ratio(1000, 10**9, "small.zip")
    Traceback (most recent call last):
    ...
    twinwl.errors.GraphInputError: small.zip: unpacks from 1,000 to 1,000,000,000 bytes, which looks like an \
attack; if it is genuine, unpack it and give the folder or file
    """
    if unpacked > max(RATIO_FROM, MAX_RATIO * packed):
        raise GraphInputError(
            f"{name}: unpacks from {packed:,} to {unpacked:,} bytes, which looks like an attack; "
            "if it is genuine, unpack it and give the folder or file"
        )


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    >>> decode(b"a b", "g.edges")
    'a b'
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(name, content[: error.start].count(b"\n") + 1) from error


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, stripped, with their number from 1; ``-`` is standard input."""
    for number, text in text_lines(name):
        if stripped := text.strip():
            yield number, stripped


def text_lines(name: AnyPath, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield all lines unchanged, with their ends and their number from 1; one is in memory at a time.

    Parameters
    ----------
    name
        A path, or ``-`` for standard input.
    errors
        ``"replace"`` replaces bytes that are not UTF-8 by a mark, for text that does not matter.
    """
    with contextlib.nullcontext(sys.stdin.buffer) if name == STDIN else open_file(Path(name)) as stream:
        number = 0
        while line := stream.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE:
                raise GraphInputError(
                    f"{name}, line {number}: longer than {MAX_LINE >> 20} MiB; is this a text file?"
                )
            _refuse_binary(line, str(name))
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
            except UnicodeDecodeError as error:
                raise _not_text(str(name), number) from error


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking ``.gz``; errors of the operating system become `GraphInputError`.

    Only regular files are opened: reading a named pipe or a device might never end.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; pipe its text to '-'"
            raise GraphInputError(f"cannot read {shown(str(path))}: expected a file, got {kind}")
        with path.open("rb") as stream:
            if path.suffix.lower() == ".gz":
                with gzip.open(stream) as unpacked:
                    yield unpacked  # type: ignore[misc]  # (it reads bytes, whatever the stub says)
            else:
                yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise GraphInputError(
            f"{path}: not a readable gzip file ({error}); get it again or, if it is not packed, rename it "
            "without .gz"
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise GraphInputError(f"cannot read {shown(str(path))}: {reason[:1].lower() + reason[1:]}") from error


def _not_text(name: str, line: int) -> GraphInputError:
    return GraphInputError(f"{name}, line {line}: not UTF-8 text; save the file as UTF-8")


def _refuse_binary(content: bytes, name: str) -> None:
    if b"\0" in content:
        raise GraphInputError(
            f"{name}: contains zero bytes, so it is a binary file (or UTF-16), not UTF-8 text; save it as "
            "UTF-8 text"
        )
