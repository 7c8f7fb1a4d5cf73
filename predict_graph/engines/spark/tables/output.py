"""Writing the result of a run from the executors."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.errors import RequestError
from predict_graph.files import check_writable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FORMATS = {".parquet": "parquet", ".csv": "csv"}


def check_spark_output(path: Path) -> None:
    """Reject a path to which the result cannot be written, before a long run."""
    if path.suffix not in _FORMATS:
        raise RequestError(f"cannot write {path}; accepted: a name in .csv or .parquet")
    if path.exists():
        raise RequestError(f"cannot write {path}: it exists; accepted: the name of a new folder")
    check_writable(path)


def write_result(values: DataFrame, path: Path) -> None:
    """Write ``id`` and values as a folder of files, completely or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        writer = values.write.option("header", True)
        writer.format(_FORMATS[path.suffix]).save(f"file://{beside.resolve()}")
        beside.rename(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
