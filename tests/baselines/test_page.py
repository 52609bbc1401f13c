"""The page about the baselines: its example runs, and it names every row."""

import re
from pathlib import Path

from twinwl.evaluation.methods import METHODS

PAGE = (Path(__file__).parents[2] / "docs" / "baselines.md").read_text(encoding="utf-8")


def test_the_example_does_what_it_says(capsys):
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    try:
        exec(compile(example, "baselines.md", "exec"), {"__name__": "page"})  # noqa: S102  (our own text)
    finally:
        METHODS.pop("tree", None)
    assert capsys.readouterr().out == "True\n"


def test_every_row_is_on_the_page():
    rows = {name for name, method in METHODS.items() if method.home.startswith("twinwl.baselines")}
    assert rows == set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))
