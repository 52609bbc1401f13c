from __future__ import annotations

import pytest

from twinwl.cli.durations import seconds_of
from twinwl.errors import TwinWLError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("90m", 5400), ("1h 30m", 5400), ("0", 0), ("2.5s", 2.5), ("1H", 3600)],
)
def test_durations_as_people_write_them(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2 days", "-1h", "h", "2h3"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(TwinWLError, match="expected a duration"):
        seconds_of(text)
