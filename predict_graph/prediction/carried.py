"""A prediction carried to a machine on which nothing ran, by the profiles of both machines."""

from __future__ import annotations

from dataclasses import replace

from predict_graph.outcome.prediction import Prediction
from predict_graph.prediction.assembly import scaled
from predict_graph.resources import ResourceProfile, carried_factor

_ONE_THREAD = ("read", "write")


def carried(prediction: Prediction, here: ResourceProfile, there: ResourceProfile) -> Prediction:
    """Return what a run takes on another machine; iterations and messages stay as they are.

    Compiled phases take longer by the factor of all cores, reading and writing by that of one
    thread. The interval widens by how far the attributes of the two profiles disagree.

    Parameters
    ----------
    prediction : Prediction
        Learned on the machine of `here`.
    here, there : ResourceProfile

    Raises
    ------
    RequestError
        If a profile lacks an attribute.

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, section IV: resource profiles.
    """
    # 16 bytes a vertex, of the state before and after an iteration, are looked up at random.
    factor = carried_factor(here, there, 16 * int(prediction.graph["vertices"]))
    factors = {
        name: factor.single if name in _ONE_THREAD else factor.compute for name in prediction.phases
    }
    said = (
        f"carried from {here.machine} (measured {here.measured}) to {there.machine} (measured "
        f"{there.measured}) by their profiles; a run there may show costs that no profile has"
    )
    return replace(
        scaled(prediction, factors, factor.std),
        method={
            **prediction.method,
            "carried": {
                "to": there.machine,
                "compute_factor": factor.compute,
                "thread_factor": factor.single,
                "relative_std": factor.std,
            },
        },
        warnings=[*prediction.warnings, said],
        prior=None if prediction.prior is None else carried(prediction.prior, here, there),
        by_machines=[],
    )
