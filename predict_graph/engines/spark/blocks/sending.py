"""Files that Spark brings to executors which do not see the folder of the driver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from pyspark import Broadcast

from predict_graph.engines.spark.blocks.stored import Blocks
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.errors import RequestError


class SentFile(Broadcast[Path]):
    """A file as a broadcast: each executor maps a copy into memory."""

    def dump(self, value: Path, f: BinaryIO) -> None:
        """Copy the file, where Spark would pickle an object."""
        with value.open("rb") as source, f:
            shutil.copyfileobj(source, f)


@contextmanager
def sent_blocks(session: OpenSession, blocks: Blocks) -> Iterator[Blocks]:
    """Send the blocks of a graph to all executors; at the end, remove them there.

    Raises
    ------
    RequestError
        If Spark encrypts what it sends, so that no file can be mapped.
    """
    with ExitStack() as held:
        with spark_failures("sending the graph to the executors"):
            copies = [sent(session, blocks.file(number)) for number in range(len(blocks.keys))]
        for each in copies:
            held.callback(each.destroy)
        yield replace(blocks, sent=tuple(copies))


def sent(session: OpenSession, file: Path) -> SentFile:
    """Send a file to all executors."""
    context: Any = session.spark.sparkContext
    if context._encryption_enabled:
        raise RequestError(
            f"the executors do not see {session.folder.parent}, and Spark encrypts what it sends "
            "(spark.io.encryption.enabled); accepted: --spark-folder, one that all of them see"
        )
    return SentFile(context, file, context._pickled_broadcast_vars)
