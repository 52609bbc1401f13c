"""The examples of docs/ntwin.md are run, and print what they say they print."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs PyTorch")

PAGE = (Path(__file__).parents[2] / "docs" / "ntwin.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROMISE = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_does_what_it_says(example, capsys):
    exec(compile(example, "ntwin.md", "exec"), {"__name__": "page"})  # noqa: S102  (our own text)
    assert capsys.readouterr().out.splitlines() == PROMISE.findall(example)
