"""Damaging a valid file: blindly, and knowing its structure."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.robustness import webgraph
from benchmarks.robustness.formats import Format, rows_of
from predict_graph.documents import _checksum

Random = np.random.Generator

_LARGE = (2**31 - 1, 2**31, 2**32, 2**33, 2**53, 2**61, 2**62 - 1, 2**62, 2**63 - 1)
_NUMBERS = [str(n) for n in (*_LARGE, 2**63, 2**64, -1, 0, -(2**63))] + [
    *("9" * 30, "9" * 5000, "1e308", "1e999", "nan", "inf", "0x10", "1_000", "²", "٣"),
    *("", "-", ".", "1.5", "1e-400", "00000000000000000000001"),
]
_MARKS = [
    *(b"\r", b"\n", b"\0", b"\t", b",", b";", b'"', b'""', b"#", b"%", b" ", b"\x1b[2J"),
    *(b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"[" * 300, b"{}", b"null"),
]
_VALUES: list[Any] = [
    *(None, True, -1, 0, 2**31, 2**63, 10**40, 1.5, 1e308, float("nan"), float("inf")),
    *("", "x", "\x1b[31m", "a" * 300, [], {}, [[]], [None], {"a": {}}),
]


def damaged(form: Format, seeds: Path, place: Path, random: Random) -> tuple[Path, bool]:
    """Write a damaged copy of a format's valid file.

    Returns
    -------
    path : Path
        What is to be read.
    blind : bool
        Whether a checksum of the format has to notice the damage: it was not made anew.
    """
    source, path = seeds / form.file, place / form.file
    if form.kind == "webgraph":
        _webgraph(path, random)
        return path, False
    if form.kind == "sqlite":
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return path, _sqlite(source, path, random)
    if form.kind == "npz" and random.random() < 0.5:
        _npz(source, path, random)
        return path, False
    if form.kind == "json" and random.random() < 0.6:
        return path, _json(source, path, random)
    content = source.read_bytes()
    blind = True
    if form.kind == "packed" and random.random() < 0.5:
        content, blind = _repacked(path, content, random), False
    else:
        content = _blindly(content, random, text=form.kind == "text")
    path.write_bytes(content)
    return path, blind


def _blindly(content: bytes, random: Random, *, text: bool) -> bytes:
    """Change some bytes, or numbers and fields of a text."""
    wrong = bytearray(content)
    for _ in range(int(random.choice([1, 1, 1, 2, 4, 16]))):
        if not wrong:
            break
        at = int(random.integers(len(wrong)))
        way = random.integers(11 if text else 8)
        if way == 0:
            wrong[at] ^= 1 << int(random.integers(8))
        elif way == 1:
            wrong[at] = int(random.integers(256))
        elif way == 2:
            del wrong[at:]
        elif way == 3:
            del wrong[at : at + int(random.integers(1, 64))]
        elif way == 4:
            wrong[at:at] = wrong[max(at - 40, 0) : at] * int(random.choice([1, 2, 50]))
        elif way == 5:
            wrong[at:at] = _MARKS[random.integers(len(_MARKS))]
        elif way == 6:
            width = int(random.choice([4, 8]))
            number = int(random.choice([0, 1, 2**31 - 1, 2**32 - 1])) % 2 ** (8 * width)
            order = "little" if random.random() < 0.5 else "big"
            wrong[at : at + width] = number.to_bytes(width, order)  # type: ignore[arg-type]
        elif way == 7:
            wrong[at : at + 8] = random.bytes(8)
        else:
            _number(wrong, at, random)
    return bytes(wrong)


def _number(wrong: bytearray, at: int, random: Random) -> None:
    """Put another number in the place of the next one."""
    digits = re.compile(rb"\d+|\Z").search(wrong, at)
    assert digits is not None
    wrong[slice(*digits.span())] = _NUMBERS[random.integers(len(_NUMBERS))].encode()


def _repacked(path: Path, content: bytes, random: Random) -> bytes:
    """Damage what is inside of a compressed file; its own checksum is right."""
    if path.suffix == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
            plain = _blindly(stream.read(), random, text=True)
        return pa.compress(plain, codec="zstd", asbytes=True)
    if path.suffix != ".gz":
        codec = bz2 if path.suffix == ".bz2" else lzma
        return codec.compress(_blindly(codec.decompress(content), random, text=True))
    plain = _blindly(gzip.decompress(content), random, text=True)
    cut = int(random.integers(len(plain) + 1))
    parts = [plain] if random.random() < 0.5 else [plain[:cut], plain[cut:], b""]
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


def _webgraph(path: Path, random: Random) -> None:
    """Change numbers of the bit stream, bits, or properties."""
    rows = rows_of(int(random.integers(1, 6)), int(random.choice([10, 14, 60])))
    symbols = webgraph.symbols_of(rows)
    facts: dict[str, Any] = {"nodes": len(rows), "arcs": sum(map(len, rows))}
    way = random.integers(4)
    if way <= 1:
        for _ in range(int(random.choice([1, 1, 2, 8]))):
            at = int(random.integers(len(symbols)))
            code, number = symbols[at]
            change = int(random.choice([-2, -1, 1, 2, 7, len(rows)]))
            other = number + change if random.random() < 0.5 else int(random.choice(_LARGE))
            kinds = ["gamma", "zeta", "unary", "bits"]
            code = code if random.random() < 0.9 else str(random.choice(kinds))
            symbols[at] = (code, other)
    content = webgraph.packed(symbols)
    if way == 2:
        content = _blindly(content, random, text=False)
    if way == 3 or random.random() < 0.2:
        names = ["nodes", "arcs", "windowsize", "minintervallength", "zetak", "bitsforblocks"]
        for _ in range(int(random.integers(1, 3))):
            facts[str(random.choice(names))] = str(random.choice(_NUMBERS))
        if random.random() < 0.3:
            parts = ["OUTDEGREES", "BLOCKS", "RESIDUALS", "REFERENCES", "BLOCK_COUNT", "OFFSETS"]
            codes = ["UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB"]
            facts["compressionflags"] = f"{random.choice(parts)}_{random.choice(codes)}"
    text = webgraph.properties(**facts).encode()
    if random.random() < 0.1:
        text = _blindly(text, random, text=True)
    path.write_bytes(content)
    path.with_suffix(".properties").write_bytes(text)


def _array(array: np.ndarray[Any, Any], random: Random) -> np.ndarray[Any, Any]:
    """Return an array with other values, of another type, shape or length."""
    other = array.copy().reshape(-1) if array.ndim == 0 else array.copy()
    way = random.integers(9)
    if way <= 3 and other.size:
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(other.size))
            value = int(random.choice([-1, 0, 1, 59, 60, 2**31 - 1, *_LARGE, -(2**31)]))
            with np.errstate(all="ignore"):
                other.flat[at] = np.array(value).astype(other.dtype)
    elif way == 4:
        kinds = [">i4", "<i8", ">i8", "f4", "f8", "u4", "u8", "i2", "S3", "U2", "?", "c8"]
        kind = str(random.choice(kinds))
        other = other.astype(kind) if other.dtype.kind in "biuf" else other[:0].astype(kind)
    elif way == 5:
        other = other[: int(random.integers(other.size + 1))].reshape(-1)
    elif way == 6:
        other = np.concatenate([other.reshape(-1), other.reshape(-1)[:3]])
    elif way == 7:
        other = other.reshape(1, -1)
    else:
        other = random.permutation(other.reshape(-1))
    return other


def _npz(source: Path, path: Path, random: Random) -> None:
    """Change, drop or add an array."""
    with np.load(source) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = str(random.choice(list(arrays)))
    if random.random() < 0.1:
        del arrays[name]
    elif random.random() < 0.1:
        arrays[str(random.choice(["format", "labels", "label_texts", "weights"]))] = arrays[name]
    else:
        arrays[name] = _array(arrays[name], random)
    save = np.savez if random.random() < 0.5 else np.savez_compressed
    save(path, **arrays)


def _json(source: Path, path: Path, random: Random) -> bool:
    """Put another value somewhere in a document; return whether its checksum is that of before."""
    document = json.loads(source.read_text())
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(document)
    for _ in range(int(random.choice([1, 1, 3]))):
        node, key = places[random.integers(len(places))]
        if random.random() < 0.15 and isinstance(node, dict):
            node.pop(key, None)
        else:
            node[key] = _VALUES[random.integers(len(_VALUES))]
    blind = "checksum" in document and random.random() < 0.3
    if not blind and "checksum" in document:
        document["checksum"] = _checksum(document)
    text = json.dumps(document)
    if random.random() < 0.05:
        text = "[" * int(random.choice([50, 500, 50_000])) + text
    path.write_text(text)
    return blind


def _sqlite(source: Path, path: Path, random: Random) -> bool:
    """Damage bytes of the file, or a cell of a table."""
    if random.random() < 0.4:
        path.write_bytes(_blindly(source.read_bytes(), random, text=False))
        return False
    shutil.copyfile(source, path)
    with sqlite3.connect(path) as connection:
        table = "tables" if random.random() < 0.3 else "runs"
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = str(random.choice([name for name in columns if name not in ("id", "run")]))
        value = _VALUES[random.integers(len(_VALUES))]
        if isinstance(value, list | dict):
            value = json.dumps(value)
        if isinstance(value, int) and abs(value) >= 2**63:
            value = float(value)
        if random.random() < 0.2:
            value = random.bytes(9)
        key = "run" if table == "tables" else "id"
        with suppress(sqlite3.IntegrityError):
            statement = f"UPDATE {table} SET {column} = ? WHERE {key} = 2"
            connection.execute(statement, (value,))
    connection.close()
    return False
