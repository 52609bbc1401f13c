"""``twinwl corpus features``, ``train`` and ``predict``: models of graphs beyond memory."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from twinwl.cli.corpus import Events, Folder, Memory, Output, runs_job
from twinwl.cli.options import Balanced, ModelFile, NewModelFile, SeedOfModel, Task, encodes
from twinwl.terminal import say

EPILOG_OF_FEATURES = """
OUT/shards has one Parquet file per shard, with id, all other columns, and the nonzero entries of each \
graph as two lists, columns and values. OUT/vocabulary.twinwl is the vectorizer: \
[cyan]tw.STwinVectorizer.from_vocabulary[/] encodes other graphs with it.

[bold]Example[/]

$ twinwl corpus features library -o features --min-df 10 --features joint
"""
EPILOG_OF_TRAIN = """
A network on STwin features, as [cyan]twinwl train[/] trains it, from mini-batches of the shards. Rows \
without a target are left out. A tenth of the graphs is held out to choose the epoch, by a hash of their \
keys, so that copies of a graph are on the same side. --target a,b,c trains one model of several targets.

[bold]Example[/]

$ twinwl corpus train library -o model.twinwl --target active --min-df 5
"""
EPILOG_OF_PREDICT = """
OUT/shards has one Parquet file per shard, with id, all other columns, and the prediction. Rows that were \
set aside when the corpus was built are not in it.

[bold]Example[/]

$ twinwl corpus predict model.twinwl library -o predictions --proba
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands to ``twinwl corpus``."""
    app.command(epilog=EPILOG_OF_FEATURES)(runs_job(encodes(features)))
    app.command(epilog=EPILOG_OF_TRAIN)(encodes(train))
    app.command(epilog=EPILOG_OF_PREDICT)(runs_job(predict))


def features(
    folder: Folder,
    output: Output,
    json: Events = False,
    *,
    encoding: dict[str, Any],
    running: dict[str, Any],
) -> None:
    """Turn graphs into sparse STwin features, with one vocabulary."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415  (keeps --help fast)
    from twinwl.stwin.vectorizer import STwinVectorizer  # noqa: PLC0415

    wanted = STwinVectorizer(**encoding)
    corpus = Corpus(folder)
    fitted = corpus.features(output, wanted, **running)
    if not json:
        say(f"{len(corpus):,} graphs × {fitted.n_features_out_:,} columns: {output}")


def train(
    folder: Folder,
    output: NewModelFile,
    target: Annotated[
        str, typer.Option(metavar="COL", help="Column to predict; several: a,b,c.", show_default=False)
    ],
    task: Task = "auto",
    balanced: Balanced = False,
    epochs: Annotated[int, typer.Option(min=1, help="Largest number of epochs.")] = 100,
    seed: SeedOfModel = 0,
    memory: Memory = "1GiB",
    *,
    encoding: dict[str, Any],
) -> None:
    """Train a classifier or regressor on a corpus and write it to a file."""
    from twinwl.cli.output_files import MODELS, check_output  # noqa: PLC0415
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415
    from twinwl.corpus.models import targets_in  # noqa: PLC0415
    from twinwl.errors import TwinWLError  # noqa: PLC0415
    from twinwl.evaluation.tasks import task_of  # noqa: PLC0415

    check_output(output, MODELS, or_unknown=True)
    corpus = Corpus(folder)
    names = [target] if target in corpus.manifest["columns"] else target.split(",")
    found = targets_in(corpus.folder, corpus.manifest, names)
    chosen = task_of(found.y, task, target, names if len(names) > 1 else ())
    say(f"{len(found.rows):,} of {len(corpus):,} graphs have a target")
    say(f"Task: {chosen}")
    if balanced and chosen.name == "regression":
        raise TwinWLError("--balanced is for classes, and the model predicts numbers; leave it out")
    from twinwl.files.model_files import save  # noqa: PLC0415
    from twinwl.stwin.classifier import STwinClassifier  # noqa: PLC0415  (torch)
    from twinwl.stwin.regressor import STwinRegressor  # noqa: PLC0415

    parameters: dict[str, Any] = {**encoding, "max_epochs": epochs, "random_state": seed}
    model = (
        STwinRegressor(**parameters)
        if chosen.name == "regression"
        else STwinClassifier(**parameters, class_weight="balanced" if balanced else None)
    )
    corpus.train(model, names, memory=memory)
    save(model, output)
    history = model.history_
    held = 0 if model.held_out_ is None else len(model.held_out_)
    figures = ", ".join(history.figures())
    say(f"{held:,} graphs held out; after {len(history.train_loss)} epochs: {figures}")
    say(f"Model written to {output} ({output.stat().st_size / 1e3:,.0f} kB)")


def predict(
    model: ModelFile,
    folder: Folder,
    output: Output,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class (classifiers).")
    ] = False,
    json: Events = False,
    *,
    running: dict[str, Any],
) -> None:
    """Predict the class, or the number, of each graph of a corpus."""
    from twinwl.corpus.corpus import Corpus  # noqa: PLC0415

    corpus = Corpus(folder)
    corpus.predict(model, output, proba=proba, **running)
    if not json:
        say(f"{len(corpus):,} predictions, one file per shard in {output / 'shards'}")
