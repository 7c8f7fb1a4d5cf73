"""Addresses of machines: a host and a port."""

from __future__ import annotations

import re

from predict_graph.limits import whole_number

_PLACE = re.compile(r"(?:(\[[^\[\]]+\]|[^:\[\]]*):)?(\d+)")  # in brackets, an address of IPv6


def host_and_port(text: str) -> tuple[str, int] | None:
    """Return host and port of ``HOST:PORT`` or ``PORT``; None if it is neither.

    Examples
    --------
    >>> host_and_port("10.0.0.7:7070"), host_and_port("[fe80::7]:7070"), host_and_port("7070")
    (('10.0.0.7', 7070), ('fe80::7', 7070), ('', 7070))
    >>> host_and_port("::1"), host_and_port("a:70700")
    (None, None)
    """
    found = _PLACE.fullmatch(text)
    port = None if found is None else whole_number(found[2], 65535)
    return None if found is None or port is None else ((found[1] or "").strip("[]"), port)


def place(host: str, port: int) -> str:
    """Return host and port as one writes them.

    Examples
    --------
    >>> place("fe80::7", 7070)
    '[fe80::7]:7070'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
