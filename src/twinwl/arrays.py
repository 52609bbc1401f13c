"""Types of arrays, by the kind of their elements, and other types that many modules share."""

from pathlib import Path
from typing import Any, TypeAlias

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
Floats: TypeAlias = NDArray[np.floating]
"""Of either precision."""
Values: TypeAlias = NDArray[np.generic]
"""Of any type: classes, labels, columns of a table."""
Array: TypeAlias = NDArray[Any]
"""What a user passed, before its type is checked."""
Names: TypeAlias = tuple[str, ...]
AnyPath: TypeAlias = str | Path
Columns: TypeAlias = dict[str, list[Any]]
"""The cells of a table, by the names of its columns."""
Fields: TypeAlias = dict[str, Any]
"""Values by name: the state of a model, a manifest, what a page shows."""
