"""Events of a Spark application, as its log has them; times are in seconds."""

import json


def event(kind, **fields):
    name = kind if "." in kind else f"SparkListener{kind}"
    return json.dumps({"Event": name, **fields}, separators=(",", ":")) + "\n"


def job_start(number, stages, at, **properties):
    fields = {"Job ID": number, "Submission Time": 1e3 * at, "Stage Infos": []}
    return event("JobStart", **fields, **{"Stage IDs": stages, "Properties": properties})


def job_end(number, at):
    return event("JobEnd", **{"Job ID": number, "Completion Time": 1e3 * at})


def stage(number, name="x", **info):
    about = {"Stage ID": number, "Stage Attempt ID": 0, "Stage Name": name, "Number of Tasks": 1}
    about |= {"Parent IDs": [], "RDD Info": [], **info}
    return event("StageSubmitted", **{"Stage Info": about})


def task(number, index=0, at=2.0, seconds=0.5, *, attempt=0, metrics=None, **info):
    """Return the end of a task of a stage."""
    about = {"Task ID": 1, "Index": index, "Executor ID": "0", "Host": "far.example"}
    about |= {"Launch Time": 1e3 * at, "Finish Time": 1e3 * (at + seconds)}
    about |= {"Failed": False, "Killed": False, **info}
    fields = {"Stage ID": number, "Stage Attempt ID": attempt, "Task Info": about}
    return event("TaskEnd", **fields, **{"Task Metrics": metrics or {}})


def spark_job(number, name, group=None, description=None, *, at=None, seconds=1.0):
    """Return the events of a job of one stage and one task."""
    begin = 10.0 + number if at is None else at
    names = {"spark.jobGroup.id": group, "spark.job.description": description}
    properties = {key: text for key, text in names.items() if text is not None}
    read = {"Total Records Read": 100, "Local Bytes Read": 300, "Remote Bytes Read": 900}
    metrics = {"Executor Run Time": 800, "Shuffle Read Metrics": read}
    return (
        job_start(number, [number], begin, **properties)
        + stage(number, name)
        + task(number, 0, begin, seconds - 0.1, metrics=metrics)
        + job_end(number, begin + seconds)
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
