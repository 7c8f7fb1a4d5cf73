"""The programs of the study: graph algorithms and ordinary ones, each on a remote file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes
    ----------
    name : str
    command : callable
        From host, port, file and scratch folder to words.
    input : str
        ``"text"`` or ``"graph"``.
    parallelism : int
        Cores that it would use.
    """

    name: str
    command: Callable[[str, int, str, Path], list[str]]
    input: str
    parallelism: int = 1


def _piped(then: str, ahead: int = 1) -> Callable[[str, int, str, Path], list[str]]:
    def command(host: str, port: int, file: str, scratch: Path) -> list[str]:
        read = f"{sys.executable} -m benchmarks.nimo.storage read {host} {port} {file}"
        return ["sh", "-c", f"{read} --ahead {ahead} | {then} > /dev/null"]

    return command


def _fetched(then: str) -> Callable[[str, int, str, Path], list[str]]:
    def command(host: str, port: int, file: str, scratch: Path) -> list[str]:
        read = f"{sys.executable} -m benchmarks.nimo.storage read {host} {port} {file}"
        here = scratch / file
        run = f"{sys.executable} -m predict_graph {then.format(graph=here)}"
        return ["sh", "-c", f"{read} > {here} && {run} > /dev/null"]

    return command


PROGRAMS = (
    Program("gzip", _piped("gzip -6"), "text"),
    Program("sort", _piped("LC_ALL=C sort -S 200M"), "text"),
    Program("sha256sum, reading ahead", _piped("sha256sum", ahead=8), "text"),
    Program("pagerank", _fetched("run pagerank {graph} --threads 1 --history none"), "graph"),
    Program(
        "connected-components",
        _fetched("run connected-components {graph} --threads 1 --history none"),
        "graph",
    ),
)


def make_inputs(folder: Path) -> None:
    """Write the inputs, ``graph.txt`` and ``text.txt``: 600,000 edges, hubs among the small ids."""
    rng = np.random.default_rng(0)
    ends = (60_000 * rng.random((600_000, 2)) ** 2).astype(int)
    text = "\n".join(f"{a}\t{b}" for a, b in ends.tolist()) + "\n"
    for kind in ("graph", "text"):
        (folder / f"{kind}.txt").write_text(text, encoding="ascii")
