"""What a comparison of samplers says: who is best, how sure that is, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.answers import Answer, Table, interval_text
from predict_graph.arrays import Array, FloatArray
from predict_graph.durations import counted, readable_seconds
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import intervals_picture
from predict_graph.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class SamplerComparison(Result):
    """Samples of graphs by samplers, measured.

    Parameters
    ----------
    rows : list of dict
        One a graph, ratio, seed and sampler.
    algorithms : sequence of str
        That ran on the samples and on the graphs.
    seed : int
        The first one.
    """

    rows: list[dict[str, Any]]
    algorithms: Sequence[str]
    seed: int

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows, ready for JSON."""
        return [{"schema": 1, **row} for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a table, with the mean of the D-statistics as ``unlikeness``."""
        frame = pd.DataFrame(self.rows)
        return frame.assign(unlikeness=frame[[*_HEADINGS]].astype(float).mean(axis=1))

    def ranks(self, algorithm: str | None = None) -> pd.DataFrame:
        """Return the mean ranks of the samplers, the best first.

        In each block of samples (a graph, a ratio, a seed) samplers are ranked; blocks are drawn
        again by graph, then among those of the graph, for the interval of the mean rank: samples
        of one graph resemble each other, and count less than as many graphs. A sampler is tied
        with the first one if the interval of the difference of their mean ranks reaches 0, and
        all are with fewer than five blocks.

        Parameters
        ----------
        algorithm : str, optional
            By the error of its iterations; by the mean of the D-statistics otherwise.

        Returns
        -------
        DataFrame
            By sampler: mean ``value`` of the measure; mean ``rank``, 1 the best, and the ends of
            its 90% interval; whether it is ``tied`` with the first one; mean ``edge_share`` and
            ``seconds`` of its samples.
        """
        frame = self.to_frame()
        frame["value"] = frame["unlikeness" if algorithm is None else f"{algorithm}_error"].abs()
        table = frame.pivot_table(
            index=["graph", "ratio", "seed"], columns="sampler", values="value", dropna=False
        )
        ranks = table.rank(axis=1)
        resampled = _resampled(ranks.to_numpy(), table.index.get_level_values("graph").to_numpy())
        low, high = np.quantile(resampled, [0.05, 0.95], axis=0)
        if len(ranks) == 1:  # drawing one block again says nothing: any rank is possible
            low, high = np.ones_like(low), np.full_like(high, len(high))
        first = resampled[:, [np.argmin(ranks.mean())]]
        behind = np.quantile(resampled - first, 0.05, axis=0)
        found = pd.DataFrame(
            {"value": table.mean(), "rank": ranks.mean(), "low": low, "high": high}
        )
        found["tied"] = (behind <= 0.0) | _are_few(len(ranks))
        costs = frame.groupby("sampler")[["edge_share", "seconds"]].mean()
        return found.join(costs).sort_values(["rank", "value"])

    @property
    def title(self) -> str:
        """What is compared."""
        return f"samplers on {', '.join(dict.fromkeys(row['graph'] for row in self.rows))}"

    @property
    def answer(self) -> Answer:
        """Who is best, or which are tied, then the ranks; all samples are for who wants more."""
        rankings = [(name, self.ranks(name)) for name in (None, *self.algorithms)]
        graphs = len({row["graph"] for row in self.rows})
        sizes = {"samplers": len(rankings[0][1]), "samples": len(self.rows), "graphs": graphs}
        samplers, samples, names = (counted(size, what) for what, size in sizes.items())
        return Answer(
            "; ".join(_winner(*each) for each in rankings),
            [
                ("compared", f"{samplers} by {samples} of {names}"),
                ("D", "Kolmogorov–Smirnov, 0 is alike; mean of in-degrees, out-degrees, hop plot"),
                ("ranks", "90% sure: from drawing graphs, and samples of a graph, again"),
            ],
            [_rank_table(*each) for each in rankings],
            self._warnings(graphs),
            [("seeds", f"from {self.seed} on")],
            self._row_tables(),
        )

    def pictures(self) -> list[Picture]:
        """Return the ranks, in the order of the tables."""
        return [self._rank_picture(algorithm) for algorithm in (None, *self.algorithms)]

    def _row_tables(self) -> list[Table]:
        """Return the properties of each sample, then the iterations of each algorithm on it."""
        parts = ("sample", "graph", "error")
        iterations = {name: [f"{name}_{part}" for part in parts] for name in self.algorithms}
        frame = pd.DataFrame(self.rows, dtype=object)
        fidelity = frame.drop(columns=[*chain(*iterations.values())])
        headings = [_HEADINGS.get(name, name.replace("_", " ")) for name in map(str, fidelity)]
        tables = [Table("fidelity of samples", headings, fidelity.values.tolist())]
        for name, columns in iterations.items():
            headings = [*_KEYS, "of sample", "of graph", "relative error"]
            rows = frame[[*_KEYS, *columns]].values.tolist()
            tables.append(Table(f"iterations of {name}", headings, rows))
        return tables

    def _warnings(self, graphs: int) -> list[str]:
        blocks = {(row["graph"], row["ratio"], row["seed"]) for row in self.rows}
        if _are_few(len(blocks)):
            return [
                f"only {counted(len(blocks), 'samples')} by each sampler: the "
                "intervals of the ranks say little; take more --seeds, and more graphs"
            ]
        if graphs == 1:
            return ["all samples are of one graph: the ranks are for graphs like it"]
        return []

    def _rank_picture(self, algorithm: str | None) -> Picture:
        ranks = self.ranks(algorithm)
        by = "fidelity" if algorithm is None else f"iterations of {algorithm}"
        rows = ranks[["rank", "low", "high"]].to_numpy().tolist()
        figures = {name: Interval(*row) for name, row in zip(ranks.index, rows, strict=True)}
        shown = (f"{name} {interval_text(one, '{:.2f}'.format)}" for name, one in figures.items())
        said = f"Mean ranks by {by}, 1 is best, with 90% intervals: {', '.join(shown)}."
        tied = dict.fromkeys(ranks.index[ranks["tied"]], "ink")
        xlabel = "mean rank, 1 is best (line: 90% sure)"
        return intervals_picture(f"Ranks by {by}", said, figures, 1.0, xlabel=xlabel, others=tied)


_KEYS = ("graph", "sampler", "ratio", "seed")
D_STATISTICS = {"in_degree": "in-degree", "out_degree": "out-degree", "hop_plot": "hop plot"}
_HEADINGS = {f"d_{name}": f"D of {title}" for name, title in D_STATISTICS.items()}


def _are_few(blocks: int) -> bool:
    """Whether a sign test of so many is never significant at 5%."""
    return 0.5**blocks > 0.05


def _rank_table(algorithm: str | None, ranks: pd.DataFrame) -> Table:
    """Return the ranks of samplers, by fidelity or by the iterations of an algorithm."""
    measure = "mean D" if algorithm is None else "mean error"
    rows = [
        (
            name,
            f"{one['value']:.3f}" if algorithm is None else f"{one['value']:.1%}",
            f"{one['rank']:.2f}",
            f"{one['low']:.2f} to {one['high']:.2f}",
            f"{one['edge_share']:.1%}",
            readable_seconds(one["seconds"]),
        )
        for name, one in ranks.to_dict("index").items()
    ]
    title = "by fidelity" if algorithm is None else f"by the iterations of {algorithm}"
    columns = ["sampler", measure, "mean rank", "90% sure", "share of edges", "took"]
    return Table(f"samplers {title}", columns, rows)


def _winner(algorithm: str | None, ranks: pd.DataFrame) -> str:
    """Return the best sampler, or those that are tied, in words."""
    what, measure, form = "most faithful", "mean D", "{:.3g}"
    if algorithm is not None:
        what, measure, form = f"nearest to the iterations of {algorithm}", "error", "{:.0%}"
    tied = ranks[ranks["tied"]]
    values = dict.fromkeys(map(form.format, (tied["value"].min(), tied["value"].max())))
    between = f"{measure} {' to '.join(values)}"
    *others, last = tied.index
    if others:
        return f"{what}: a tie of {', '.join(others)} and {last}, {between}"
    rank, low, high = ranks[["rank", "low", "high"]].iloc[0]
    return f"{what}: {last}, mean rank {rank:.2g} (90% sure: {low:.2g} to {high:.2g}), {between}"


def _resampled(ranks: FloatArray, graphs: Array, times: int = 2000) -> FloatArray:
    """Return mean ranks of blocks drawn again, shape (resamples, samplers)."""
    rng = np.random.default_rng(0)  # the same figures each time
    places = [np.flatnonzero(graphs == name) for name in np.unique(graphs)]
    found = np.empty((times, ranks.shape[1]))
    for number in range(times):
        chosen = [places[i] for i in rng.integers(len(places), size=len(places))]
        blocks = np.concatenate([rng.choice(each, len(each)) for each in chosen])
        found[number] = np.nanmean(ranks[blocks], axis=0)
    return found
