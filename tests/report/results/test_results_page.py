import re

from twinwl.report.page import Page, PlainTable, Section, results_html


def test_what_comes_from_outside_is_escaped():
    page = Page(
        "<b>", ["<i>"], [("<u>", "<s>")], [Section("a", "<em>", [PlainTable(["<x>"], [["<y>|"]])])], ["<z>"]
    )
    assert not re.search(r"<(b|i|u|s|em|x|y|z)>", results_html(page))
