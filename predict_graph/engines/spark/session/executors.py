"""What executors lack: packages that their Python must import, and files of this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.errors import JobError, RequestError

if TYPE_CHECKING:
    from predict_graph.engines.spark.session.opening import OpenSession

_OURS = ("predict_graph", "samplers", "costmodels")
_NEEDED = ("numpy", "numba", "scipy", "pandas", "pyarrow", "psutil")

_LOADED = "predict_graph.engines.spark.blocks.program"  # what all programs over blocks import
# Tasks of tables have it, and Python workers are shared by tasks of one environment.
_ENVIRONMENT = {"SPARK_SIMPLIFIED_TRACEBACK": "1"}

# Applications whose executors have all of them, and whether they see what is in a folder.
_READY: dict[tuple[str, Path], bool] = {}


def prepare_executors(session: OpenSession) -> bool:
    """Start Python on the executors once a session, and send our packages if it lacks them.

    It takes seconds, and no table: what needs no Python there can be done at the same time. Return
    whether all executors see the folder of the session.

    Raises
    ------
    JobError
        If another package is missing there, or their Python does not start.
    """
    context: Any = session.spark.sparkContext
    folder, ready = str(session.folder), (context.applicationId, session.folder.parent)
    if ready in _READY:
        return _READY[ready]
    slots, environment = max(context.defaultParallelism, 1), dict(context.environment)
    ask = _missing(_OURS, _NEEDED, version("predict-graph"), folder)
    with spark_failures("starting Python on the executors"):
        asked = context.parallelize(range(slots), slots).flatMap(ask)
        context.environment.update(_ENVIRONMENT)
        try:
            missing = set(asked.collect())
        finally:
            context.environment.clear()
            context.environment.update(environment)
    if others := sorted(missing.difference(_OURS, [folder])):
        raise JobError(
            f"the Python of the executors has no {', '.join(others)}; accepted: an installation "
            "there, and PYSPARK_PYTHON set to that Python before the session opens"
        )
    if missing.intersection(_OURS):
        for name in _OURS:
            _send(context, name)
    return _READY.setdefault(ready, folder not in missing)


def _missing(
    ours: Sequence[str], needed: Sequence[str], wanted: str, folder: str
) -> Callable[[Any], list[str]]:
    """Return a function that is sent as it is: executors may not have this module.

    Of another version than `wanted`, ours are missing. So may be a folder.
    """

    def missing(_: Any) -> list[str]:
        from contextlib import suppress
        from importlib import import_module
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec
        from os.path import isdir

        found = [name for name in (*ours, *needed) if find_spec(name) is None]
        with suppress(PackageNotFoundError):  # sent before, or only on the path
            found += ours if version("predict-graph") != wanted else ()
        if not found:
            import_module(_LOADED)
        return found if isdir(folder) else [*found, folder]

    return missing


def _send(context: Any, name: str) -> None:
    """Unpack a package beside the files of each executor, where its Python looks for modules."""
    from pyspark import SparkFiles

    # Executors that start later fetch it too: it has to last as long as the session
    beside = str(Path(SparkFiles.getRootDirectory()) / name)
    archive = shutil.make_archive(beside, "zip", str(files(name)))
    context.addArchive(f"{archive}#{name}")


def sent_file(session: OpenSession, file: Path) -> Any:
    """Send a file to all executors, which map a copy into memory; return the broadcast.

    Raises
    ------
    RequestError
        If Spark encrypts what it sends, so that no file can be mapped.
    """
    from pyspark import Broadcast

    class SentFile(Broadcast[Path]):
        """Copies the file, where Spark would pickle an object."""

        def dump(self, value: Path, f: BinaryIO) -> None:
            with value.open("rb") as source, f:
                shutil.copyfileobj(source, f)

    context: Any = session.spark.sparkContext
    if context._encryption_enabled:
        raise RequestError(
            f"the executors do not see {session.folder.parent}, and Spark encrypts what it sends "
            "(spark.io.encryption.enabled); accepted: --spark-folder, one that all of them see"
        )
    return SentFile(context, file, context._pickled_broadcast_vars)
