"""Resource profiles of machines: short measurements, files, and scaling times between machines.

Resource profiles are those of NIMO (2005, sections IV-A and IV-D): attributes of the resources,
measured without the task.
"""

from __future__ import annotations

from predict_graph.resources.calibration import calibrate
from predict_graph.resources.profile import (
    Measured,
    ResourceProfile,
    carried_factor,
    read_profile,
    write_profile,
)

__all__ = [
    "Measured",
    "ResourceProfile",
    "calibrate",
    "carried_factor",
    "read_profile",
    "write_profile",
]
