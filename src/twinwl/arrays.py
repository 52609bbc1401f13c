"""Short names for the array types that pass between layers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bool: TypeAlias = NDArray[np.bool_]
Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Ints: TypeAlias = NDArray[np.signedinteger]
"""Either width, whichever the values need."""
UInt64: TypeAlias = NDArray[np.uint64]
Float32: TypeAlias = NDArray[np.float32]
Float64: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[np.generic]
"""Of any type: classes, labels, columns of a table."""
