"""Tiny molecules for the tests of commands: alcohols (class 1) and alkanes (class 0)."""

from __future__ import annotations

from typer.testing import CliRunner

from twinwl.cli.app import app

SMILES = [
    *("C" * n + "O" for n in range(1, 11)),
    *("CC(C)" + "C" * n + "O" for n in range(1, 9)),
    *("C" * n for n in range(2, 12)),
    *("CC(C)" + "C" * n for n in range(1, 9)),
]
CLASSES = [int(smiles.endswith("O")) for smiles in SMILES]
NUMBERS = [smiles.count("C") + 0.5 * smiles.count("O") for smiles in SMILES]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write_csv(path, extra=(), header="smiles,alcohol"):
    rows = [f"{smiles},{kind}" for smiles, kind in zip(SMILES, CLASSES, strict=True)]
    path.write_text("\n".join([header, *rows, *extra]) + "\n")
    return path


def write_numbers(path, extra=()):
    """Write a table of molecules with a number to predict: their carbons, and half for an oxygen."""
    rows = [f"{smiles},{number}" for smiles, number in zip(SMILES, NUMBERS, strict=True)]
    path.write_text("\n".join(["smiles,size", *rows, *extra]) + "\n")
    return path


def train(folder, *options, write=write_csv):
    """Train from the command line and return the file."""
    data, model = write(folder / "molecules.csv"), folder / "model.twinwl"
    result = run("train", data, "-o", model, *options)
    assert result.exit_code == 0, result.output
    return model


_CONTENT_OF_MODEL = {}


def trained(folder, *options, write=write_csv):
    """Return what `train` does, but train only once, however many tests ask for the same model."""
    if (options, write) not in _CONTENT_OF_MODEL:
        _CONTENT_OF_MODEL[options, write] = train(folder, *options, write=write).read_bytes()
    write(folder / "molecules.csv")
    model = folder / "model.twinwl"
    model.write_bytes(_CONTENT_OF_MODEL[options, write])
    return model
