"""The files of a path or an address, listed by Spark."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.errors import RequestError
from predict_graph.graph.readers import name_of
from predict_graph.graph.readers.streams import suffixes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMATS = {
    **dict.fromkeys((".txt", ".tsv", ".csv", ".edges", ".edgelist", ".el"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_GLOB = re.compile(r"([*?{}\[\]\\])")


@dataclass(frozen=True)
class SourceFiles:
    """Files of one graph, of the form ``parquet`` or ``text``.

    `source` is the user's path, `path` that for Spark; `identity` is a digest of addresses, lengths
    and modification times.
    """

    source: str
    name: str
    path: str
    files: tuple[str, ...]
    form: str
    suffix: str
    identity: str


@dataclass(frozen=True)
class ListedEdges:
    """Edges at their source, before they are read.

    The table has the columns ``src``, ``dst``, ``weight`` (if any), and ``wrong``: the file of a
    row that is not an edge, else null; `error` describes the first such row of a file.
    """

    name: str
    source: str
    table: DataFrame
    error: Callable[[str], RequestError]
    identity: str | None = None
    directed: bool | None = None
    notes: tuple[str, ...] = ()
    cheap: bool = False

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return "weight" in self.table.columns

    def fingerprint(self, directed: bool, content: str = "") -> str:
        """Return a digest of the graph: of its files, or else of its edges."""
        parts = (self.identity or content, str(directed))
        return hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()


def spark_path(path: str | os.PathLike[str]) -> str:
    """Return the address of a path for Spark, literally if it exists on this machine.

    Without a scheme Spark would use its default file system, and interpret brackets and stars as
    patterns.

    Examples
    --------
    >>> spark_path("hdfs://host/web/*.csv")
    'hdfs://host/web/*.csv'
    >>> spark_path("/")
    'file:///'
    """
    text = os.fspath(path)
    if os.path.exists(text):
        return literal_path("file://" + os.path.abspath(text))
    return text


def literal_path(address: str) -> str:
    r"""Return an address with escaped pattern characters.

    Examples
    --------
    >>> print(literal_path("file:/web[1].txt"))
    file:/web\[1\].txt
    """
    return _GLOB.sub(r"\\\1", address)


def shown_path(address: str) -> str:
    """Return an address for messages: a file of this machine without its scheme.

    Examples
    --------
    >>> shown_path("file:/data/web.txt"), shown_path("file:///data/web.txt")
    ('/data/web.txt', '/data/web.txt')
    """
    return re.sub(r"^file:/+", "/", address)


def source_files(spark: SparkSession, source: str | os.PathLike[str]) -> SourceFiles:
    """List the files of a graph: a file, a folder, or a pattern, in any file system of Spark.

    Files whose names begin with ``_`` or ``.`` are ignored, as by Spark.
    """
    text = os.fspath(source)
    path = spark_path(source)
    with spark_failures(f"looking for {text}"):
        found = sorted(_listed(spark, path))
    if not found:
        raise RequestError(f"there is no file {text}, or nothing in it that Spark reads")
    if not any(length for _, length, _ in found):
        raise RequestError(f"{text} is empty")
    files = tuple(address for address, _, _ in found)
    form, suffix = _format(text, files)
    name, digest = name_of(Path(text)), hashlib.blake2b(repr(found).encode(), digest_size=16)
    return SourceFiles(text, name, path, files, form, suffix, digest.hexdigest())


def _listed(spark: SparkSession, path: str) -> Iterator[tuple[str, int, int]]:
    """Yield address, length and modification time of all files."""
    java: Any = spark.sparkContext._jvm
    place = java.org.apache.hadoop.fs.Path(path)
    system = place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    for top in system.globStatus(place) or ():
        files = system.listFiles(top.getPath(), True)
        root = str(top.getPath())
        while files.hasNext():
            file = files.next()
            address = str(file.getPath().toString())
            inside = PurePosixPath(address.removeprefix(root)).parts
            if not any(part.startswith(("_", ".")) for part in inside):
                yield address, int(file.getLen()), int(file.getModificationTime())


def _format(source: str, files: tuple[str, ...]) -> tuple[str, str]:
    """Return the common format of files, and the suffix of the first."""
    first, forms = suffixes_of(Path(files[0]))[0], set()
    for address in files:
        suffix, compression = suffixes_of(Path(address))
        if suffix not in _FORMATS or compression in (".xz", ".zip"):
            raise RequestError(
                f"{shown_path(address)} has the suffix {suffix or 'none'!r}; Spark reads "
                f"{' '.join(sorted(_FORMATS))}, and .gz or .bz2 after those of text files"
            )
        forms.add(_FORMATS[suffix])
    if len(forms) > 1:
        raise RequestError(f"{source} holds Parquet files and text; accepted: one of them")
    return forms.pop(), first
