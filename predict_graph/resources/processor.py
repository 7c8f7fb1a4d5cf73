"""Speed of the processor: integers, floating point, and how many cores there really are."""

from __future__ import annotations

from predict_graph.resources.cores import usable_cores
from predict_graph.resources.kernels import floats, integers
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import rate_of, side_by_side, summed_up

__all__ = ["measure_processor"]

_STEPS = 200_000
_REPEATS = 7


def measure_processor(repeats: int = _REPEATS) -> dict[str, Measured]:
    """Measure one core, then all at once.

    Returns
    -------
    dict of str to Measured
        ``cpu_integer_speed`` and ``cpu_float_speed`` of one thread, in million steps a second, and
        ``cpu_cores``: steps of all threads together over those of one. A quota below all cores
        shows in it.
    """
    integers(1, 1), floats(1.0, 1)  # compiled, or loaded

    def whole() -> float:
        integers(88172645463325252, _STEPS)
        return float(_STEPS)

    def real() -> float:
        floats(0.7, _STEPS)
        return float(_STEPS)

    one = [rate_of(whole) for _ in range(repeats)]
    broken = [rate_of(real) for _ in range(repeats)]
    both = [side_by_side(whole, usable_cores()) for _ in range(repeats)]
    return {
        "cpu_integer_speed": summed_up([value / 1e6 for value in one], "million steps/s"),
        "cpu_float_speed": summed_up([value / 1e6 for value in broken], "million steps/s"),
        "cpu_cores": summed_up(
            [max(all_of_them / alone, 1e-3) for all_of_them, alone in zip(both, one, strict=True)],
            "cores",
        ),
    }
