"""Results as JSON: in a file, or on standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from predict_graph.files import check_writable, written_beside

STANDARD_OUTPUT = "-"


def check_json_target(target: str | None) -> str | None:
    """Return the target if it can be written, before any work is done."""
    if target is not None and target != STANDARD_OUTPUT:
        check_writable(Path(target))
    return target


def to_json(value: Any) -> str:
    """Return `value` as JSON; numpy numbers become plain, what is not finite becomes null.

    Examples
    --------
    >>> print(to_json({"a": float("inf"), "b": 1}))
    {
      "a": null,
      "b": 1
    }
    """
    return json.dumps(_plain(value), indent=2, allow_nan=False)


def write_json(value: Any, target: str | None) -> None:
    """Write `value` to a file, to standard output if `target` is ``-``, nowhere if it is None."""
    if target is None:
        return
    text = to_json(value) + "\n"
    if target == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    with written_beside(Path(target)) as beside:
        beside.write_text(text, encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
