"""Occupancy models: what a task does with a resource, and so what another resource would take.

A task is computing or waiting. Time per unit of data that it spends on either is its occupancy of
a resource; how occupancies follow from attributes of the resources carries a prediction to machines
on which the task never ran (Shivam, Babu, Chase: NIMO, 2005).

Examples
--------
>>> import pandas as pd
>>> from costmodels.occupancy import OccupancyModel
>>> machines = pd.DataFrame(
...     {"cpu_speed": [1, 2, 4, 1, 2, 4], "network_latency": [1, 1, 1, 3, 3, 3]}
... )
>>> seconds = 12 / machines["cpu_speed"] + 2 * machines["network_latency"]
>>> model = OccupancyModel().fit(machines, seconds)
>>> new = pd.DataFrame({"cpu_speed": [3.0], "network_latency": [2.0]})
>>> round(float(model.predict(new)[0]), 2)
8.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily

if TYPE_CHECKING:
    from costmodels.occupancy.active import first_assignments as first_assignments
    from costmodels.occupancy.active import next_assignment as next_assignment
    from costmodels.occupancy.model import OccupancyModel as OccupancyModel
    from costmodels.occupancy.model import occupancies_of as occupancies_of
    from costmodels.occupancy.overlap import OverlapModel as OverlapModel
    from costmodels.occupancy.predictor import OccupancyPredictor as OccupancyPredictor

__getattr__, __all__ = lazily(__name__)
