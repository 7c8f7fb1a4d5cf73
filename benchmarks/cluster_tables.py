"""The shared tables of measured runs, as contexts: a job with its parameters on one machine type.

Each source is a function of the folder that yields name of the job and its runs, a table with the
columns scale, machines, seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from costmodels.scaling import gather_points
from costmodels.scaling.points import Points

Runs = Iterator[tuple[str, pd.DataFrame]]
COLUMNS = ["scale", "machines", "seconds"]

CONTEXT = {
    "pagerank": ["machine_type", "data_size_MB", "pages", "links", "convergence_criterion"],
    "sort": ["machine_type", "data_size_MB", "line_length", "lines"],
    "kmeans": ["machine_type", "data_size_MB", "features", "observations", "k"],
}
# What stays the same while the data grows, and the column that says how much data there is.
GROWTH = (
    ("pagerank", ["machine_type", "pages", "convergence_criterion"], "links"),
    ("sort", ["machine_type", "line_length"], "lines"),
    ("kmeans", ["machine_type", "features", "k"], "observations"),
)


def c3o_runs(data: Path, job: str) -> pd.DataFrame:
    table = pd.read_csv(data / f"c3o-{job}.tsv", sep="\t")
    return table.rename(columns={"instance_count": "machines", "gross_runtime": "seconds"})


def c3o(data: Path) -> Runs:
    for job, columns in CONTEXT.items():
        for _, group in c3o_runs(data, job).groupby(columns):
            yield job, group.assign(scale=1.0)[COLUMNS]


def c3o_growth(data: Path, growth: Sequence[tuple[str, list[str], str]] = GROWTH) -> Runs:
    for job, columns, size in growth:
        for _, group in c3o_runs(data, job).groupby(columns):
            scale = 100 * group[size] / group[size].max()  # percent
            if scale.nunique() > 1:
                yield job, group.assign(scale=scale)[COLUMNS]


def c3o_types(data: Path) -> Runs:
    """All machine types of a job with the same settings, with their cores and memory."""
    for _, job, runs in c3o_choices(data):
        yield job, runs.assign(scale=1.0)[[*COLUMNS, "cores", "memory"]].astype(float)


def gpu_joins(data: Path) -> Runs:
    """Another family: transitive closures and joins on 1 to 32 GPUs or nodes."""
    table = pd.read_csv(data / "mnmg-joins.csv").assign(scale=1.0)
    for (job, _, _), group in table.groupby(["job", "dataset", "unit"], sort=False):
        yield job, group[COLUMNS]


def scout_runs(data: Path) -> pd.DataFrame:
    table = pd.read_csv(data / "scout.csv")
    return table.assign(job=table.workload.str.partition("_")[0])


def scout(data: Path) -> Runs:
    table = scout_runs(data)
    for (workload, _), group in table[table.completed].groupby(["workload", "machine_type"]):
        yield str(workload).partition("_")[0], group.assign(scale=1.0)[COLUMNS]


def scout_types(data: Path) -> Runs:
    """All machine types of a workload together, with their cores and memory."""
    table = _priced(scout_runs(data), data)
    for workload, group in table[table.completed].groupby("workload"):
        runs = group.assign(scale=1.0)[[*COLUMNS, "cores", "memory"]]
        yield workload.partition("_")[0], runs.astype(float)


def scout_growth(data: Path) -> Runs:
    """Both sizes of a job on one machine type; the scale is 1 for the smaller."""
    table = scout_runs(data)
    table = table[table.completed & (table.input_bytes > 0)]
    for (job, _), group in table.groupby(["job", "machine_type"]):
        median = group.groupby("workload").input_bytes.transform("median")
        scale = median / median.min()
        if scale.nunique() > 1:
            yield job, group.assign(scale=scale)[COLUMNS]


def ernest(data: Path) -> Runs:
    table = pd.read_csv(data / "ernest-rcv1.csv", skipinitialspace=True)
    yield "rcv1", table.set_axis(["machines", "scale", "seconds"], axis=1)[COLUMNS]


LAWS = {
    "amdahl": lambda x, r: r.uniform(0.02, 0.3) + x[0] / x,
    "shallow": lambda x, r: r.uniform(0.02, 0.3) + (x / x[0]) ** -r.uniform(0.4, 0.8),
    "upturn": lambda x, r: r.uniform(0.02, 0.3) + x[0] / x + r.uniform(0.002, 0.01) * x,
    "waves": lambda x, r: r.uniform(0.02, 0.1) + np.ceil((k := 64 * r.integers(1, 4)) / x) / k,
    "tree": lambda x, r: r.uniform(0.02, 0.3) + x[0] / x + r.uniform(0.02, 0.1) * np.log(x),
}


def simulated(data: Path) -> Runs:
    """Jobs of known laws with 2 to 10% noise, 15 machine counts over wide ranges, 7 runs each.

    Made up, not measured: they say whether a model survives what the tables do not show.
    """
    rng = np.random.default_rng(1)
    for i in range(40):
        low, high = ((1, 64), (2, 60), (4, 32), (1, 16))[i % 4]
        counts = np.unique(np.round(np.geomspace(low, high, 15)).astype(int)).astype(float)
        name = list(LAWS)[i % len(LAWS)]
        noise = rng.uniform(0.02, 0.1)
        times = LAWS[name](counts, rng) * rng.uniform(30, 3000)
        machines = np.repeat(counts, 7)
        seconds = np.repeat(times, 7) * np.exp(noise * rng.standard_normal(len(machines)))
        yield name, pd.DataFrame({"scale": 1.0, "machines": machines, "seconds": seconds})


def scout_choices(data: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """All configurations of a workload, one run each, those that failed among them."""
    table = _priced(scout_runs(data), data)
    for workload, group in table.groupby("workload"):
        yield workload, workload.partition("_")[0], group


def c3o_choices(data: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """What was measured on three machine types, the median of the runs of each configuration."""
    for job, columns in CONTEXT.items():
        settings = [name for name in columns if name != "machine_type"]
        for number, (_, group) in enumerate(c3o_runs(data, job).groupby(settings)):
            if group.machine_type.nunique() >= 3:
                runs = group.groupby(["machine_type", "machines"]).seconds.median().reset_index()
                yield f"{job} {number}", job, _priced(runs.assign(completed=True), data)


def simulated_choices(data: Path) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Twelve jobs on the configurations of Scout, made up: see `_simulated_seconds`."""
    table = _priced(scout_runs(data), data)
    places = table.groupby(["machine_type", "machines"], as_index=False).first()
    rng = np.random.default_rng(3)
    for number in range(12):
        seconds = _simulated_seconds(places, rng)
        completed = seconds < 7200
        runs = places.assign(seconds=np.minimum(seconds, 7200.0), completed=completed)
        yield f"simulated {number}", f"simulated {number}", runs


def _simulated_seconds(places: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """A fixed part, divided work, a growing part, types of unlike speed, shortage of memory."""
    cores = (places.machines * places.cores).to_numpy(float)
    kinds = places.machine_type.astype("category").cat.codes.to_numpy()
    speed = np.exp(0.15 * rng.standard_normal(kinds.max() + 1))[kinds]
    work = rng.uniform(0.3, 3) * (cores / 32) ** -rng.uniform(0.6, 1.1) * speed
    growing = rng.uniform(0.0, 0.1) * (places.machines / 8) ** rng.uniform(0.3, 1.0)
    total = rng.uniform(0.05, 0.5) + work + growing
    memory = (places.machines * places.memory).to_numpy(float)
    if rng.random() < 0.5:  # the data do not fit on the smallest clusters
        total *= np.where(memory < rng.uniform(40, 200), rng.uniform(1.5, 4), 1.0)
    noise = np.exp(0.05 * rng.standard_normal(len(places)))
    return (rng.uniform(200, 1500) * total * noise).to_numpy(float)


def _priced(runs: pd.DataFrame, data: Path) -> pd.DataFrame:
    types = pd.read_csv(data / "ec2-types.csv").rename(columns={"memory_gb": "memory"})
    return runs.drop(columns=["memory"], errors="ignore").merge(types, on="machine_type")


def both(*sources: Callable[[Path], Runs]) -> Callable[[Path], Runs]:
    return lambda data: (one for source in sources for one in source(data))


# What the prior is learnt from.
SOURCES: dict[str, Callable[[Path], Runs]] = {
    "C3O": both(c3o, c3o_growth, c3o_types),
    "Scout": both(scout, scout_growth, scout_types),
    "Ernest": ernest,
}


def drawn_runs(
    runs: pd.DataFrame, counts: np.ndarray, shots: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return single runs at machine counts drawn at random, and all on the other counts."""
    drawn = runs.machines.isin(rng.choice(counts, shots, replace=False))
    single = runs[drawn].groupby("machines").sample(1, random_state=int(rng.integers(1 << 30)))
    return single, runs[~drawn]


def points_of(runs: pd.DataFrame) -> Points:
    columns = {name: runs[name].to_numpy(float) for name in runs.columns if name != "seconds"}
    return gather_points(columns, runs.seconds.to_numpy(float))
