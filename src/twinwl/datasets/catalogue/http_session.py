"""HTTP sessions that use only TLS, also after redirects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    import requests

__all__ = ["open_session"]

_HERE = {"127.0.0.1", "localhost", "::1"}
_MOST_REDIRECTIONS = 5


def open_session() -> requests.Session:
    """Return a session that refuses plain http, except to the local machine, before anything is sent.

    >>> with open_session() as session:
    ...     session.get("http://example.org/MUTAG.zip")
    Traceback (most recent call last):
    ...
    twinwl.errors.TwinWLError: http://example.org/MUTAG.zip is not encrypted; only https is used
    """
    import requests  # noqa: PLC0415  (comes with pooch, and takes its time)
    from requests.adapters import HTTPAdapter  # noqa: PLC0415

    class _OnlyHere(HTTPAdapter):
        def send(
            self,
            request: requests.PreparedRequest,
            *args: Any,  # noqa: ANN401  (passed on)
            **options: Any,  # noqa: ANN401
        ) -> requests.Response:
            if urlsplit(str(request.url)).hostname not in _HERE:
                raise TwinWLError(f"{request.url} is not encrypted; only https is used")
            return super().send(request, *args, **options)

    session = requests.Session()
    session.max_redirects = _MOST_REDIRECTIONS
    session.mount("http://", _OnlyHere())
    return session
