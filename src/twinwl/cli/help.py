"""The pages of ``--help``: sections of two plain columns, so that a page fits on one screen or two.

Typer's own pages give an option four columns and each section a frame; at 80 characters a short sentence then
takes four lines.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from twinwl.terminal import new_console

# The options of every command that reads data are shown by one of them; others show the usual ones only.
READING = "Reading data"
_SHOWN_BY = "datasets"
_USUAL = ("target", "atoms")
_WIDEST_LEFT = 30


class Command(TyperCommand):
    """A command with such a page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Print the page."""
        _show(self, ctx)


class Group(TyperGroup):
    """A group of commands with such a page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Print the page."""
        _show(self, ctx)


def _show(command: Any, ctx: Any) -> None:  # noqa: ANN401  (of click, or of typer's own copy of it)
    from rich import markup, padding, table  # noqa: PLC0415  (only for help)

    console = new_console(markup=True)
    sections = sections_of(command, ctx)
    arguments = [left for left, _ in sections.get("Arguments", [])]
    rest = [*arguments, "COMMAND"] if isinstance(command, TyperGroup) else arguments
    console.print(f"[bold]Usage:[/] {markup.escape(' '.join([ctx.command_path, '[OPTIONS]', *rest]))}")
    console.print(f"\n{(command.help or '').partition(chr(10))[0]}")
    for title, rows in sections.items():
        console.print(f"\n[bold]{title}[/]")
        grid = table.Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold", max_width=_WIDEST_LEFT)
        grid.add_column()
        for left, right in rows:
            grid.add_row(markup.escape(left), right)
        console.print(padding.Padding(grid, (0, 0, 0, 2)))
    before = ""
    for paragraph in command.epilog.split("\n\n") if command.epilog else ():
        if not before.startswith(("$", "[dim]")) or not paragraph.startswith(("$", "[dim]")):
            console.print()
        console.print(paragraph)
        before = paragraph


def sections_of(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
    """Return title and rows of each section."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    others = []
    for param in command.get_params(ctx):
        if param.param_type_name == "argument":
            sections["Arguments"].append((param.metavar or param.name.upper(), param.help or ""))
            continue
        panel = getattr(param, "rich_help_panel", None) or "Options"
        if panel == READING and param.name not in _USUAL and command.name != _SHOWN_BY:
            others.append(param.opts[0])
        elif not param.hidden:
            sections.setdefault(panel, []).append(_option(param))
    if others:
        more = f"Also {', '.join(others)}: [cyan]twinwl {_SHOWN_BY} --help[/] describes them."
        sections.setdefault(READING, []).append(("…", more))
    for name in command.list_commands(ctx) if isinstance(command, TyperGroup) else ():
        found = command.commands[name]
        row = (name, (found.help or "").partition("\n")[0])
        sections.setdefault(getattr(found, "rich_help_panel", None) or "Commands", []).append(row)
    return {title: rows for title, rows in sections.items() if rows}


def _option(param: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return how an option is written, and what it is for."""
    names = ", ".join(sorted(param.opts, key=len)) + "".join(f"/{name}" for name in param.secondary_opts)
    value = "" if param.is_flag else param.metavar or "VALUE"
    text = param.help or ""
    if param.required:
        text += r" \[required]"
    elif param.default not in {None, False, "", ()} and "default:" not in text:
        text += rf" \[default: {param.default}]"
    return f"{names} {value}".rstrip(), text.strip()
