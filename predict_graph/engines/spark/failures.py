"""What goes wrong in Spark, in one sentence instead of two pages of traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from predict_graph.errors import JobError, PredictGraphError

__all__ = ["spark_failures"]

_CAUSE = re.compile(
    r"^(?:Caused by: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error)): (.+)$", re.MULTILINE
)


@contextmanager
def spark_failures(doing: str) -> Iterator[None]:
    """Turn what Spark raises into a :class:`~predict_graph.errors.JobError`.

    Parameters
    ----------
    doing : str
        What was being done, to begin the sentence with: ``"superstep 3 on Spark"``.

    Raises
    ------
    JobError
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except PredictGraphError:
        raise
    except Py4JNetworkError as error:
        raise JobError(f"{doing} failed: Spark's driver process is gone") from error
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise JobError(f"{doing} failed: {_cause(str(error))}") from error


def _cause(text: str) -> str:
    """Return the innermost cause in the text of a Java error, or its first line."""
    causes = _CAUSE.findall(text)
    lost = re.search(r"(ExecutorLostFailure[^\n]*)", text)
    if lost:
        return f"an executor was lost ({lost.group(1)[:200]})"
    if causes:
        kind, said = causes[-1]
        return f"{kind.rsplit('.', 1)[-1]}: {said.strip()[:300]}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "no reason given")[:300]
