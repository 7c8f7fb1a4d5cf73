"""Cluster models and searches on sources that they were not made on.

    python benchmarks/cluster_transfer.py --data FOLDER --out docs/studies/cluster-transfer.md

The prior of `auto` is learnt from the other sources each time; the shipped one is not used. What
was found is kept in pieces (--cache), so that the same command goes on where it was ended.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from benchmarks.cluster_peers import LAWS, PEERS, SharedSpeedup  # noqa: E402
from benchmarks.cluster_pictures import draw_searches, draw_transfer  # noqa: E402
from benchmarks.cluster_prior import prior_of  # noqa: E402
from benchmarks.cluster_searches import CHOICES, GOALS, STARTS, search_lengths  # noqa: E402
from benchmarks.cluster_tables import (  # noqa: E402
    SOURCES,
    c3o,
    c3o_growth,
    scout,
    scout_growth,
    simulated,
)
from costmodels.scaling import AutoScaling, Prior  # noqa: E402
from costmodels.scaling.priors import prior_from_plain, prior_to_plain  # noqa: E402

Contexts = list[tuple[str, pd.DataFrame]]
Case = tuple[str, pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]


def none(data: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from ()


JUDGED = {
    "C3O": (c3o, c3o_growth),
    "Scout": (scout, scout_growth),
    "simulated": (simulated, none),
}
SHOTS = (3, 4, 5)
TESTS = ("low two thirds", "low half", "interpolation", *(f"{n} runs" for n in SHOTS), "growth")
LEVEL = 0.9
BEST_LAW = "best single law"
OURS = ("auto", "auto, history")


def cases(contexts: Contexts, test: str, every: int) -> Iterator[Case]:
    """Yield job, known runs, runs to predict, and other contexts of the job."""
    rng = np.random.default_rng(7)
    for number, (job, runs) in enumerate(contexts):
        split = _split(runs, test, rng)
        if split is not None and number % every == 0:
            others = enumerate(contexts)
            yield job, *split, [r for i, (name, r) in others if name == job and i != number]


def _split(
    runs: pd.DataFrame, test: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    if test == "growth":  # all but the largest data on the more machines is known
        largest, middle = runs.scale.max(), runs.machines.median()
        out = (runs.scale == largest) & (runs.machines > middle)
        known = runs[~out]
        grown = (known.scale == largest).any() and known.machines.nunique() >= 3
        return (known, runs[out]) if grown else None
    counts = np.sort(runs.machines.unique())
    if test.endswith("runs"):
        shots = int(test[0])
        if len(counts) <= shots:
            return None
        drawn = rng.choice(counts, shots, replace=False)
        known = runs[runs.machines.isin(drawn)]
        known = known.groupby("machines").sample(1, random_state=int(rng.integers(1 << 30)))
        return known, runs[~runs.machines.isin(drawn)]
    if test == "interpolation":
        kept = counts[::2]
    else:
        share = 2 / 3 if test == "low two thirds" else 1 / 2
        kept = counts[: max(round(len(counts) * share), 3)]
    unknown = runs[~runs.machines.isin(kept)]
    if test == "interpolation":
        unknown = unknown[unknown.machines < kept.max()]
    enough = len(kept) >= 3 and len(unknown)
    return (runs[runs.machines.isin(kept)], unknown) if enough else None


class Priors:
    """Priors of the other sources, and of the other jobs of a source, kept in a folder."""

    def __init__(self, data: Path, cache: Path) -> None:
        self.data, self.cache = data, cache
        self.held: dict[str, Prior] = {}

    def elsewhere(self, source: str) -> Prior:
        """Return what all measured sources but one teach."""
        return self._kept(f"without {source}", lambda: prior_of(self._others(source)))

    def history(self, source: str, job: str) -> Prior:
        """Return what the other jobs of a source teach on top of that."""
        below = self.elsewhere(source)
        learnt = self._kept(
            f"{source} without {job}",
            lambda: prior_of([one for one in self._own(source) if one[0] != job], below),
        )
        return replace(learnt, parent=below)

    def _others(self, source: str) -> Contexts:
        return [
            (f"{name}: {job}", runs)
            for name, read in SOURCES.items()
            if name != source
            for job, runs in read(self.data)
        ]

    def _own(self, source: str) -> Contexts:
        return list(SOURCES.get(source, JUDGED[source][0])(self.data))

    def _kept(self, name: str, learn: Callable[[], Prior]) -> Prior:
        if name not in self.held:
            path = self.cache / f"prior {name}.json"
            if not path.exists():
                _written(path, json.dumps(prior_to_plain(learn()), default=float))
            self.held[name] = prior_from_plain(json.loads(path.read_text(encoding="utf-8")))
        return self.held[name]


def predictions(
    data: Path, priors: Priors, source: str, test: str, every: int, *, peers: bool
) -> pd.DataFrame:
    """Return error and share held of each case and model."""
    read = JUDGED[source][test == "growth"]
    found = []
    elsewhere = priors.elsewhere(source)
    for number, (job, known, unknown, fellows) in enumerate(cases(list(read(data)), test, every)):
        models: dict[str, Callable[[], Any]] = {
            "auto": partial(AutoScaling, prior=elsewhere),
            "auto, history": partial(AutoScaling, prior=priors.history(source, job)),
        }
        if peers:
            models |= {**PEERS, "C3O's pooled predictor": partial(SharedSpeedup, fellows)}
        X, new = (t[["scale", "machines"]].astype(float) for t in (known, unknown))
        y, truth = (t.seconds.to_numpy(float) for t in (known, unknown))
        for name, make in models.items():
            try:
                model = make().fit(X, y)
            except ValueError:  # too few runs for this model
                continue
            error = 100 * np.abs(model.predict(new) / truth - 1).mean()
            held = np.nan
            if hasattr(model, "predict_interval"):
                low, high = model.predict_interval(new, LEVEL).T
                held = 100 * ((low <= truth) & (truth <= high)).mean()
            found.append((source, test, job, number, name, error, held))
    columns = ["source", "test", "job", "case", "model", "error", "held"]
    return pd.DataFrame(found, columns=columns)


def searches(data: Path, priors: Priors, source: str, *, peers: bool) -> pd.DataFrame:
    """Return the lengths of the searches of a source."""
    judged = JUDGED[source] is not None and source in SOURCES
    history = partial(priors.history, source) if judged else None
    problems = list(CHOICES[source](data))
    found = search_lengths(problems, priors.elsewhere(source), history, peers=peers)
    return found.assign(source=source)


def _written(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def prediction_tables(found: pd.DataFrame) -> str:
    there = [name for name in JUDGED if (found.source == name).any()]
    parts = [f"### {name}\n\n{table(found[found.source == name])}" for name in there]
    measured = found[found.source.isin(list(SOURCES))]
    sources = [name for name in JUDGED if name in SOURCES]
    whole = [
        test
        for test in TESTS
        if all(((measured.test == test) & (measured.source == name)).any() for name in sources)
        or (test == "5 runs" and (measured.test == test).any() and set(there) >= set(sources))
    ]
    if whole:
        judged = table(measured[measured.test.isin(whole)], mean=True)
        parts.append(f"### Mean of the measured sources\n\n{judged}")
    return "\n\n".join(parts)


def means(found: pd.DataFrame) -> pd.DataFrame:
    """Return mean error and share held over contexts of a job, then over jobs, by source."""
    by_job = found.groupby(["source", "test", "model", "job"])[["error", "held"]].mean()
    by_source = by_job.groupby(["source", "test", "model"]).mean().reset_index()
    laws = by_source[by_source.model.isin(list(LAWS))]
    best = laws.loc[laws.groupby(["source", "test"]).error.idxmin()] if len(laws) else laws
    return pd.concat([by_source, best.assign(model=BEST_LAW, held=np.nan)])


def table(found: pd.DataFrame, *, mean: bool = False) -> str:
    tests = [test for test in TESTS if (found.test == test).any()]
    lines = [f"| model | {' | '.join(tests)} |", "|---" * (len(tests) + 1) + "|"]
    middles = means(found).groupby(["test", "model"])[["error", "held"]].mean()
    others = [name for name in found.model.unique() if name not in OURS]
    for name in [*OURS, *([BEST_LAW] if set(LAWS) & set(others) else []), *others]:
        cells = []
        for test in tests:
            if (test, name) not in middles.index:
                cells.append("")
                continue
            middle = middles.loc[(test, name)]
            text = f"{middle.error:.1f}"
            mine = found[(found.model == name) & (found.test == test)]
            if not mean and len(mine):
                text += f" / {mine.error.quantile(0.9):.0f} / {mine.error.max():.0f}"
            cells.append(text + ("" if np.isnan(middle.held) else f" ({middle.held:.0f}%)"))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def search_tables(found: pd.DataFrame) -> str:
    return "\n\n".join(
        f"### {source}\n\n{search_table(found[found.source == source])}"
        for source in CHOICES
        if (found.source == source).any()
    )


def search_table(found: pd.DataFrame) -> str:
    lines = [f"| search | {' | '.join(GOALS)} |", "|---" * (len(GOALS) + 1) + "|"]
    for name in found.search.unique():
        cells = []
        for goal in GOALS:
            mine = found[(found.search == name) & (found.goal == goal)].runs
            cells.append(
                f"{mine.mean():.1f} / {mine.median():.0f} / {mine.quantile(0.9):.0f} / "
                f"{mine.max():.0f} ({100 * (mine <= 13).mean():.0f}%)"
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    pieces = [f"{source}: {test}" for source in JUDGED for test in TESTS]
    pieces = [one for one in pieces if one != "simulated: growth"]
    pieces += [f"search: {source}" for source in CHOICES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("PREDICT_GRAPH_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) / "cluster" if folder else None,
        required=not folder,
    )
    parser.add_argument("--out", type=Path, help="Markdown file; the tables are printed either way")
    parser.add_argument(
        "--every",
        type=int,
        default=4,
        help="judge one context of so many (1: all; not 3, which takes one size of machine only)",
    )
    parser.add_argument("--section", nargs="*", choices=pieces, help="only these pieces, no page")
    parser.add_argument(
        "--cache", type=Path, help="folder of the pieces; by default one for each state of the code"
    )
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument("--partial", action="store_true", help="the page of the pieces so far")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cache = options.cache or HERE.parent / "build" / f"cluster-transfer-{_state()}"
    cache.mkdir(parents=True, exist_ok=True)
    priors = Priors(options.data, cache)
    found: dict[str, pd.DataFrame] = {}
    missing: list[str] = []
    for piece in options.section or pieces:
        kind = f"{options.every}{' ours' if options.ours else ''}"
        path = cache / f"{piece.replace(': ', ' ')} {kind}.csv"
        if not path.exists() and options.partial:
            missing.append(piece)
            continue
        if not path.exists():
            source, _, test = piece.partition(": ")
            if source == "search":
                result = searches(options.data, priors, test, peers=not options.ours)
            else:
                result = predictions(
                    options.data, priors, source, test, options.every, peers=not options.ours
                )
            _written(path, result.to_csv(index=False))
            print(piece, "done", flush=True)
        found[piece] = pd.read_csv(path)
    judged = [one for name, one in found.items() if not name.startswith("search")]
    sought = [one for name, one in found.items() if name.startswith("search")]
    if options.section:
        for name, one in found.items():
            print(name, search_table(one) if "search" in one else table(one), sep="\n\n")
        return
    told = f"\n\nNot run yet: {', '.join(missing)}." if missing else ""
    tables = prediction_tables(pd.concat(judged)) if judged else "Not run yet."
    searched = search_tables(pd.concat(sought)) if sought else "Not run yet."
    print(tables, searched, sep="\n\n")
    if options.out:
        pictures = options.out.with_suffix("")
        pictures.mkdir(exist_ok=True)
        text = INTRODUCTION.format(
            every=options.every, starts=STARTS, missing=told, tables=tables, searches=searched
        )
        if judged:
            draw_transfer(means(pd.concat(judged)), TESTS, pictures / "errors.png")
        else:
            text = text.replace(f"{ERRORS}\n\n", "")
        if sought:
            draw_searches(pd.concat(sought), GOALS, pictures / "searches.png")
        options.out.write_text(text, encoding="utf-8")


def _state() -> str:
    """Checksum of the code that the figures depend on."""
    paths = [
        *sorted((HERE.parent / "costmodels" / "scaling").glob("*.py")),
        *HERE.glob("cluster_*"),
    ]
    return f"{zlib.crc32(b''.join(path.read_bytes() for path in sorted(paths))):08x}"


ERRORS = "![Mean error by source and test](cluster-transfer/errors.png)"
INTRODUCTION = """\
# Cluster models and searches on clusters they were not made on

Written by `python benchmarks/cluster_transfer.py --out docs/studies/cluster-transfer.md`. Three
sources: C3O (three Spark jobs, five runs a configuration), Scout (five Hadoop and Spark jobs at two
sizes, one run a configuration), and 40 simulated jobs of five known laws with 2 to 10% noise over
wide ranges of machines, which are made up and say only whether a model survives what the tables do
not show. The prior of `auto` is learnt each time from the measured sources but the judged one;
`history` adds the other jobs of the judged source, as `fit --history` would.

What is blind and what is not: the weights of the prior are learnt without the judged source. How
much of the misfit the runs on one machine type share was chosen on the searches of C3O and the
simulated ones, with a look at Scout's: the larger of two values that were as good was dropped when
it did worse there. By how much `next` widens its distributions was chosen on Scout first, and is as
good as others on the rest. Chosen with all three sources in view were the family of shapes (the
part of a machine that does not work on the data was added after runs on two machines of C3O's sort
were seen), the tails of the intervals and their drift. How runs that were ended by a timeout count
was changed when a search on Scout (terasort, the cheapest) went wrong by it, so the figures for
Scout's cheapest are not blind: before that change they were 9.4 to 11.5 runs.{missing}

## Prediction

Mean over jobs of the mean absolute error in percent / 90th percentile / worst of the contexts, and
in brackets the share of single runs that the 90% interval holds. `low two thirds`: fitted to the
fewer machine counts, judged on the others; `interpolation`: every other count is known; `3 runs`:
single runs at random counts; `growth`: all but the largest data on the more machines are known.
Judged is one context of {every} of each source (`--every 1` for all). `best single law` is the best
of the five below it, another one in each source and test, which nobody knows beforehand. C3O's
pooled predictor sees, unlike the others, all other contexts of the same job.

![Mean error by source and test](cluster-transfer/errors.png)

{tables}

## Search

Runs until one within 10% of the best configuration is found, the successful one counted: mean /
median / 90th percentile / worst of the searches, and in brackets the share that took 13 or fewer.
Scout: ten workloads on 69 configurations of nine machine types. C3O: nine settings of its jobs that
were measured on three types, 18 configurations each. Simulated: twelve made-up jobs on Scout's
configurations, with types of unlike speed and, in half of them, too little memory on small
clusters. {starts} random first runs of each. The Gaussian process with expected improvement, as in
CherryPick (NSDI 2017), takes three random runs first.

![Runs until a good configuration is found](cluster-transfer/searches.png)

{searches}
"""


if __name__ == "__main__":
    main()
