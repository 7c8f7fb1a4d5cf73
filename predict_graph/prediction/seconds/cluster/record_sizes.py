"""Bytes of a record as Spark writes it, from sample runs.

What messages hold decides how well records compress, and a sample that is a walk keeps the
neighbourhoods that decide it; a folded one mixes them. But a walk sample may be several times as
dense as its graph, so that more messages meet in a record, which makes it longer where they are
put beside each other (semi-clustering) and not where they are added up (PageRank). How much longer
is seen between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun, by_session

__all__ = ["RecordSizes", "record_sizes"]

FloatArray = npt.NDArray[np.float64]

_FEW_RECORDS = 0.02  # of all records of a run; judgement, not measured
_ALIKE = 0.1  # of log of messages a record: nearer, and their lengths tell no power; judgement


@dataclass(frozen=True)
class RecordSizes:
    """Bytes of a record in each iteration of the real run.

    Parameters
    ----------
    size : ndarray of float64, shape (iterations,)
        Of a record in the sample.
    messages : ndarray of float64, shape (iterations,)
        That met in a record of the sample.
    growth : ndarray of float64, shape (iterations,)
        Exponent of messages a record: 0 if they are added up, 1 if they are put side by side.
    """

    size: FloatArray
    messages: FloatArray
    growth: FloatArray

    def at(self, messages: FloatArray) -> FloatArray:
        """Return the bytes of a record in which so many messages meet, iteration by iteration."""
        result: FloatArray = self.size * (messages / self.messages) ** self.growth
        return result


def record_sizes(runs: list[ClusterRun], iterations: int) -> RecordSizes:
    """Return the bytes of records in each iteration of the real run.

    As in the largest walk sample: what messages hold goes with how far a run has come. Where
    messages die out, and did so in the sample, mostly in fewer iterations than in the real run, it
    is read as far along; else iteration by iteration.

    They grow with the messages that meet in a record by the power that leads from the largest
    folded sample of the same session to the walk; at most in proportion, and not at all if the
    folded sample, with fewer messages a record, has the longer records.

    Parameters
    ----------
    runs : list of ClusterRun
        Of one algorithm on Spark, in the order in which they ran.
    iterations : int
        Of the real run.
    """
    walk = _largest(runs, walks=True)
    session = next(each for each in by_session(runs) if any(run is walk for run in each))
    other = _largest(session, walks=False)
    sums = walk.exchanged()
    at = _as_far_along(sums["messages"], iterations, ended=walk.profile.converged)
    size, messages = _at(sums, at)
    other_size, other_messages = _at(other.exchanged(), np.arange(float(iterations)))
    denser = np.log(messages / other_messages)
    told = (size > 0.0) & (other_size > 0.0) & (np.abs(denser) > _ALIKE)
    growth = np.zeros(iterations)
    growth[told] = np.log(size[told] / other_size[told]) / denser[told]
    return RecordSizes(size, messages, np.clip(growth, 0.0, 1.0))


def _largest(runs: list[ClusterRun], *, walks: bool) -> ClusterRun:
    """Return the run on the largest sample that is a walk, or is none; on any if there is none."""
    return max(
        runs,
        key=lambda run: (
            (run.summary.sampler != "folded") == walks,
            int(run.profile.graph["edges"]),
        ),
    )


def _as_far_along(sent: pd.Series[float], iterations: int, *, ended: bool) -> FloatArray:
    """Return the iterations of a sample run, from 0, that those of the real run are likened to.

    What dies out has come as far as it has spread, and a smaller graph is crossed in fewer steps.
    Where all send to the end (semi-clustering), what they send settles at the same pace in both.
    """
    died_out = ended and sent.iloc[-1] < sent.iloc[0]
    return np.linspace(0.0, (len(sent) if died_out else iterations) - 1, iterations)


def _at(sums: pd.DataFrame, iterations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bytes a record and messages a record at iterations of a sample run, from 0.

    Later than the run came, as where it still sent a fiftieth of its records: the last few of a run
    have nothing beside them that they could be compressed with.
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
