"""Writing WebGraph files, right ones and wrong ones: numbers first, then the bits of each."""

from __future__ import annotations

Symbol = tuple[str, int]  # the code and the number


def symbols_of(rows: list[list[int]], shortest: int = 3, window: int = 2) -> list[Symbol]:
    """Return the numbers that a BVGraph of these ascending rows is made of.

    Every other row refers to the one before it, by blocks; runs become intervals.
    """
    found: list[Symbol] = []
    for v, row in enumerate(rows):
        found.append(("gamma", len(row)))
        if not row:
            continue
        reference = 1 if v % 2 and rows[v - 1] else 0
        if window:
            found.append(("unary", reference))
        left = row
        if reference:
            blocks, left = _blocks(rows[v - 1], row)
            found.append(("gamma", len(blocks)))
            found += [("gamma", length - (i > 0)) for i, length in enumerate(blocks)]
        if left:
            found += _extras(v, left, shortest)
    return found


def _blocks(source: list[int], row: list[int]) -> tuple[list[int], list[int]]:
    """Return the lengths of blocks, copied and skipped in turns, and what was not copied."""
    kept = [target in row for target in source]
    blocks: list[int] = []
    state, length = True, 0
    for each in kept:
        if each != state:
            blocks.append(length)
            state, length = each, 0
        length += 1
    if len(blocks) % 2 == 1 and state:
        blocks.append(length)
    copied, at = [], 0
    for i, length in enumerate(blocks):
        if i % 2 == 0:
            copied += source[at : at + length]
        at += length
    if len(blocks) % 2 == 0:
        copied += source[at:]
    return blocks, [target for target in row if target not in copied]


def _extras(v: int, left: list[int], shortest: int) -> list[Symbol]:
    intervals, residuals, at = [], [], 0
    while at < len(left):
        end = at
        while end + 1 < len(left) and left[end + 1] == left[end] + 1:
            end += 1
        length = end - at + 1
        if shortest and length >= shortest:
            intervals.append((left[at], length))
        else:
            residuals += left[at : end + 1]
        at = end + 1
    found: list[Symbol] = []
    if shortest:
        found.append(("gamma", len(intervals)))
        before = 0
        for i, (begin, length) in enumerate(intervals):
            gap = _natural(begin - v) if i == 0 else begin - before - 1
            found += [("gamma", gap), ("gamma", length - shortest)]
            before = begin + length
    before = 0
    for i, target in enumerate(residuals):
        found.append(("zeta", _natural(target - v) if i == 0 else target - before - 1))
        before = target
    return found


def _natural(number: int) -> int:
    return 2 * number if number >= 0 else -2 * number - 1


def packed(symbols: list[Symbol], zeta: int = 3) -> bytes:
    """Return the bits of the numbers, padded by zeros to whole bytes."""
    parts = []
    for code, number in symbols:
        number = max(number, 0)
        if code == "unary":
            parts.append("0" * min(number, 4096) + "1")
        elif code == "gamma":
            parts.append(_gamma(number))
        elif code == "bits":
            parts.append(f"{number:b}")
        else:
            parts.append(_zeta(number, zeta))
    bits = "".join(parts)
    bits += "0" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big")


def _gamma(number: int) -> str:
    binary = f"{number + 1:b}"
    return "0" * (len(binary) - 1) + binary


def _zeta(number: int, k: int) -> str:
    number += 1
    h = (number.bit_length() - 1) // k
    low, high = 1 << (h * k), 1 << ((h + 1) * k)
    value, width = number - low, (h + 1) * k
    short = high - low
    spare = (1 << width) - short
    head = "0" * h + "1"
    if value < spare:
        return head + (f"{value:0{width - 1}b}" if width > 1 else "")
    return head + f"{value + spare:0{width}b}"


def properties(nodes: int, arcs: int, **others: object) -> str:
    """Return a properties file."""
    facts = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph",
        "version": 0,
        "nodes": nodes,
        "arcs": arcs,
        "windowsize": 2,
        "minintervallength": 3,
        "zetak": 3,
        "compressionflags": "",
        **others,
    }
    return "#BVGraph properties\n" + "".join(f"{key}={value}\n" for key, value in facts.items())
