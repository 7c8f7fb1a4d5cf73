"""Processor speed: integers, floating point, and the effective number of cores."""

from __future__ import annotations

from dataclasses import replace

from predict_graph.cores import usable_cores
from predict_graph.resources.kernels import floats, integers
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import in_turns, rate_of, side_by_side, summed_up

_UNIT = "million steps/s"
# A window of 0.2 s holds hundreds of these; consecutive runs are within 7% (docs/resources.md).
_STEPS = 200_000
_REPEATS = 7


def measure_processor(repeats: int = _REPEATS) -> dict[str, Measured]:
    """Measure one core, then all at once."""
    integers(1, 1), floats(1.0, 1)  # compiled, or loaded from cache

    def whole() -> float:
        integers(88172645463325252, _STEPS)
        return float(_STEPS)

    def real() -> float:
        floats(0.7, _STEPS)
        return float(_STEPS)

    cores = usable_cores()
    works = {
        "one": lambda: rate_of(whole) / 1e6,
        "broken": lambda: rate_of(real) / 1e6,
        "all": lambda: side_by_side(whole, cores) / 1e6,
    }
    found = in_turns(works, repeats)
    one = summed_up(found["one"], _UNIT)
    shares = [max(together / one.value, 1e-3) for together in found["all"]]
    busy = summed_up(shares, "cores")
    return {
        "cpu_integer_speed": one,
        "cpu_float_speed": summed_up(found["broken"], _UNIT),
        "cpu_cores": replace(busy, value=min(busy.value, float(cores))),
    }
