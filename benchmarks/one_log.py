"""How well does one event log give the runtime on other numbers of executors?

    PREDICT_GRAPH_DATA=… python -m benchmarks.one_log run --keep DIR --workers 4 2 1
    python -m benchmarks.one_log report --keep DIR --out docs/studies/one-log.md

Jobs as users write them run on standalone clusters of this machine, whose workers have a share of a
core each (root only). From the log of each run the others of the job are predicted.
"""

from __future__ import annotations

import json
import math
import operator
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.calibration import JSON
from benchmarks.common import Row, spread, study_parser, table, write
from benchmarks.spark_cluster import spark_cluster
from predict_graph.engines.spark.log.replay import LoggedJob, logged_job
from predict_graph.graph.datasets import dataset_path
from predict_graph.intervals import QUANTILE
from predict_graph.sizing import plan

EVENTS, POINTS, NUMBERS, LINES = 40_000_000, 1_000_000, 2_000_000, 80_000


def make_data(spark: Any, folder: str, events: int) -> None:
    """Write events, users, points and text."""
    number = F.abs(F.hash("id"))
    spark.range(0, events, 1, 24).select(
        (number % 400_000).alias("user"),
        (F.abs(F.hash("id", F.lit(1))) % 2000).alias("item"),
        F.rand(1).alias("value"),
        (F.rand(2) * 30).cast("int").alias("day"),
    ).write.parquet(f"{folder}/events")
    users = spark.range(400_000).withColumnRenamed("id", "user")
    users.withColumn("country", F.col("user") % 60).write.parquet(f"{folder}/users")
    columns = [F.randn(k).alias(f"x{k}") for k in range(8)]
    spark.range(0, POINTS, 1, 8).select(*columns).write.parquet(f"{folder}/points")
    lines = spark.sparkContext.parallelize(range(LINES), 16)
    words = lines.map(lambda i: " ".join(f"w{(31 * i + 7 * j * j) % 50021}" for j in range(40)))
    words.saveAsTextFile(f"{folder}/text")


def aggregate(spark: Any, folder: str) -> None:
    """Filter, group and write a table."""
    rows = spark.read.parquet(f"{folder}/events").filter("value > 0.1")
    sums = rows.groupBy("user", "day").agg(F.sum("value"), F.count("*").alias("n"))
    sums.write.format("noop").mode("overwrite").save()


def join(spark: Any, folder: str) -> None:
    """Join two tables, group and sort."""
    users = spark.read.parquet(f"{folder}/users")
    rows = spark.read.parquet(f"{folder}/events").join(users, "user")
    means = rows.groupBy("country", "item").avg("value").orderBy("country")
    means.write.format("noop").mode("overwrite").save()


def sort(spark: Any, folder: str) -> None:
    """Sort numbers by key in Python."""
    pairs = spark.sparkContext.parallelize(range(NUMBERS), 24)
    pairs = pairs.map(lambda i: ((i * 2654435761) % 4294967296, i))
    pairs.sortByKey().map(lambda pair: pair[1]).sum()


def words(spark: Any, folder: str) -> None:
    """Count words in Python."""
    found = spark.sparkContext.textFile(f"{folder}/text", 32).flatMap(str.split)
    found.map(lambda word: (word, 1)).reduceByKey(operator.add).count()


def ranks(spark: Any, folder: str) -> None:
    """PageRank of Spark's examples, five iterations."""
    lines = spark.sparkContext.textFile(os.environ["ONE_LOG_EDGES"], 12)
    edges = lines.filter(lambda line: line[:1] != "#").map(lambda line: tuple(line.split()))
    links = edges.groupByKey(12).mapValues(list).cache()
    found = links.mapValues(lambda _: 1.0)
    for _ in range(5):
        sent = links.join(found).flatMap(lambda x: [(to, x[1][1] / len(x[1][0])) for to in x[1][0]])
        found = sent.reduceByKey(operator.add, 12).mapValues(lambda rank: 0.15 + 0.85 * rank)
    found.values().sum()


def clusters(spark: Any, folder: str) -> None:
    """k-means of MLlib."""
    rows = spark.read.parquet(f"{folder}/points").repartition(16)
    vectors = VectorAssembler(inputCols=rows.columns, outputCol="features").transform(rows)
    KMeans(k=20, maxIter=12, seed=1, tol=0).fit(vectors.cache())


def queries(spark: Any, folder: str) -> None:
    """Eight queries of a cached table, one after the other."""
    rows = spark.read.parquet(f"{folder}/events").cache()
    for k in range(8):
        chosen = rows.filter(F.col("item") % 8 == k).groupBy("user").agg(F.stddev("value"))
        chosen.write.format("noop").mode("overwrite").save()


def skewed(spark: Any, folder: str) -> None:
    """Partitions by a key that most rows share."""
    key = F.when(F.col("value") < 0.6, 0).otherwise(F.col("user"))
    rows = spark.read.parquet(f"{folder}/events").repartition(12, key)
    found = rows.groupBy(F.spark_partition_id()).agg(F.stddev("value"), F.max("item"))
    found.write.format("noop").mode("overwrite").save()


JOBS: dict[str, Callable[[Any, str], None]] = {
    job.__name__: job for job in (aggregate, join, sort, words, ranks, clusters, queries, skewed)
}
"""Each gets a session and the folder of the data."""


def submit(name: str, master: str, folder: Path, logs: Path, events: int) -> None:
    """Run a job in this process, or make the data."""
    builder = SparkSession.builder.master(master).appName(name)
    conf = {"executor.memory": "900m", "eventLog.dir": logs, "eventLog.compress": "false"}
    conf |= {"eventLog.rolling.enabled": "false", "ui.enabled": "false"}
    for key, value in {"eventLog.enabled": "true", **conf}.items():
        builder = builder.config(f"spark.{key}", value)
    spark = builder.getOrCreate()
    if name == "data":
        make_data(spark, str(folder), events)
    else:
        JOBS[name](spark, str(folder))
    spark.stop()


def measure(keep: Path, workers: list[int], cpu: float, names: list[str], events: int) -> None:
    """Run all jobs on each number of workers, but those that have run."""
    data = keep / f"data of {events}"
    edges = dataset_path("soc-Epinions1")
    if edges is None:
        raise SystemExit("error: PREDICT_GRAPH_DATA names no folder with soc-Epinions1")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "ONE_LOG_EDGES": str(edges)}

    def start(name: str, master: str, into: Path) -> None:
        into.mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-m", "benchmarks.one_log", "submit", "--keep", str(data)]
        words += ["--jobs", name, "--master", master, "--logs", str(into)]
        subprocess.run([*words, "--events", str(events)], env=environment, check=True)

    if not data.is_dir():
        start("data", "local[2]", data)
    for count in workers:
        for name in names:
            job = name if events == EVENTS else f"{name} of {events / 1e6:g} M events"
            into = keep / "logs" / job / str(count)
            if not any(into.glob("app-*")):
                with spark_cluster(count, cpu=cpu) as cluster:
                    start(name, cluster.master, into)


def sparklens(found: LoggedJob) -> LoggedJob:
    """Return a job as Sparklens takes it: tasks stay as they are, executors are there."""
    stages = (
        replace(each, tasks=each.logged, first=0, split_by_cores=False) for each in found.stages
    )
    return replace(found, stages=tuple(stages), arrivals=np.zeros(1))


def cases(keep: Path) -> Iterator[Row]:
    """Yield each pair of runs of a job: what the log of the first says of the second."""
    for folder in sorted((keep / "logs").iterdir()):
        files = {int(each.name): next(each.glob("app-*")) for each in folder.iterdir()}
        runs = {count: logged_job(file) for count, file in sorted(files.items())}
        plain = {count: sparklens(run) for count, run in runs.items()}
        plans = {n: plan(file, [*files], confidence=0.95) for n, file in files.items()}
        for logged, asked in permutations(runs, 2):
            found, true = runs[logged], runs[asked].seconds
            one = plans[logged].configurations.set_index("machines").loc[asked]
            replay = found.seconds_on(asked)
            yield {
                "job": folder.name,
                "asked": asked,
                "true": true,
                "replay": replay,
                "sparklens": plain[logged].seconds_on(asked),
                "ideal": found.seconds * logged / asked,
                "holds": bool(one["low"] <= true <= one["high"]),
                "once": found.one_wave > 0.5,
                "needed": needed_std(replay / true, asked / logged),
            }


def report(keep: Path, out: Path | None) -> None:
    """Write the tables, and the deviation of a doubling into calibration.json."""
    rows = list(cases(keep))
    methods = ("replay", "sparklens", "ideal")
    head = ["stages, mostly", "runs", "method", "median error", "90%", "worst"]
    figures, each_job, stds = [], [], {}
    for kind, what in (("", "several tasks a core"), ("one wave", "one task a core")):
        own = [row for row in rows if row["once"] == bool(kind)]
        stds[kind] = round(float(np.quantile([row["needed"] for row in own], 0.9)), 3)
        held = f"{np.mean([row['holds'] for row in own]):.0%}"
        for name in methods:
            errors = spread([row[name] / row["true"] - 1 for row in own])
            shown = held if name == "replay" else ""
            figures.append([what, str(len(own)), name, *errors, shown])
    lines = [*table([*head, "in the 90% interval"], figures, text_columns=3), ""]
    for name in dict.fromkeys(row["job"] for row in rows):
        own = [row for row in rows if row["job"] == name]
        took = {row["asked"]: row["true"] for row in own}
        text = ", ".join(f"{count}: {took[count]:.0f} s" for count in sorted(took))
        worst = (max(abs(row[each] / row["true"] - 1) for row in own) for each in methods)
        each_job.append([name, text, *(f"{value:.0%}" for value in worst)])
    lines += table(["job", "took on workers", *(f"{name}: worst" for name in methods)], each_job, 2)
    write(out, lines, "figures" if out else None)
    found = json.loads(JSON.read_text(encoding="utf-8"))
    found["log_std"]["seconds by a replay"] = stds
    JSON.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def needed_std(ratio: float, machines: float) -> float:
    """Return the standard deviation of the log, and of a doubling, that holds the truth."""
    return abs(math.log(ratio)) / QUANTILE / math.hypot(1.0, math.log2(machines))


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("what", choices=("run", "report", "submit"))
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--workers", type=int, nargs="+", default=[4, 2, 1])
    parser.add_argument("--cpu", type=float, default=0.4)
    parser.add_argument("--jobs", nargs="+", default=list(JOBS))
    parser.add_argument("--events", type=int, default=EVENTS, help="rows of the largest table")
    parser.add_argument("--master", help="of submit")
    parser.add_argument("--logs", type=Path, help="of submit")
    given = parser.parse_args()
    if given.what == "submit":
        submit(given.jobs[0], given.master, given.keep, given.logs, given.events)
    elif given.what == "run":
        measure(given.keep, given.workers, given.cpu, given.jobs, given.events)
    else:
        report(given.keep, given.out)


if __name__ == "__main__":
    main()
