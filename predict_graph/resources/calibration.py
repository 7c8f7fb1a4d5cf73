"""Measuring all resources of this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from predict_graph.machine import machine_identity
from predict_graph.resources.profile import Measured, ResourceProfile
from predict_graph.resources.storage import measure_storage
from predict_graph.timing import clock

_NO_READS = "the file system lets no reading pass its cache: disk_read_bandwidth is absent"


def calibrate(
    *,
    folder: Path | None = None,
    peer: tuple[str, int] | None = None,
    disk: bool = True,
    progress: Callable[[str, float], None] | None = None,
) -> ResourceProfile:
    """Measure this machine; takes about 15 seconds.

    Parameters
    ----------
    folder : Path, optional
        Folder on the disk to measure; that of temporary files by default.
    peer : tuple of (str, int), optional
        Host and port of another machine; the network to it is measured.
    disk : bool, default True
        Whether to measure it.
    progress : callable, optional
        Called with the current measurement and the completed share.

    Raises
    ------
    JobError
        If the disk cannot be written, or the peer does not answer.

    References
    ----------
    Shivam, Babu, Chase: NIMO, 2005, section IV-D.
    """
    # Compiled loops load slowly: reading a profile does without them.
    from predict_graph.resources.loops import measure_memory, measure_processor
    from predict_graph.resources.network import measure_network

    tell = progress or (lambda _what, _done: None)
    began = clock.wall()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    attributes: dict[str, Measured] = {}
    # Measurements that can fail come first.
    if peer is not None:
        tell("network", 0.0)
        attributes |= measure_network(peer)
    if disk:
        tell("disk", 0.1)
        attributes |= measure_storage(folder or Path(tempfile.gettempdir()))
    tell("processor", 0.3)
    attributes |= measure_processor()
    tell("memory", 0.6)
    attributes |= measure_memory()
    tell("done", 1.0)
    notes = (_NO_READS,) if disk and "disk_read_bandwidth" not in attributes else ()
    return ResourceProfile(machine_identity(), date, clock.wall() - began, attributes, notes)
