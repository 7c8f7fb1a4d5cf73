"""Limits on work and memory that a file, a stream or a request can cause; each has a name.

They are generous, and follow from the memory of the machine. The environment variable
``PREDICT_GRAPH_LIMITS`` sets others, as ``edges=2e9,unpacked_bytes=100e9``; so does ``--limit`` on
the command line, and :func:`limited` in a program. The sentence that refuses names the limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from predict_graph.errors import RequestError, unknown_name
from predict_graph.machine import control_groups, system_text
from predict_graph.texts import named_values, to_number

ENVIRONMENT = "PREDICT_GRAPH_LIMITS"


def whole_number(text: str | bytes, most: int = 2**63 - 1) -> int | None:
    """Return the number that ASCII digits are; None if they are none, or more than `most`.

    Examples
    --------
    >>> whole_number("12"), whole_number("²"), whole_number("9" * 5000)
    (12, None, None)
    """
    if not (text.isdigit() and text.isascii()):
        return None
    digits = text.lstrip("0" if isinstance(text, str) else b"0")  # type: ignore[arg-type]
    if len(digits) > 19:  # 2**63 has 19 digits; int() of thousands of them is slow, or refused
        return None
    value = int(digits or 0)
    return value if value <= most else None


@cache
def usable_memory() -> int:
    """Return the bytes of memory that this process may use: of the machine, or a control group."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for group in control_groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            found.append(whole_number(system_text(group / name).strip()) or found[0])
    return min(found)


@dataclass(frozen=True)
class Limits:
    """What is accepted at most.

    Attributes
    ----------
    unpacked_bytes : int
        Bytes that a compressed file unpacks to, or a stream sends. Four times the memory: text
        takes more room than the graph.
    unpack_ratio : float
        How many times larger than itself a compressed file may be unpacked, beyond its first
        64 MiB. Edge lists reach 10, event logs 50; files made to fill a disk 1000 and more.
    line_bytes : int
        Bytes of one line of a text file. A 64th of the memory, 64 MiB at least.
    document_bytes : int
        Bytes of a file that is read whole, unpacked: a model, a profile, a design, an exported
        history. A 32nd of the memory, 64 MiB at least.
    vertices, edges : int
        Of a graph in memory; an edge as stored. One for each 16 bytes of memory.
    nesting : int
        Levels of lists and objects in a JSON file.
    stream_seconds : float
        How long a stream (standard input, a FIFO) may send nothing.
    peer_seconds : float
        How long measuring the network to a peer may take.
    driver_bytes : int
        What a graph that stays on a Spark cluster may take of the memory of this process while a
        run on it is predicted.
    """

    unpacked_bytes: int = field(default_factory=lambda: 4 * usable_memory())
    line_bytes: int = field(default_factory=lambda: max(usable_memory() >> 6, 1 << 26))
    document_bytes: int = field(default_factory=lambda: max(usable_memory() >> 5, 1 << 26))
    vertices: int = field(default_factory=lambda: usable_memory() // 16)
    edges: int = field(default_factory=lambda: usable_memory() // 16)
    nesting: int = 100
    unpack_ratio: float = 300.0
    stream_seconds: float = 600.0
    peer_seconds: float = 60.0
    driver_bytes: int = 512_000_000


_sets: list[Limits] = []  # the last one holds


def limits() -> Limits:
    """Return the limits that hold now.

    Raises
    ------
    RequestError
        If the environment variable is not as it should be.
    """
    return _sets[-1] if _sets else Limits(**parse_limits(os.environ.get(ENVIRONMENT, "")))


@contextmanager
def limited(**values: float) -> Iterator[Limits]:
    """Set limits of this process for a while.

    Examples
    --------
    >>> with limited(edges=10):
    ...     limits().edges
    10
    """
    found = replace(limits(), **parse_limits(",".join(f"{k}={v}" for k, v in values.items())))
    _sets.append(found)
    try:
        yield found
    finally:
        _sets.remove(found)


def parse_limits(text: str) -> dict[str, Any]:
    """Return the limits that a text such as ``edges=2e9,nesting=50`` names.

    Raises
    ------
    RequestError
        If a name is unknown or a value is no number above 0.

    Examples
    --------
    >>> parse_limits("edges=2e9")
    {'edges': 2000000000}
    """
    found, kinds = {}, {each.name: each.type for each in fields(Limits)}
    texts = filter(str.strip, text.split(","))
    for name, value in named_values(texts, "the limit", "NAME=NUMBER", again=True).items():
        if name not in kinds:
            raise unknown_name("limit", name, kinds)
        number = to_number(value)
        if not 0 < number < 2**62:
            raise RequestError(f"the limit {name} is {value!r}; accepted: a number above 0")
        found[name] = int(number) if kinds[name] == "int" else number
    return found


def check_limit(name: str, value: float, said: str) -> None:
    """Refuse a value above a limit, by a sentence that begins with what is `said`.

    Examples
    --------
    >>> with limited(nesting=7):  # doctest: +ELLIPSIS
    ...     check_limit("nesting", 8, "g.json is nested too deeply")
    Traceback (most recent call last):
    predict_graph.errors.RequestError: g.json is nested too deeply; accepted: up to 7 levels (...)
    """
    if value > getattr(limits(), name):
        raise RequestError(f"{said}; accepted: up to {beyond(name)}")


def check_unpacked(what: str, unpacked: int, packed: int, always: int = 1 << 26) -> None:
    """Refuse compressed data that grow too much, while they are being unpacked.

    Parameters
    ----------
    what : str
        The file, for the error.
    unpacked, packed : int
        Bytes so far.
    always : int
        Bytes that every machine has, which are never refused.

    Raises
    ------
    RequestError
    """
    check_limit("unpacked_bytes", unpacked, f"{what} unpacks to too much")
    if unpacked > always + limits().unpack_ratio * packed:
        raise RequestError(
            f"{what} unpacks to more than it should; accepted: times its own size up to "
            f"{beyond('unpack_ratio')}"
        )


def check_size(what: str, **sizes: int) -> None:
    """Refuse a graph that has more vertices or edges than the limits say, before it is made.

    Raises
    ------
    RequestError
    """
    for name, size in sizes.items():
        check_limit(name, size, f"{what} has {size:,} {name}")


def beyond(name: str) -> str:
    """Return a limit in the words of an error: its value, its name and how to change it.

    Examples
    --------
    >>> with limited(nesting=7):
    ...     beyond("nesting")  # doctest: +ELLIPSIS
    '7 levels (the limit nesting, which --limit nesting=N before the command, or PREDICT_... sets)'
    """
    value = getattr(limits(), name)
    unit = {"bytes": " bytes", "seconds": " seconds", "nesting": " levels"}
    shown = f"{value:,g}" if isinstance(value, float) else f"{value:,}"
    shown += unit.get(name.rpartition("_")[2], "")
    how = f"--limit {name}=N before the command, or {ENVIRONMENT}"
    return f"{shown} (the limit {name}, which {how} sets)"
