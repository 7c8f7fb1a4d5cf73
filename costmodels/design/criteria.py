"""Optimality criteria of a design, and how single runs change them.

With a row of terms f for each candidate and n runs of it, the information is M = sum of n f f'.
A criterion is tr(K' M^-1 K) for some K: homogeneous of degree -1 in n (twice the runs, half the
criterion), convex, and smaller is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costmodels.arrays import FloatArray


@dataclass(frozen=True)
class Criterion:
    """Criterion in a basis where the rows of all candidates are orthonormal on average."""

    # ``"a"`` or ``"i"``.
    name: str
    # shape (n, k): Terms of each candidate in that basis.
    rows: FloatArray
    # shape (k, p): K in that basis.
    root: FloatArray

    @property
    def terms(self) -> int:
        """Number of terms."""
        return int(self.rows.shape[1])

    def inverse(
        self, counts: npt.ArrayLike, ridge: float = 0.0, largest: float = 1e12
    ) -> FloatArray | None:
        """Return M^-1, or None if M (plus `ridge` times the identity) is singular.

        Above the `largest` condition terms are not identifiable.
        """
        matrix = (self.rows.T * np.asarray(counts, dtype=np.float64)) @ self.rows
        matrix += ridge * np.eye(self.terms)
        try:
            inverse: FloatArray = np.asarray(np.linalg.inv(matrix))
        except np.linalg.LinAlgError:
            return None
        condition = np.abs(matrix).max() * np.abs(inverse).max()
        return inverse if condition < largest else None

    def of_inverse(self, inverse: FloatArray) -> float:
        """Return the criterion for M^-1."""
        return float(np.sum(self.root * (inverse @ self.root)))

    def value(self, counts: npt.ArrayLike) -> float:
        """Return the criterion of a design; infinite if it cannot tell the terms apart."""
        inverse = self.inverse(counts)
        return float("inf") if inverse is None else self.of_inverse(inverse)

    def sensitivity(self, inverse: FloatArray) -> FloatArray:
        """Return how fast one more run of each candidate lowers the criterion, shape (n,).

        The negative derivative by the number of runs.
        """
        return np.asarray(((self.rows @ inverse @ self.root) ** 2).sum(axis=1))

    def after_adding(self, inverse: FloatArray) -> FloatArray:
        """Return the criterion after one more run of each candidate, shape (n,)."""
        spread = np.einsum("ij,ij->i", self.rows @ inverse, self.rows)
        return np.asarray(self.of_inverse(inverse) - self.sensitivity(inverse) / (1 + spread))


def make_criterion(
    name: str, rows: FloatArray, names: tuple[str, ...], targets: FloatArray
) -> Criterion:
    """Bring the rows of the candidates into an orthonormal basis.

    A is taken after dividing each term by its mean, so that it does not depend on units; I is the
    mean over the terms at the `targets`.
    """
    means = rows.mean(axis=0)
    scaled, wanted = rows / np.where(means > 0, means, 1.0), targets / np.where(means > 0, means, 1)
    for k in range(1, len(names) + 1):
        if np.linalg.matrix_rank(scaled[:, :k], tol=1e-9 * np.linalg.norm(scaled)) < k:
            raise ValueError(
                f"the {len(rows)} candidates cannot tell the term {names[k - 1]!r} from the others "
                f"({', '.join(names[: k - 1]) or 'it is 0 everywhere'}); other scales or machine "
                "counts, or fewer terms, are needed"
            )
    basis, triangle = np.linalg.qr(scaled)
    basis, triangle = basis * np.sqrt(len(rows)), triangle / np.sqrt(len(rows))
    root = np.linalg.inv(triangle).T
    if name == "i":
        values, vectors = np.linalg.eigh(root @ (wanted.T @ wanted) @ root.T / len(wanted))
        root = vectors * np.sqrt(np.maximum(values, 0))
    return Criterion(name, np.ascontiguousarray(basis), root)
