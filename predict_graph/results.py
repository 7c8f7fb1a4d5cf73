"""The base of results: text, table, picture and comparison, each in one way."""

from __future__ import annotations

import json
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer
from predict_graph.pictures import Picture, draw_together
from predict_graph.printable import printable

if TYPE_CHECKING:
    import pandas as pd


class Value:
    """Base of a dataclass that holds arrays or tables.

    ``==`` compares all fields, arrays and tables as wholes; ``repr`` is one line.
    """

    def __eq__(self, other: object) -> bool:
        return _text(self) == _text(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in vars(self).items())
        return " ".join(f"{type(self).__name__}({fields})".split())


class Result(Value, ABC):
    """Base of a result: an answer, with the table and the pictures behind it."""

    @property
    @abstractmethod
    def answer(self) -> Answer:
        """The answer in one sentence, and what it rests on."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the result is about."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return the result, ready for JSON."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the numbers of the result as a table."""

    def pictures(self) -> list[Picture]:
        """Return what :meth:`plot` draws; nothing by default."""
        return []

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the result.

        Parameters
        ----------
        path : str or Path, optional
            File of the picture; by default it is only returned.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        RequestError
            If matplotlib is not installed (extra ``plot``), `path` cannot be written, or there is
            nothing to draw.
        """
        return draw_together(self.pictures(), self.title, None if path is None else Path(path))

    def __repr__(self) -> str:
        return printable(f"<{type(self).__name__}: {self.answer.sentence}>")

    def __str__(self) -> str:
        return str(self.answer)

    def _repr_html_(self) -> str:
        return self.answer.to_html()


def _text(value: Any) -> str:
    """Return all fields as text; arrays and tables as lists."""
    return json.dumps(vars(value), default=plain)


def plain(value: Any) -> Any:
    """Return what JSON may have in place of a value: lists of arrays, fields of objects."""
    if isinstance(value, Mapping):
        return dict(value)
    for convert in ("tolist", "to_dict"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return vars(value) if hasattr(value, "__dict__") and not callable(value) else repr(value)
