"""SmilesToGraphs: the first step of a pipeline that starts at strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from sklearn.base import TransformerMixin

from twinwl.arguments import JOBS
from twinwl.estimators.base import Constraints, GraphEstimator
from twinwl.graphs.atom_labels import ATOMS, AtomLevel
from twinwl.graphs.from_smiles import from_smiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.graphs.batch import GraphBatch


class SmilesToGraphs(TransformerMixin, GraphEstimator):
    """Turn SMILES strings into a `GraphBatch`; needs no fitting.

    Every string must be readable, because a pipeline cannot drop rows; the error names the row.

    Parameters
    ----------
    atoms : {"skeleton", "constitution", "isotope", "stereo", "ecfp"}, default="skeleton"
        What the labels contain; see `GraphBatch.from_smiles`.
    n_jobs : int or None, default=None
        Number of processes; None is one.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from twinwl import SmilesToGraphs, STwinSVC
    >>> model = make_pipeline(SmilesToGraphs(atoms="constitution"), STwinSVC(n_iter=1, C=1.0))
    >>> model.fit(["CCO", "CCCO", "CCN", "CCCN"], ["alcohol", "alcohol", "amine", "amine"]).predict(["CCCCN"])
    array(['amine'], dtype='<U7')
    """

    _constraints: ClassVar[Constraints] = {"atoms": (ATOMS,), "n_jobs": (JOBS, None)}

    def __init__(self, atoms: AtomLevel = "skeleton", n_jobs: int | None = None) -> None:
        self.atoms = atoms
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002  (nothing is learnt)
        """Check the parameters; nothing is learnt from the strings."""
        self._check_parameters()
        return self

    def transform(self, X: Iterable[str]) -> GraphBatch:
        """Read the strings.

        Parameters
        ----------
        X
            One SMILES per molecule: a list, an array or a column of a frame.

        Returns
        -------
        GraphBatch
            One graph per string, in the same order.
        """
        return from_smiles(X, atoms=self.atoms, n_jobs=self.n_jobs)

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # type: ignore[attr-defined]
        tags.input_tags.string = True  # type: ignore[attr-defined]
        return tags
