"""Resource profiles of machines: short measurements, files, and scaling times between machines.

Resource profiles are those of NIMO (2005, sections IV-A and IV-D): attributes of the resources,
measured without the task.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.resources.calibration import calibrate
    from predict_graph.resources.carrying import Carried, carried_factor
    from predict_graph.resources.profile import (
        Measured,
        ResourceProfile,
        read_profile,
        write_profile,
    )

__all__ = [
    "Carried",
    "Measured",
    "ResourceProfile",
    "calibrate",
    "carried_factor",
    "read_profile",
    "write_profile",
]

# Compiled loops load slowly: only measuring imports them, not reading a profile.
_PLACES = {
    "calibration": ("calibrate",),
    "carrying": ("Carried", "carried_factor"),
    "profile": ("Measured", "ResourceProfile", "read_profile", "write_profile"),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"predict_graph.resources.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
