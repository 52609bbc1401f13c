"""Declared parameters: each estimator says what they may be, and `fit` checks all of them."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

from sklearn.base import BaseEstimator

from twinwl.arguments import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from twinwl.arguments import Constraint

__all__ = ["Constraints", "DeclaredParameters", "old_names"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")

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
        bases = cls.__mro__[::-1]
        cls._constraints = {
            name: c for base in bases for name, c in vars(base).get("_constraints", {}).items()
        }
        cls._renamed = {old: new for base in bases for old, new in vars(base).get("_renamed", {}).items()}
        if "__init__" in vars(cls) and cls._renamed:
            cls.__init__ = old_names(**cls._renamed)(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, as scikit-learn does."""
        super().set_params(**_with_new_names(params, self._renamed, warn=True))
        return self

    @classmethod
    def _with_params(cls, params: Mapping[str, object]) -> Self:
        """Return an estimator with the parameters of a model file, which may have the names of before."""
        self = cls(**_with_new_names(params, cls._renamed, warn=False))
        self._check_parameters()
        return self

    def _check_parameters(self) -> None:
        """Refuse the first parameter that is not as declared."""
        for name, value in self.get_params(deep=False).items():
            checked(name, value, *self._constraints[name])


def old_names(**renamed: str) -> Callable[[_Function], _Function]:
    """Let a function take arguments by the names that they had in the version before, with a FutureWarning.

    The signature stays that of the new names, which is where scikit-learn reads an estimator's parameters.

    >>> @old_names(graph="X")
    ... def explain(X):
    ...     return X
    >>> explain(X=1)
    1
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def renaming(*args: object, **kwargs: object) -> object:
            return function(*args, **_with_new_names(kwargs, renamed, warn=True))

        return cast("_Function", renaming)

    return decorate


def _with_new_names(params: Mapping[str, Any], renamed: Mapping[str, str], *, warn: bool) -> dict[str, Any]:
    for old in params.keys() & renamed.keys() if warn else ():
        message = f"the argument {old!r} is now called {renamed[old]!r}; the old name goes in version 0.3"
        warnings.warn(message, FutureWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in params.items()}
