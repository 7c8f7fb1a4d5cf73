"""The term library: how the time of a job may grow with its data and its machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from costmodels.arrays import FloatArray

Columns = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Term:
    """One term of a linear scaling model.

    Attributes
    ----------
    name : str
        As it appears in formulas, such as ``"scale/machines"``.
    function : callable
        Takes the `columns` in order, arrays of shape (n,), and returns shape (n,); vectorised. A
        function of a module (not a lambda) lets fitted models be pickled.
    units : str
        Unit of the term; its coefficient has seconds per this unit.
    columns : tuple of str
        Columns that the function takes.

    Examples
    --------
    >>> import numpy as np
    >>> cores = Term("1/cores", lambda cores: 1 / cores, "1/core", columns=("cores",))
    >>> cores({"cores": np.array([2.0, 4.0])})
    array([0.5 , 0.25])
    """

    name: str
    function: Callable[..., FloatArray]
    units: str = "1"
    columns: tuple[str, ...] = ("scale", "machines")

    def __call__(self, columns: Columns) -> FloatArray:
        """Return the value of the term at each configuration.

        Raises
        ------
        ValueError
            If a column is missing, or a value is not finite or negative.
        """
        missing = [name for name in self.columns if name not in columns]
        if missing:
            raise ValueError(
                f"the term {self.name!r} needs the column {missing[0]!r}; "
                f"there are: {', '.join(columns)}"
            )
        inputs = [columns[name] for name in self.columns]
        values: FloatArray = np.asarray(self.function(*inputs), dtype=np.float64)
        if values.shape != inputs[0].shape:
            raise ValueError(
                f"the term {self.name!r} returned the shape {values.shape} for "
                f"{inputs[0].shape[0]} configurations"
            )
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(wrong):
            at = ", ".join(f"{name}={columns[name][wrong[0]]:g}" for name in self.columns)
            raise ValueError(
                f"the term {self.name!r} is {values[wrong[0]]:g} at {at}, "
                "but a term must be finite and 0 or more"
            )
        return values


def _product(scale: FloatArray, machines: FloatArray, powers: tuple[float, ...]) -> FloatArray:
    """Return the product of powers of scale, machines and their logarithms.

    Logarithms are cut off at 0: below one machine (or one unit of data) they would be negative, and
    a negative term makes a cost of a gain.
    """
    logs = np.log(np.maximum(scale, 1.0)), np.log(np.maximum(machines, 1.0))
    factors = zip((scale, machines, *logs), powers, strict=True)
    return np.asarray(np.prod([base**power for base, power in factors], axis=0))


TERMS = {
    name: Term(name, partial(_product, powers=powers), units)
    for name, units, powers in (
        ("1", "1", (0.0, 0.0, 0.0, 0.0)),
        ("scale/machines", "scale/machine", (1.0, -1.0, 0.0, 0.0)),
        ("log(machines)", "log machine", (0.0, 0.0, 0.0, 1.0)),
        ("machines", "machine", (0.0, 1.0, 0.0, 0.0)),
        ("sqrt(machines)", "sqrt machine", (0.0, 0.5, 0.0, 0.0)),
        ("scale", "scale", (1.0, 0.0, 0.0, 0.0)),
        ("sqrt(scale)", "sqrt scale", (0.5, 0.0, 0.0, 0.0)),
        ("sqrt(scale/machines)", "sqrt(scale/machine)", (0.5, -0.5, 0.0, 0.0)),
        ("(scale/machines)^2", "(scale/machine)^2", (2.0, -2.0, 0.0, 0.0)),
        ("scale^2/machines", "scale^2/machine", (2.0, -1.0, 0.0, 0.0)),
        ("scale^2", "scale^2", (2.0, 0.0, 0.0, 0.0)),
        ("scale log(scale)/machines", "scale log scale/machine", (1.0, -1.0, 1.0, 0.0)),
        ("scale log(scale)^2/machines", "scale log^2 scale/machine", (1.0, -1.0, 2.0, 0.0)),
        ("scale log(machines)/machines", "scale log machine/machine", (1.0, -1.0, 0.0, 1.0)),
    )
}
"""The term library by name; simple terms first, because of equals the first one is taken."""

ERNEST = ("1", "scale/machines", "log(machines)", "machines")
MASHA = ("scale/machines", "scale^2", "machines", "scale log(scale)/machines")


def check_terms(terms: Iterable[str | Term]) -> tuple[Term, ...]:
    """Look names up in the library, and refuse what is no term or comes twice.

    Raises
    ------
    ValueError
        If there is no term, a name is unknown, or a name comes twice.

    Examples
    --------
    >>> [term.units for term in check_terms(["1", "scale/machines"])]
    ['1', 'scale/machine']
    """
    if isinstance(terms, str | Term):
        raise ValueError(f"terms is {terms!r}, but must be a list of names or terms")
    found: list[Term] = []
    for term in terms:
        if isinstance(term, str) and term not in TERMS:
            raise ValueError(f"unknown term {term!r}; accepted: {', '.join(TERMS)}")
        if not isinstance(term, str | Term):
            raise ValueError(f"terms has {term!r}, which is neither a name nor a Term")
        found.append(TERMS[term] if isinstance(term, str) else term)
    names = [term.name for term in found]
    if not names:
        raise ValueError("terms is empty, but a model needs at least one term")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the term {twice!r} comes twice")
    return tuple(found)
