"""``twinwl methods``: what can be trained and evaluated, and the parameters of each method.

Values of --set KEY=VALUE are numbers, words, lists with commas (n_iter=2,3) or JSON.

[bold]Examples[/]

$ twinwl methods

$ twinwl methods stwin-svc

$ twinwl train MUTAG -o model.twinwl --set n_iter=3 --set readout=rooted-wl
"""

from __future__ import annotations

from typing import Annotated

from twinwl.cli.options import arg
from twinwl.cli.output import print_table
from twinwl.terminal import say


def methods(name: Annotated[str | None, arg("NAME", "A method to describe.")] = None) -> None:
    """List the methods; with a name, its parameters for --set, their defaults and values."""
    from twinwl.arguments import in_words  # noqa: PLC0415  (keeps --help fast)
    from twinwl.evaluation.methods import METHODS, VECTORIZER, resolve  # noqa: PLC0415

    if name is None:
        rows = [
            (
                one.name,
                one.home.partition(":")[2],
                " and ".join("classes" if task == "classification" else "numbers" for task in one.tasks),
                ", ".join(f"{key}={value}" for key, value in one.fixed.items()),
            )
            for one in METHODS.values()
        ]
        print_table(rows, ["method", "in Python", "predicts", "with"], left=(0, 1, 2, 3))
        say("Methods that predict numbers too can be written to a file by twinwl train.")
        return
    chosen = VECTORIZER if name == VECTORIZER.name else resolve(name)
    table = [
        (
            key,
            " | ".join(dict.fromkeys(map(str, defaults.values()))),
            in_words(constraints),
        )
        for key, (defaults, constraints) in sorted(chosen.parameters().items())
    ]
    print_table(table, ["key", "default", "values"], left=(0, 1, 2))
