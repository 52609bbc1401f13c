"""The glossary says which class a method is; the table of methods agrees."""

import re
from pathlib import Path

import pytest

from twinwl.evaluation.methods import METHODS

PAGE = (Path(__file__).parents[2] / "docs" / "background" / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|`]+ \| `(\w+)(?:\((\w+)=([^)]+)\))?`[^|]*\| `([\w-]+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("kind", "parameter", "value", "name"), ROWS)
def test_a_model_has_the_name_that_the_glossary_gives_it(kind, parameter, value, name):
    method = METHODS[name]
    assert method.home.endswith(f":{kind}")
    assert {key: str(one) for key, one in method.fixed.items()} == (
        {parameter: value.strip('"')} if parameter else {}
    )


def test_the_glossary_names_every_method_of_the_two_twins():
    ours = {name for name, method in METHODS.items() if "baselines" not in method.home}
    variants = {"stwin-joint", "stwin-svc-rounds", "stwin-svc-pairs", "twin-forest"}
    assert {row[-1] for row in ROWS} >= ours - variants
