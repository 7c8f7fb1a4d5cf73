"""Which machine this is, in words that stay the same, and which control groups limit a process."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_CGROUPS, _LISTED = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def code_folder() -> Path:
    """Return where numba keeps compiled code: beside the source, or else in the user's cache."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    beside = Path(__file__).parent / "__pycache__"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return beside if _may_be_written(beside) else Path(cache).absolute() / "predict-graph"


def _may_be_written(place: Path) -> bool:
    """Whether a folder is writable; of one that is not there, the nearest around it that is."""
    there = (each for each in (place, *place.parents) if os.access(each, os.F_OK))
    return os.access(next(there), os.W_OK)


def place_compiled_code() -> None:
    """Give numba a folder for compiled code in a process where it would find none, and fail."""
    if "NUMBA_CACHE_DIR" in os.environ or _may_be_written(code_folder()):
        return
    import atexit
    import shutil
    import tempfile

    with suppress(OSError):  # what needs no compiled code works without
        folder = os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="predict-graph-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


@lru_cache(maxsize=1)
def machine_identity() -> str:
    """Return processor model, number of logical cores and architecture.

    Costs learned on one machine say nothing of another; runs are comparable when this text is the
    same. It has no host name, so that the nodes of a uniform cluster count as one machine, and no
    clock rate or free memory, which change.

    Examples
    --------
    >>> machine_identity() == machine_identity()
    True
    """
    return f"{_processor()}, {os.cpu_count() or 1} cores, {platform.machine() or 'unknown'}"


def _processor() -> str:
    for line in system_text(Path("/proc/cpuinfo")).splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "cpu model") and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.system() or "unknown processor"


def control_groups(controller: str) -> list[Path]:
    """Return the control groups of this process that may limit it, and those around them."""
    found: list[Path] = []
    for line in system_text(_LISTED).splitlines():
        _, controllers, place = line.split(":", 2)
        roots = [_CGROUPS] if controllers == "" else []
        if controller in controllers.split(","):
            roots = [_CGROUPS / controllers, _CGROUPS / controller]
        for root in roots:
            group = root / place.lstrip("/")
            found += [group, *(each for each in group.parents if each.is_relative_to(root))]
    return [*dict.fromkeys(found)]


def system_text(file: Path) -> str:
    """Return a file of the system; nothing if it is not there."""
    with suppress(OSError):
        return file.read_text(encoding="utf-8", errors="replace")
    return ""
