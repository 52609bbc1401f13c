"""``twinwl reproduce``: points to the reproduction of the paper, which is in the repository, or runs it."""

from importlib import import_module

import typer

from twinwl.cli.options import Command
from twinwl.errors import TwinWLError


def register(app: typer.Typer, panel: str) -> None:
    """Add the subcommand to the command line."""
    options = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command(context_settings=options, cls=Command, rich_help_panel=panel)(reproduce)


def reproduce(context: typer.Context) -> None:
    """Reproduce the paper's tables, case study and figures (in the repository: python -m reproduction)."""
    try:
        main = import_module("reproduction.__main__").main
    except ModuleNotFoundError as error:
        raise TwinWLError(
            "the reproduction of the paper is in the folder reproduction of the repository; "
            f"run python -m reproduction {' '.join(context.args) or 'all'} there"
        ) from error
    raise typer.Exit(main(context.args))
