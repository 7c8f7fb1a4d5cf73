"""Some edges of a graph, as they come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class EdgeBlock(NamedTuple):
    """Some edges of a graph, in the order of the file.

    Attributes
    ----------
    sources, targets : ndarray of int32 or int64, shape (k,)
        Of text ids, dictionary arrays of pyarrow until they are relabelled.
    weights : ndarray of float32, shape (k,), or None
    """

    sources: npt.NDArray[np.integer]
    targets: npt.NDArray[np.integer]
    weights: npt.NDArray[np.float32] | None = None
