"""A cache of its own for every test, and a web server that misbehaves on demand."""

from __future__ import annotations

import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TINY = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n2\n2\n2\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n1\n0\n0\n1\n2\n",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Keep tests away from the user's cache."""
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tiny_zip():
    """Return a function that packs a tiny TU data set of three graphs, with changes."""

    def pack(name="MUTAG", folder=None, **changes):
        files = {part: text for part, text in (TINY | changes).items() if text is not None}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for part, text in files.items():
                archive.writestr(f"{name if folder is None else folder}/{name}_{part}.txt", text)
        return packed.getvalue()

    return pack


class Site(ThreadingHTTPServer):
    """Serves one file and misbehaves as told."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = b""
        self.etag = '"first"'
        self.status = 200
        self.understands_ranges = True
        self.cuts = []  # after how many bytes to cut the connection, one entry a request
        self.redirect = None
        self.declared = None  # what to say of the length, in place of the truth
        self.ranges = []  # what was asked for

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/data/MUTAG.zip"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server
        asked = self.headers.get("Range")
        site.ranges.append(asked)
        if site.redirect or site.status != 200:
            self.send_response(302 if site.redirect else site.status)
            if site.redirect:
                self.send_header("Location", site.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start and start >= len(site.content) and self.headers.get("If-Range") == site.etag:
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not site.understands_ranges or self.headers.get("If-Range") != site.etag:
            start = 0
        body = site.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", site.declared or str(len(body)))
        if site.etag:
            self.send_header("ETag", site.etag)
        self.end_headers()
        cut = site.cuts.pop(0) if site.cuts else None
        self.wfile.write(body[:cut])
        self.close_connection = True

    def log_message(self, *_args):
        pass


@pytest.fixture
def site():
    """Serve on this machine while the test runs."""
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
