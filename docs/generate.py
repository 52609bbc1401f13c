"""Write the pages that come from tables in the code: commands, methods and formats; two live pages; redirects."""
# ruff: noqa: E501  (the paragraphs of pages)

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import typer
from numpydoc.docscrape import NumpyDocString
from typer.testing import CliRunner

import twinwl as tw
from twinwl.cli import options
from twinwl.cli.app import app
from twinwl.datasets.formats import FORMATS
from twinwl.evaluation.methods import METHODS

# Pages of earlier versions, and where their content is now.
MOVED = {
    "all_sets": "benchmarks/all_sets",
    "baselines": "benchmarks/methods",
    "choosing": "benchmarks/defaults",
    "deprecations": "versions",
    "evaluation": "howto/evaluate",
    "guide": "background",
    "guide/choosing": "howto",
    "guide/complexity": "background/complexity",
    "guide/definitions": "background/theory",
    "guide/determinism": "background/determinism",
    "guide/glossary": "background/glossary",
    "guide/limits": "background/when_it_helps",
    "guide/results_page": "benchmarks",
    "guide/same_graph": "background/same_graph",
    "hash_reference": "hash",
    "install": "get_started",
    "ladder": "benchmarks/power",
    "measurements": "benchmarks",
    "molecules": "benchmarks/molecules",
    "ntwin": "background/networks",
    "power": "benchmarks/power",
    "project": "reference",
    "project/changelog": "changelog",
    "pyg": "howto/pyg",
    "readouts": "background/readouts",
    "scaling": "howto/large",
    "speed": "benchmarks/speed",
    "start/index": "get_started",
    "start/plot_1_scikit_learn": "get_started",
    "start/plot_2_molecules": "get_started",
    "start/plot_3_compare": "get_started",
    "stwin": "background/networks",
    "trust": "benchmarks/trust",
}


def commands() -> str:
    """Return the page of all commands, from their help."""
    group = typer.main.get_command(app)
    context = group.make_context("twinwl", [], resilient_parsing=True)
    parts = [
        "# Commands",
        "`twinwl COMMAND --help` prints the same text. `python -m twinwl` is the same as `twinwl`.",
    ]
    names = group.list_commands(context)
    parts.append(
        _table(
            ("command", "purpose"),
            [
                (f"[`{name}`](#twinwl-{name})", (group.commands[name].help or "").partition("\n")[0])
                for name in names
            ],
        )
    )
    for name in names:
        command = group.commands[name]
        parts += _command(command, type(context)(command, info_name=name, parent=context), "##")
        for inner, one in getattr(command, "commands", {}).items():
            below = type(context)(command, info_name=name, parent=context)
            parts += _command(one, type(context)(one, info_name=inner, parent=below), "###")
    return "\n\n".join(parts)


def _command(command: Any, context: Any, heading: str) -> list[str]:
    parts = [f"{heading} {context.command_path}", (command.help or "").partition("\n")[0]]
    for title, rows in options.sections_of(command, context).items():
        if title in {"Arguments", "Options", options.READING}:
            entries = [f"`{left}`\n: {_plain(right)}" for left, right in rows if not left.startswith("-h")]
            parts += [f"**{title}**", *entries]
    epilog = options.filled_in(command.epilog or "")
    text, _, examples = epilog.partition("[bold]Examples[/]")
    parts += [_plain(paragraph) for paragraph in text.split("\n\n")]
    if examples.strip():
        lines = [re.sub(r"\[[^]]*\]", "", line) for line in examples.strip().split("\n\n")]
        shown = [line.removeprefix("$ ") if line.startswith("$ ") else f"# {line}" for line in lines]
        parts.append("```sh\n" + "\n".join(shown) + "\n```")
    return parts


def _plain(text: str) -> str:
    """Return Markdown for text with rich's markup."""
    text = re.sub(r"\[cyan\](.*?)\[/\]", r"`\1`", text)
    text = re.sub(r"\[bold\](.*?)\[/\]", r"@@\1@@", text)
    return (
        text.replace(r"\[", "[")
        .replace("*", r"\*")
        .replace("|", r"\|")
        .replace("<", "&lt;")
        .replace("@@", "**")
    )


def methods() -> str:
    """Return the page of all methods, from their table."""
    rows = []
    for method in METHODS.values():
        kind = method.home.rpartition(":")[2]
        shown = f"[`{kind}`](generated/twinwl.{kind}.rst)" if hasattr(tw, kind) else f"`{kind}`"
        tasks = " and ".join("classes" if task == "classification" else "numbers" for task in method.tasks)
        fixed = ", ".join(f"`{key}={value}`" for key, value in method.fixed.items())
        rows.append((f"`{method.name}`", shown, tasks, fixed))
    return f"""# Methods

`--method NAME` of `twinwl train` and `twinwl evaluate`, and `tw.evaluate(NAME, …)`, take these names. `twinwl methods NAME`
lists the parameters of a method for `--set KEY=VALUE`. Methods that predict numbers too can be written to a file by `twinwl
train`. [The methods of other authors](benchmarks/methods.md) are described with their results.

{_table(("method", "class", "predicts", "fixed parameters"), rows)}
"""


def formats() -> str:
    """Return the page of all formats, from their table."""
    rows = [
        (
            form.title,
            " ".join(f"`{ending}`" for ending in form.endings) or "–",
            "one graph per row" if form.rows else "",
            ", ".join(f"`{option}`" for option in form.options),
        )
        for form in FORMATS.values()
    ]
    ways = re.search(
        r"^=+  =+\n.*?^=+  =+$",
        inspect.getdoc(importlib.import_module("twinwl.datasets.formats")) or "",
        re.MULTILINE | re.DOTALL,
    )
    return f"""# Data and file formats

Every command, and [`tw.load_dataset`](generated/twinwl.load_dataset.rst), takes data in any of these forms:

```{{eval-rst}}
{ways[0] if ways else ""}
```

Text may be packed as `.gz`. Rows that cannot be read are left out and counted, and the other rows keep their numbers;
`--on-error fail` stops at the first one. If the ending is ambiguous, the content decides.

{_table(("format", "endings", "", "options"), rows)}

Molecules of a table are named by their *ids*: the column of `--id`, else the first column called `id`, `name`, `cid`, `mol_id`,
`compound` or the like whose cells are complete and all different. Without one, they are named by their SMILES.

In a column of targets, empty cells and `NA`, `N/A`, `#N/A`, `NaN`, `null`, `None`, `-`, `?` and `n.d.` are missing: such rows are
left out and counted. Numbers may have a decimal comma; separators of thousands are refused.
"""


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def live_pages(folder: Path) -> None:
    """Write the pages that are shown inside the site."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = ["smiles:C1CCC2CCCCC2C1", "smiles:C1CCCC1C1CCCC1"]
    model, diazepam = str(folder.parent.parent / "bbbp.twinwl"), "smiles:CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"
    for command in (
        ["compare", *pair, "--html", str(folder / "compare.html")],
        ["train", "BBBP", "-o", model, "--no-edge-labels"],
        ["explain", model, diazepam, "--html", str(folder / "explain.html")],
    ):
        result = CliRunner().invoke(app, command)
        if result.exit_code > 1:
            raise RuntimeError(result.output)
    for page in ("compare", "explain"):  # they follow the system; inside the site they follow its switch
        text = (folder / f"{page}.html").read_text(encoding="utf-8")
        for theme, media in {"light": "not all", "dark": "all"}.items():
            themed = text.replace("(prefers-color-scheme: dark)", media).replace("light dark", theme)
            (folder / f"{page}-{theme}.html").write_text(themed, encoding="utf-8")


def write(docs: Path) -> None:
    """Write all pages that are sources; those that have not changed are left alone."""
    for name, page in {"commands": commands, "methods": methods, "formats": formats}.items():
        path, text = docs / f"{name}.md", page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    if not (docs / "generated/pages/live/explain-dark.html").exists():
        live_pages(docs / "generated/pages/live")


def write_redirects(site: Path) -> None:
    """Let the addresses of earlier pages lead to the new ones."""
    for old, new in MOVED.items():
        path = site / f"{old}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        target = f"{'../' * old.count('/')}{new}.html"
        path.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={target}"><a href="{target}">{target}</a>\n',
            encoding="utf-8",
        )


_ELSEWHERE = re.compile(r"[^.;`]*\b(?:[Aa]s for|[Ss]ee) `([\w.]+)`[.;]? ?")


def written_out(lines: list[str], shown: object) -> list[str]:
    """Return a docstring in which parameters that another class describes have the text from there."""
    if "Parameters" not in lines:
        return lines
    start = lines.index("Parameters") + 2
    end = next((n for n in range(start, len(lines)) if lines[n].startswith("---")), len(lines) + 1) - 1
    entries: list[str] = []
    signature = inspect.signature(shown).parameters
    for name, kind, text in NumpyDocString("\n".join(lines[start - 2 : end]))["Parameters"]:
        reference = _ELSEWHERE.match(" ".join(text))
        known = _parameters(reference[1]) if reference else {}
        for one in name.split(", ") if set(name.split(", ")) <= set(known) else [name]:
            found_kind, found = kind, text
            if reference and one in known:
                found_kind, found = known[one]
                found = [*found, " ".join(text)[reference.end() :]]
                default = _shown(signature[one].default) if one in signature else ""
                found_kind = f"{found_kind.partition(', default=')[0]}, default={default}"
            entries += [" : ".join(filter(None, (one, found_kind)))]
            entries += [f"    {line}" for line in found if line]
    return [*lines[:start], *entries, "", *lines[end:]]


def _shown(default: object) -> str:
    return json.dumps(default) if isinstance(default, str) else repr(default)


def _parameters(name: str) -> dict[str, tuple[str, list[str]]]:
    """Return kind and text of the parameters of a class or function, by its name."""
    module, _, last = name.rpartition(".")
    home = getattr(importlib.import_module(module or "twinwl"), last, None)
    lines = (inspect.getdoc(home) or "").splitlines() if callable(home) else []
    if "Parameters" not in lines:
        return {}
    lines = written_out(lines, home) if inspect.isclass(home) else lines
    found = NumpyDocString("\n".join(lines))["Parameters"]
    return {one: (kind, text) for names, kind, text in found for one in names.split(", ")}
