from __future__ import annotations

import pytest
from typer.testing import CliRunner

from twinwl.cli.app import app


@pytest.fixture(scope="module")
def output():
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_demo_shows_the_vectors_of_the_paper_round_by_round(output):
    assert "0 (4, 2) (4, 2) (4, 2) (4, 2)" in output
    assert "1 (4, 2) (4, 2) (12, 8) (12, 8)" in output
    assert "2 (4, 2) (4, 2) (20, 12) (16, 12)" in output


def test_demo_gives_the_verdict(output):
    assert output[-2] == "1-WL cannot tell G1 and G2 apart: its colours are stable"
    assert output[-1] == (
        "Twin-WL tells G1 and G2 apart in round 2: (4, 2, 12, 8, 20, 12) is not (4, 2, 12, 8, 16, 12)"
    )
