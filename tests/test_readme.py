"""The examples of the README are run, and print what they say they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# A line `print(something)  # text` promises that it prints the text, in a loop one a turn: `# a | b`.
PROMISE = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def test_readme_has_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_readme_example_does_what_it_says(example, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102  (our own text)
    promised = [text for line in PROMISE.findall(example) for text in line.split(" | ")]
    assert capsys.readouterr().out.splitlines() == promised
