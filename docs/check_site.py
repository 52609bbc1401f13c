"""Check a built site: every link, anchor and image leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
_KINDS_OF_LINK_NOT_FETCHED = {"next", "prev", "search", "index", "author", "canonical"}


class Page(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.targets: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag says."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.targets.add(values["href"])
        name = _FETCHED.get(tag)
        if name in values and values.get("rel", "") not in _KINDS_OF_LINK_NOT_FETCHED:
            self.fetched.add(values[name])


def problems(site: Path) -> list[str]:
    """Return what is wrong, one line each."""
    files = [path for path in sorted(site.rglob("*.html")) if not {"_static", "_modules"} & {*path.parts}]
    pages = {path.resolve(): Page(path) for path in files}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in sorted(page.targets | page.fetched):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.fetched and parts.scheme != "data":
                    found.append(f"{name}: loads {target}")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file():
                found.append(f"{name}: {target} does not exist")
            elif file in pages and unquote(parts.fragment) not in pages[file].anchors:
                found.append(f"{name}: {target} has no such anchor")
    return found


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    sys.exit("\n".join(lines) if lines else 0)
