"""Declared parameters: each estimator says what they may be, and `fit` checks all of them."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from sklearn.base import BaseEstimator

from twinwl.arguments import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from twinwl.arguments import Constraint

__all__ = ["Constraints", "DeclaredParameters"]

Constraints: TypeAlias = "Mapping[str, tuple[Constraint | None, ...]]"


class DeclaredParameters(BaseEstimator):
    """Base of every estimator here.

    A subclass declares in ``_constraints`` what each parameter may be that its bases do not declare, and in
    ``_renamed`` the names that parameters had in the version before; these keep working, with a
    FutureWarning. As in scikit-learn, ``__init__`` and ``set_params`` take everything; ``fit`` calls
    ``_check_parameters`` first.
    """

    _constraints: ClassVar[Constraints] = {}
    _renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        bases = reversed(cls.__mro__)
        cls._constraints = {
            name: c for base in bases for name, c in vars(base).get("_constraints", {}).items()
        }
        if "__init__" in vars(cls) and cls._renamed:
            cls.__init__ = _taking_old_names(cls.__init__, cls._renamed)  # type: ignore[method-assign]

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, as scikit-learn does."""
        super().set_params(**with_new_names(params, self._renamed, warn=True))
        return self

    @classmethod
    def _with_params(cls, params: Mapping[str, object]) -> Self:
        """Return an estimator with the parameters of a model file, which may have the names of before."""
        self = cls(**with_new_names(params, cls._renamed, warn=False))
        self._check_parameters()
        return self

    def _check_parameters(self) -> None:
        """Refuse the first parameter that is not as declared."""
        for name, value in self.get_params(deep=False).items():
            checked(name, value, *self._constraints[name])


def with_new_names(params: Mapping[str, Any], renamed: Mapping[str, str], *, warn: bool) -> dict[str, Any]:
    """Return parameters under the names that they have now.

    >>> with_new_names({"progress": False}, {"progress": "verbose"}, warn=False)
    {'verbose': False}
    """
    old_names = [name for name in params if name in renamed]
    if warn and old_names:
        old, new = old_names[0], renamed[old_names[0]]
        warnings.warn(
            f"the parameter {old!r} is now called {new!r}; the old name goes in version 0.3",
            FutureWarning,
            stacklevel=3,
        )
    return {renamed.get(name, name): value for name, value in params.items()}


def _taking_old_names(init: Callable[..., None], renamed: Mapping[str, str]) -> Callable[..., None]:
    """Wrap ``__init__``; scikit-learn reads the parameters' names off the signature, which stays."""

    @functools.wraps(init)
    def with_old_names(self: object, *args: object, **kwargs: object) -> None:
        init(self, *args, **with_new_names(kwargs, renamed, warn=True))

    return with_old_names
