"""The process that reads damaged files: it may die of them, and is watched from outside."""

from __future__ import annotations

import os
import resource
import tempfile
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.robustness.damage import damaged
from benchmarks.robustness.formats import FORMATS, write_seeds
from predict_graph.errors import PredictGraphError


def random_of(seed: int, form: int, number: int) -> np.random.Generator:
    """Return the random numbers of one case: the same for the same three numbers."""
    return np.random.default_rng([seed, form, number])


def case(seeds: Path, place: Path, seed: int, form: int, number: int) -> dict[str, Any]:
    """Make a damaged file, read it, and tell what became of it."""
    described = FORMATS[form]
    path, blind = damaged(described, seeds, place, random_of(seed, form, number))
    started, processor = time.monotonic(), time.process_time()
    try:
        digest = described.read(path)
    except PredictGraphError as error:
        outcome, said = "refused", str(error)
        if "\n" in said or len(said) > 2000:
            outcome = "no sentence"
    except MemoryError:
        outcome, said = "memory", "MemoryError"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome = "internal error"
        said = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    else:
        outcome, said = "read", ""
        if blind and described.checked and digest != described.read(seeds / described.file):
            outcome, said = "another content", str(digest)
    return {
        "outcome": outcome,
        "said": said[:300],
        "seconds": time.monotonic() - started,
        "used": time.process_time() - processor,
    }


def serve(pipe: Connection, seed: int, cap: int) -> None:
    """Answer each case that comes, with `cap` bytes of addresses, until the other end is closed."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with tempfile.TemporaryDirectory() as folder:
        seeds, place = Path(folder) / "seeds", Path(folder) / "place"
        seeds.mkdir()
        place.mkdir()
        write_seeds(seeds)
        for form in FORMATS:  # compiles, imports
            form.read(seeds / form.file)
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
        pipe.send({"outcome": "ready"})
        while True:
            answer = case(seeds, place, seed, *pipe.recv())
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            pipe.send({**answer, "peak": peak})
