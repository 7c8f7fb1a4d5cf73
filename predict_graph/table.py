"""Named columns of equal length: what stages hand on, without pandas and what importing it costs.

Users get a DataFrame of the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import Array, BoolArray, FloatArray, IndexArray
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, npt.ArrayLike]


class Table:
    """Columns of equal length; not changed once made.

    Parameters
    ----------
    columns : mapping of str to array-like, DataFrame or Table
        A scalar stands for a column of the length of the others.

    Raises
    ------
    RequestError
        If two columns have the same name.

    Examples
    --------
    >>> table = Table({"iteration": [1, 2], "seconds": 0.5})
    >>> table.assign(total=table["seconds"].cumsum()).records()[1]
    {'iteration': 2, 'seconds': 0.5, 'total': 1.0}
    """

    def __init__(self, columns: Table | Columns | pd.DataFrame) -> None:
        arrays = {str(name): _array(values) for name, values in columns.items()}
        if len(arrays) < len([*columns]):
            raise RequestError("two columns of a table have the same name")
        self._length = max((each.size for each in arrays.values() if each.ndim), default=0)
        self._columns = {
            name: each if each.ndim else np.full(len(self), each) for name, each in arrays.items()
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def items(self) -> Any:
        """Return names with columns."""
        return self._columns.items()

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def floats(self, *names: str) -> FloatArray:
        """Return the sum of columns as floating-point numbers."""
        return np.asarray(np.sum([self[name].astype(np.float64) for name in names], axis=0))

    def assign(self, **columns: npt.ArrayLike) -> Table:
        """Return the table with other or further columns."""
        return Table({**self._columns, **columns})

    def without(self, *names: str) -> Table:
        """Return the table without some columns."""
        return Table({name: each for name, each in self.items() if name not in names})

    def take(self, rows: IndexArray | BoolArray | slice) -> Table:
        """Return some rows."""
        return Table({name: each[rows] for name, each in self.items()})

    def records(self) -> list[dict[str, Any]]:
        """Return each row as a mapping of plain numbers."""
        columns = [each.tolist() for each in self._columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def frame(self) -> pd.DataFrame:
        """Return the columns as a DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: each.copy() for name, each in self.items()})


def _array(values: Any) -> Array:
    """Return a column as an array; missing whole numbers become not-a-number."""
    array = np.asarray(values)
    if array.dtype == object and hasattr(values, "to_numpy"):
        with suppress(TypeError, ValueError):
            return np.asarray(values.to_numpy("f8", na_value=np.nan))
    return array
