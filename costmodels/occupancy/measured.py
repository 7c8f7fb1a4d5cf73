"""Occupancies of a run, from what can be observed from outside (NIMO, Algorithm 1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.rows import check_positive


def occupancies_of(
    seconds: npt.ArrayLike,
    utilization: npt.ArrayLike = 1.0,
    data: npt.ArrayLike = 1.0,
    network_share: npt.ArrayLike = 1.0,
) -> pd.DataFrame:
    """Split the time of runs into occupancies (Algorithm 1).

    From ``U = o_a / (o_a + o_s)`` and ``D / t = 1 / (o_a + o_s)``; the stall ``o_s`` is split
    in proportion to the time that an average I/O spends in the network and in the storage.

    Parameters
    ----------
    seconds : array_like, shape (n,)
        Completion times, t.
    utilization : array_like
        Of the compute resource, in [0, 1].
    data : array_like
        Units of data that were read and written, D; positive.
    network_share : array_like
        Part of the time of an average I/O that is spent in the network, in [0, 1].

    Returns
    -------
    DataFrame
        One row a run: ``data``, and seconds a unit of it that the run computed (``compute``, o_a),
        and waited for the network (``network``, o_n) and for storage (``disk``, o_d).

    Raises
    ------
    ValueError
        If a value is out of range; the first one is named.

    Examples
    --------
    >>> occupancies_of(100.0, utilization=0.6, data=50.0, network_share=0.75).round(3)
       data  compute  network  disk
    0  50.0      1.2      0.6   0.2
    """
    time = np.atleast_1d(np.asarray(seconds, dtype=np.float64))
    busy, share, flow = (
        np.broadcast_to(np.asarray(given, dtype=np.float64), time.shape)
        for given in (utilization, network_share, data)
    )
    for name, values in {"utilization": busy, "network_share": share}.items():
        wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
        if len(wrong):
            value = values[wrong[0]]
            raise ValueError(f"{name} of row {wrong[0]} is {value:g}, but must be from 0 to 1")
    check_positive("seconds", time)
    check_positive("data", flow)
    a_unit = time / flow
    stalled = a_unit * (1.0 - busy)
    network = stalled * share
    parts = {"compute": a_unit * busy, "network": network, "disk": stalled - network}
    return pd.DataFrame({"data": flow, **parts})
