"""Downloads that can be resumed, are checked before use, and give helpful errors.

pooch decides whether a file is needed, verifies its checksum and moves it into place; it cannot resume, so
the transfer itself is done here.

TU data sets downloaded from their collection, and checked before use.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import requests

from twinwl.datasets.catalogue import downloads_folder, tu_url
from twinwl.datasets.text_files import ArchiveMembers
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.atomic import atomic_write
from twinwl.files.cache import file_digest
from twinwl.terminal import ProgressBar

_ATTEMPTS = 4
_PAUSE = 0.5  # seconds before the second attempt; doubled each time
_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces
_PIECE = 1 << 13  # the most that is lost if the connection breaks
_MAX_BYTES = 8 * 2**30
_LOCAL_HOSTS = {"127.0.0.1", "localhost", "::1"}
_MAX_REDIRECTS = 5
_OK, _PARTIAL, _RANGE_REFUSED, _SERVER_ERROR = 200, 206, 416, 500


class DownloadError(TwinWLError):
    """A file could not be downloaded, or is not what it should be."""


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    check: Callable[[Path], None] | None = None,
    progress: bool | None = None,
) -> Path:
    """Download a file; an interrupted download is resumed.

    Parameters
    ----------
    url
        An https address; plain http is refused except on the machine itself.
    target
        The file to write. Until it is complete and checked, its bytes are in a ``.part`` file next to it.
    sha256
        Expected checksum, if it is known.
    check
        Called with the complete file before it is moved to ``target``; raises an error if the file is wrong.
    progress
        Whether to show a progress bar; None shows it if standard error is a terminal.

    Raises
    ------
    DownloadError
        If the download fails; the message says how to get the file by hand.
    """
    import pooch  # noqa: PLC0415  (it brings requests, and most calls need neither)

    transfer = _Transfer(target.with_name(target.name + ".part"), check, progress)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(target.name + ".lock")), _quiet(pooch.get_logger()):
            pooch.retrieve(
                url,
                known_hash=None if sha256 is None else f"sha256:{sha256}",
                fname=target.name,
                path=target.parent,
                downloader=transfer,
            )
    except TwinWLError as error:
        raise _explained(error, url, target) from error
    except OSError as error:
        raise _explained(f"{error.strerror or error}", url, target) from error
    except ValueError as error:  # raised by pooch for a wrong checksum
        raise _explained(f"its checksum is wrong: {error}", url, target) from error
    return target


def _explained(reason: object, url: str, target: Path) -> DownloadError:
    return DownloadError(
        f"could not download {url}: {reason}. To put the file there by hand, save {url} as {str(target)!r}, "
        "or in any folder that TWINWL_DATA (or --data-dir) names"
    )


class _Transfer:
    """The downloader that pooch calls: it fills the part file, in several attempts if needed."""

    def __init__(self, part: Path, check: Callable[[Path], None] | None, progress: bool | None) -> None:
        self.part = part
        # Says of which version of the file the part is: two versions must not be mixed.
        self.version = part.with_name(part.name + ".version")
        self.check = check
        self.progress = progress

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        import requests  # noqa: PLC0415  (comes with pooch)

        with _session() as session:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    self._resume(session, url)
                    break
                except (requests.TooManyRedirects, requests.exceptions.SSLError) as error:
                    raise DownloadError(f"the connection failed: {error}") from error
                except requests.RequestException as error:
                    if attempt == _ATTEMPTS:
                        kept = self.part.stat().st_size if self.part.exists() else 0
                        raise DownloadError(
                            f"{_reason(error)} (tried {attempt} times; {kept:,} bytes are kept, and "
                            "the next call goes on from there)"
                        ) from error
                    time.sleep(_PAUSE * 2 ** (attempt - 1))
        if self.check is not None:
            try:
                self.check(self.part)
            except TwinWLError:
                self._discard()  # going on with it would never make it right
                raise
        shutil.move(self.part, output_file)
        self._discard()

    def _resume(self, session: requests.Session, url: str) -> None:
        have = self.part.stat().st_size if self.part.exists() and self.version.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": self.version.read_text(encoding="ascii")}
        with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if response.status_code == _RANGE_REFUSED and have:  # longer than the file: not a part of it
                self._discard()
                self._resume(session, url)
                return
            if response.status_code >= _SERVER_ERROR:
                response.raise_for_status()  # may pass: tried again
            if response.status_code not in {_OK, _PARTIAL}:
                raise DownloadError(f"the server answers {response.status_code} {response.reason}")
            if response.status_code == _OK:
                have = 0
            self._receive(response, have)

    def _receive(self, response: requests.Response, have: int) -> None:
        declared = response.headers.get("Content-Length", "")
        total = int(declared) + have if re.fullmatch("[0-9]{1,18}", declared) else None  # a server may lie
        version = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if have == 0:
            self.version.unlink(missing_ok=True)
            # A weak tag does not promise the same bytes, so a download cannot be resumed with it.
            if version and not version.startswith("W/") and version.isascii():
                self.version.write_text(version, encoding="ascii")
        _check_size(total or 0)
        with (
            self.part.open("ab" if have else "wb") as stream,
            ProgressBar(
                self.part.name.removesuffix(".part"), total, done=have, unit="bytes", show=self.progress
            ) as bar,
        ):
            for piece in response.iter_content(_PIECE):
                stream.write(piece)
                have += len(piece)
                _check_size(have)
                bar.advance(len(piece))

    def _discard(self) -> None:
        self.part.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)


def _session() -> requests.Session:
    """Return a session that refuses plain http, except to the local machine, before anything is sent.

    >>> with _session() as session:
    ...     session.get("http://example.org/MUTAG.zip")
    Traceback (most recent call last):
    ...
    twinwl.errors.TwinWLError: http://example.org/MUTAG.zip is not encrypted; only https is used
    """
    import requests  # noqa: PLC0415  (comes with pooch)
    from requests.adapters import HTTPAdapter  # noqa: PLC0415

    class _OnlyLocal(HTTPAdapter):
        def send(
            self,
            request: requests.PreparedRequest,
            *args: Any,  # noqa: ANN401  (passed on)
            **options: Any,  # noqa: ANN401
        ) -> requests.Response:
            if urlsplit(str(request.url)).hostname not in _LOCAL_HOSTS:
                raise TwinWLError(f"{request.url} is not encrypted; only https is used")
            return super().send(request, *args, **options)

    session = requests.Session()
    session.max_redirects = _MAX_REDIRECTS
    session.mount("http://", _OnlyLocal())
    return session


def _check_size(n_bytes: int) -> None:
    if n_bytes > _MAX_BYTES:
        raise DownloadError(f"it is longer than {_MAX_BYTES:,} bytes, the limit for data sets")


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    return f"the connection failed: {error}"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time download a file; the others wait and then find it."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:  # no such locks on Windows; the last one to finish wins there, with a whole file
        yield
        return
    with path.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # the file is kept: waiting processes have it open
        yield


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Suppress pooch's log messages, since there is a progress bar."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


_REQUIRED = ("A", "graph_indicator", "graph_labels")


def downloaded_tu(name: str, progress: bool | None = None) -> Path:
    """Download the zip of a TU data set to the user's cache, and record its checksum.

    Parameters
    ----------
    name
        Name in the TU collection.
    progress
        Whether to show a progress bar; None shows it if standard error is a terminal.

    Returns
    -------
    Path
        The zip, checked by `check_tu_zip`.
    """
    target = downloads_folder() / f"{name}.zip"
    download(tu_url(name), target, check=lambda path: check_tu_zip(path, name), progress=progress)
    with atomic_write(_note(target)) as stream:
        stream.write(f"{file_digest(target)}  {target.name}\n".encode())
    return target


def is_intact(path: Path) -> bool:
    """Return whether a downloaded zip is unchanged; a changed one is set aside, with a warning.

    A zip without a recorded checksum was put there by hand and is not checked.
    """
    note = _note(path)
    if not note.is_file() or note.read_text(encoding="ascii", errors="replace").startswith(file_digest(path)):
        return True
    set_aside(path, f"{path} has changed since it was downloaded; it is downloaded again")
    return False


def set_aside(path: Path, reason: str) -> None:
    """Rename a zip that cannot be used, so that it is downloaded again; warn with the reason."""
    aside = path.with_name(path.name + ".rejected")
    path.replace(aside)
    _note(path).unlink(missing_ok=True)
    warn_caller(f"{reason} (the old file is kept as {aside.name})")


def check_tu_zip(path: Path, name: str) -> None:
    """Refuse a zip that is not the TU data set of that name, or that is dangerous.

    Raises
    ------
    TwinWLError
        If it is not a zip or is damaged, lacks a file, has member names outside its folder, or unpacks to far
        too much data.
    """
    with ArchiveMembers(path) as members:
        present = {PurePosixPath(member).name for member in members.names}
        missing = [f"{name}_{part}.txt" for part in _REQUIRED if f"{name}_{part}.txt" not in present]
        if missing:
            raise DownloadError(f"it lacks {', '.join(missing)}, so it is not the TU data set {name}")
        members.check_sums()


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")
