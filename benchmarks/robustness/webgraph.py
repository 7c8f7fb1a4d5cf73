"""Writing WebGraph files, right ones and wrong ones: numbers first, then the bits of each."""

from __future__ import annotations

from itertools import groupby

Symbol = tuple[str, int]  # the code and the number

_SHORTEST = 3  # targets of an interval
_ZETA = 3


def symbols_of(rows: list[list[int]]) -> list[Symbol]:
    """Return the numbers that a BVGraph of these ascending rows is made of.

    Every other row refers to the one before it, by blocks; runs become intervals.
    """
    found: list[Symbol] = []
    for v, row in enumerate(rows):
        found.append(("gamma", len(row)))
        if not row:
            continue
        reference = 1 if v % 2 and rows[v - 1] else 0
        found.append(("unary", reference))
        left = row
        if reference:
            blocks = _blocks(rows[v - 1], row)
            found.append(("gamma", len(blocks)))
            found += [("gamma", length - (i > 0)) for i, length in enumerate(blocks)]
            left = [target for target in row if target not in rows[v - 1]]
        if left:
            found += _extras(v, left)
    return found


def _blocks(source: list[int], row: list[int]) -> list[int]:
    """Return the lengths of blocks, copied and skipped in turns; the last one is implied."""
    copied = [target in row for target in source]
    lengths = [len(list(block)) for _, block in groupby(copied)]
    return ([] if copied[0] else [0]) + lengths[:-1]


def _extras(v: int, left: list[int]) -> list[Symbol]:
    """Return the intervals of a row, and the other targets."""
    by_gap = groupby(enumerate(left), key=lambda pair: pair[1] - pair[0])
    runs = [[target for _, target in run] for _, run in by_gap]
    intervals = [run for run in runs if len(run) >= _SHORTEST]
    residuals = [target for run in runs if len(run) < _SHORTEST for target in run]
    found: list[Symbol] = [("gamma", len(intervals))]
    for i, run in enumerate(intervals):
        gap = run[0] - intervals[i - 1][-1] - 2 if i else _natural(run[0] - v)
        found += [("gamma", gap), ("gamma", len(run) - _SHORTEST)]
    for i, target in enumerate(residuals):
        gap = target - residuals[i - 1] - 1 if i else _natural(target - v)
        found.append(("zeta", gap))
    return found


def _natural(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def packed(symbols: list[Symbol]) -> bytes:
    """Return the bits of the numbers, padded by zeros to whole bytes."""
    bits = "".join(_CODES[code](max(number, 0)) for code, number in symbols)
    bits += "0" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big")


def _unary(number: int) -> str:
    return "0" * min(number, 4096) + "1"


def _gamma(number: int) -> str:
    binary = f"{number + 1:b}"
    return "0" * (len(binary) - 1) + binary


def _zeta(number: int) -> str:
    """Return the power of 2 ** zeta below a number in unary, then what is beyond it (minimal)."""
    number += 1
    h = (number.bit_length() - 1) // _ZETA
    low, width = 1 << (h * _ZETA), (h + 1) * _ZETA
    value = number - low
    return _unary(h) + (f"{value:0{width - 1}b}" if value < low else f"{number:0{width}b}")


_CODES = {"unary": _unary, "gamma": _gamma, "bits": "{:b}".format, "zeta": _zeta}


def properties(nodes: int, arcs: int, **others: object) -> str:
    """Return a properties file."""
    facts = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph",
        "version": 0,
        "nodes": nodes,
        "arcs": arcs,
        "windowsize": 2,
        "minintervallength": _SHORTEST,
        "zetak": _ZETA,
        "compressionflags": "",
        **others,
    }
    return "#BVGraph properties\n" + "".join(f"{key}={value}\n" for key, value in facts.items())
