"""The bytes of a record in Spark, from sample runs.

The content of messages determines compression. A walk sample keeps the neighbourhoods that affect
it; a folded one mixes them. A walk sample may be several times denser than its graph, so that more
messages are combined in a record, which makes it longer where they are concatenated
(semi-clustering) but not where they are added (PageRank). Comparing the two kinds of samples shows
this growth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun, by_session

FloatArray = npt.NDArray[np.float64]

_FEW_RECORDS = 0.02  # of all records of a run: limits noise from short iterations; not tuned
_ALIKE = 0.1  # of log of messages per record: limits noise in the exponent; not tuned


@dataclass(frozen=True)
class RecordSizes:
    """The bytes of a record in each iteration of the real run."""

    size: FloatArray
    messages: FloatArray
    growth: FloatArray

    def at(self, messages: FloatArray) -> FloatArray:
        """Return the bytes of a record that combines so many messages, for each iteration."""
        result: FloatArray = self.size * (messages / self.messages) ** self.growth
        return result


def record_sizes(runs: list[ClusterRun], iterations: int) -> RecordSizes:
    """Return the bytes of records in each iteration of the real run.

    They come from the largest walk sample, since the content of messages changes during a run.
    Where messages die out, usually in fewer iterations than in the real run, iterations are matched
    by progress; otherwise by number.

    They grow with a power of the messages per record, determined from the largest folded sample of
    the same session and the walk; the power is limited to 1, and is 0 if the folded sample has
    fewer messages per record but longer records.
    """
    walk = _largest(runs, walks=True)
    session = next(each for each in by_session(runs) if any(run is walk for run in each))
    other = _largest(session, walks=False)
    sums = walk.exchanged()
    at = _as_far_along(sums["messages"], iterations, ended=walk.profile.converged)
    size, messages = _at(sums, at)
    other_size, other_messages = _at(other.exchanged(), np.arange(float(iterations)))
    denser = np.log(messages / other_messages)
    comparable = (size > 0.0) & (other_size > 0.0) & (np.abs(denser) > _ALIKE)
    growth = np.zeros(iterations)
    growth[comparable] = np.log(size[comparable] / other_size[comparable]) / denser[comparable]
    return RecordSizes(size, messages, np.clip(growth, 0.0, 1.0))


def _largest(runs: list[ClusterRun], *, walks: bool) -> ClusterRun:
    """Return the run on the largest walk sample, or the largest folded one; any if there is
    none.
    """
    return max(
        runs,
        key=lambda run: (
            (run.summary.sampler != "folded") == walks,
            int(run.profile.graph["edges"]),
        ),
    )


def _as_far_along(sent: pd.Series[float], iterations: int, *, ended: bool) -> FloatArray:
    """Return the iterations of a sample run, from 0, that match those of the real run.

    Where messages die out, progress is relative to the end, as a smaller graph has shorter paths.
    Where all vertices send to the end (semi-clustering), both runs settle at the same pace.
    """
    died_out = ended and sent.iloc[-1] < sent.iloc[0]
    return np.linspace(0.0, (len(sent) if died_out else iterations) - 1, iterations)


def _at(sums: pd.DataFrame, iterations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bytes and messages per record at iterations of a sample run, from 0.

    Iterations after it sent its last fiftieth of records use the last one before, because few
    records compress badly.
    """
    sums = sums[(sums["shuffle_write_records"] > 0) & (sums["shuffle_write_bytes"] > 0)]
    if len(sums) == 0:
        return np.zeros(len(iterations)), np.ones(len(iterations))
    names = ("shuffle_write_bytes", "shuffle_write_records", "messages")
    written, records, messages = (sums[name].to_numpy() for name in names)
    to_come = records[::-1].cumsum()[::-1] / records.sum()
    last = max(int(np.count_nonzero(to_come > _FEW_RECORDS)), 1) - 1
    at, known = np.minimum(iterations, last), np.arange(len(records))
    met = np.maximum(messages, records) / records
    return np.interp(at, known, written / records), np.interp(at, known, met)
