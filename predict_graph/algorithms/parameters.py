"""Algorithm parameters: one declaration for constructor, command line and serialization."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from predict_graph.errors import RequestError, unknown_name

Value = float | int | str | None


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm.

    Parameters
    ----------
    name : str
    kind : {float, int, str}
        Type of the value.
    default : float, int, str or None
    summary : str
        One-line description.
    low, high : float, optional
        Bounds of the accepted range, which include the bounds for `int` and exclude them for
        `float`.
    choices : tuple of str, optional
        Legal values of a text parameter.

    Examples
    --------
    >>> damping = Parameter("damping", float, 0.85, "share that follows edges", 0, 1)
    >>> damping.check("0.9")
    0.9
    """

    name: str
    kind: Callable[[Any], Any]
    default: Value
    summary: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()

    @property
    def accepted(self) -> str:
        """A description of the accepted values."""
        if self.choices:
            return ", ".join(self.choices)
        if self.kind is str:
            return "text"
        kind, least, most = "a number", "greater than", "less than"
        if self.kind is int:
            kind, least, most = "a whole number", "at least", "at most"
        bounds = [f"{least} {self.low:g}"] if self.low > -math.inf else []
        bounds += [f"{most} {self.high:g}"] if self.high < math.inf else []
        return f"{kind} {' and '.join(bounds)}".strip()

    def check(self, value: object) -> Value:
        """Convert a value, or text from a command line, to a legal value.

        Raises
        ------
        RequestError
            Names the parameter, the value and what is accepted.
        """
        if value is None and self.default is None:
            return None
        wrong = RequestError(f"{self.name} is {value!r}; accepted: {self.accepted}")
        if isinstance(value, bool):
            raise wrong
        try:
            converted = self.kind(value)
            exact = self.kind is not int or isinstance(value, str) or converted == value
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if self.kind is str:
            fits = not self.choices or converted in self.choices
        else:
            inside = self.low < converted < self.high  # NaN is not
            fits = exact and (inside or (self.kind is int and converted in (self.low, self.high)))
        if not fits:
            raise wrong
        result: Value = converted
        return result


# Limits runs that do not converge; graphs of docs/studies/accuracy.md take up to 299
MAX_ITERATIONS = Parameter("max_iterations", int, 500, "stop after so many iterations", 1)
"""The parameter that all algorithms share."""


def check_parameters(
    algorithm: str, declared: tuple[Parameter, ...], given: Mapping[str, object]
) -> dict[str, Value]:
    """Return all parameters of an algorithm: the given ones, validated, and the defaults."""
    names = {parameter.name for parameter in declared}
    for name in given:
        if name not in names:
            raise unknown_name(f"parameter of {algorithm}", name, names or {"none"})
    return {
        parameter.name: parameter.check(given.get(parameter.name, parameter.default))
        for parameter in declared
    }


def one_of(given: Mapping[str, Value], name: str, other: str, usual: Value) -> Mapping[str, Value]:
    """Return parameters with a value of one or of another, by default the usual one of the first.

    Examples
    --------
    >>> one_of({"tol": None, "rounds": None}, "tol", "rounds", 0.001)
    {'tol': 0.001, 'rounds': None}
    """
    if given[name] is not None and given[other] is not None:
        raise RequestError(f"{name} and {other} are both given; accepted: one of them")
    neither = given[name] is None and given[other] is None
    return {**given, name: usual} if neither else given


def literal(text: str) -> Any:
    """Return the value of a Python literal; else the text."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
