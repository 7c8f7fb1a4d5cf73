"""Events of a Spark application, as its log has them."""

import json


def event(kind, **fields):
    return json.dumps({"Event": f"SparkListener{kind}", **fields}, separators=(",", ":")) + "\n"


def spark_job(number, name, group=None, description=None, *, at=None, seconds=1.0):
    """Return the events of a job of one stage and one task."""
    begin = 10_000 + 1000 * number if at is None else 1e3 * at
    end, stage = begin + 1e3 * seconds, {"Stage ID": number}
    properties = {} if group is None else {"spark.jobGroup.id": group}
    if description is not None:
        properties["spark.job.description"] = description
    info = {**stage, "Stage Attempt ID": 0, "Stage Name": name, "Number of Tasks": 1}
    info |= {"Parent IDs": [], "RDD Info": []}
    task = {"Task ID": number, "Index": 0, "Executor ID": "0", "Host": "far.example"}
    task |= {"Killed": False, "Launch Time": begin, "Finish Time": end - 100, "Failed": False}
    read = {"Total Records Read": 100, "Local Bytes Read": 300, "Remote Bytes Read": 900}
    metrics = {"Executor Run Time": 800, "Shuffle Read Metrics": read}
    start = {"Job ID": number, "Submission Time": begin, "Stage IDs": [number]}
    return (
        event("JobStart", **start, Properties=properties)
        + event("StageSubmitted", **{"Stage Info": info})
        + event("TaskEnd", **{**stage, "Task Info": task, "Task Metrics": metrics})
        + event("JobEnd", **{"Job ID": number, "Completion Time": end})
    )


def start(at, **conf):
    """Return the first events of an application, with properties of Spark."""
    begun = event(
        "ApplicationStart", **{"App Name": "ranks", "App ID": "app-7", "Timestamp": 1e3 * at}
    )
    return begun + event("EnvironmentUpdate", **{"Spark Properties": conf}) if conf else begun


def steps(count, at, first=1):
    """Return the events of supersteps that job groups number, a second each."""
    numbers = range(first, first + count)
    return [spark_job(10 + n, "x", f"mine/superstep/{n}", at=at + n) for n in numbers]
