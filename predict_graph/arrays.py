"""Names of array types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.integer]
IntArray = npt.NDArray[np.int64]
