"""The site says only what can be checked; `make docs` builds it and follows its links."""

import importlib.util
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import twinwl as tw
from twinwl.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
API = ["api.md", "api_results.md"]
NAMES = [name for name in tw.__all__ if name != "__version__"]
LISTED = {
    page: re.findall(r"^   (\w+)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE) for page in API
}
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.py"), *EXAMPLES])
# Types are in the signatures; not every name has relatives, or more to say than its first lines.
# PR03: parameters that go by name alone are listed by topic. YD01: what is yielded is said in the first line.
LEFT_OUT = {"PR03", "YD01", "PR04", "RT02", "RT03", "RT04", "SA01", "SA04", "ES01", "GL08"}


def test_every_public_name_is_in_the_reference():
    assert {*NAMES, *tw._MOVED} <= {name for page in API for name in LISTED[page]}


@pytest.mark.parametrize("page", API)
def test_names_of_a_page_differ_by_more_than_case(page):  # each becomes a file, on some disks without case
    assert len(LISTED[page]) == len({name.lower() for name in LISTED[page]})


@pytest.mark.parametrize("name", [*NAMES, *(f"{module}.{name}" for name, module in tw._MOVED.items())])
def test_docstrings_are_valid(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    try:
        value = attrgetter(name)(tw)
    except MissingExtraError as error:
        pytest.skip(str(error))
    members = vars(value).items() if inspect.isclass(value) else ()
    kinds = (property, classmethod, staticmethod)
    methods = [
        f"twinwl.{name}.{member}"
        for member, what in members
        if not member.startswith("_") and (inspect.isroutine(what) or isinstance(what, kinds))
    ]
    wrong = [f"{name}: {error}" for error in _errors_of_name(validate(f"twinwl.{name}"), value)]
    for method in methods:
        said = validate(method)
        # One line may be all there is to say about a method.
        more = {"EX01"} if "Parameters\n" in said["docstring"] else {"EX01", "PR01", "RT01"}
        wrong += [f"{method}: {error}" for error in said["errors"] if error[0] not in LEFT_OUT | more]
    assert wrong == []


def _errors_of_name(said, value):
    left_out = set(LEFT_OUT)
    if inspect.isclass(value) and not hasattr(value, "fit"):  # a result that is never built by hand, an error
        left_out |= {"EX01"} | ({"PR01"} if "Attributes\n" in said["docstring"] else set())
    return [error for error in said["errors"] if error[0] not in left_out]


@pytest.mark.parametrize(
    "page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix()
)
def test_tests_that_a_page_names_exist(page):
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page.read_text(encoding="utf-8")):
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_that_a_page_uses_exist(page):
    used = set(re.findall(r"\btw\.([A-Za-z]\w*)", page.read_text(encoding="utf-8")))
    known = {*tw.__all__, *(tw._MOVED if page.stem.lower() in {"changelog", "versions"} else ())}
    assert {name for name in used - known if not importlib.util.find_spec(f"twinwl.{name}")} == set()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_has_a_title_and_a_plot(example):
    text = example.read_text(encoding="utf-8")
    assert re.match(r'"""\n.+\n=+\n\n', text)
    assert "plt.show()" in text
    compile(text, example.name, "exec")


def test_the_check_of_the_site_finds_a_link_that_leads_nowhere(tmp_path):  # `make docs` checks the site
    spec = importlib.util.spec_from_file_location("check_site", DOCS / "check_site.py")
    check_site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_site)
    (tmp_path / "index.html").write_text('<a href="other.html">', encoding="utf-8")
    assert check_site.problems(tmp_path)
