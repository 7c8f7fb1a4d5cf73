"""The commands calibrate and profile: what a machine can do, and what a command does with it."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer, Table
from predict_graph.cli import options
from predict_graph.cli.output import Output
from predict_graph.cli.plans import attributes as attributes_of
from predict_graph.clock.display import Display
from predict_graph.durations import counted, readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable

if TYPE_CHECKING:
    from predict_graph.resources import ResourceProfile
    from predict_graph.sizing.tasks.watching import Observation


def calibrate(
    *,
    out: Path | None = None,
    folder: Path | None = None,
    peer: str | None = None,
    serve: int | None = None,
    listen: str | None = None,
    disk: bool = True,
    master: str | None = None,
    machines: int | None = None,
    json: str | None = None,
) -> None:
    """Measure this machine, or the executors of a cluster: processor, memory, disk, network.

    Parameters
    ----------
    out : FILE.json
        Save the profile, for plan and predict.
    folder : DIR, default temporary files
        On the disk to measure.
    peer : HOST:PORT
        Measure the network to a machine that runs calibrate --serve PORT.
    serve : PORT
        Answer those who measure, until Ctrl-C.
    listen : ADDRESS, default 127.0.0.1
        Address that --serve listens on.
    disk
        Measure the disk.
    master : URL
        Measure the executors of a Spark cluster, side by side.
    machines : , default 1
        Executors to measure, with --master.
    """
    from predict_graph.resources import calibration, network, write_profile

    console = options.messages()
    measured = {"peer": peer, "folder": folder, "no-disk": None if disk else True}
    if serve is not None:
        others = {"master": master, "machines": machines, "out": out, "json": json}
        options.refuse({**measured, **others}, "is not read together with --serve; leave it out")
        if not 0 <= serve < 65536:
            raise RequestError(f"--serve is {serve}; accepted: a port from 0 to 65535")
        address, said = (listen or "127.0.0.1").strip("[]"), "answering on {}, until Ctrl-C"
        with suppress(KeyboardInterrupt):  # how it is meant to end
            network.serve(serve, address, lambda where: console.print(said.format(where)))
        return
    options.refuse({"listen": listen}, "is the address of --serve; accepted: together with it")
    if master is not None:
        options.refuse(measured, "is not read together with --master; leave it out")
        _executors(master, 1 if machines is None else machines, out, json)
        return
    options.refuse({"machines": machines}, "counts executors; accepted: together with --master")
    if not disk:
        options.refuse({"folder": folder}, "is on the disk to measure; accepted: without --no-disk")
    if folder is not None and not folder.is_dir():
        raise RequestError(f"there is no folder {folder}")
    with Display(console) as display:
        found = calibration.calibrate(
            folder=folder,
            peer=None if peer is None else network.check_peer(peer),
            disk=disk,
            progress=lambda what, done: display.step(f"measuring: {what}", done),
        )
    if out is not None:
        write_profile(found, out)
    Output(json=json).give(_described(found), found.to_dict())


def profile(
    command: list[str] | None = None,
    *,
    resources: Path | None = None,
    given: list[str] | None = None,
    input_file: Path | None = None,
    graph: str | None = None,
    parallelism: int = 1,
    out: Path | None = None,
    json: str | None = None,
) -> None:
    """Run a command, unchanged, and see from outside what it does with the machine.

    Parameters
    ----------
    command : -- COMMAND…
        What to run, after --; with --json - its output goes to standard error.
    resources : FILE.json
        Profile of the machine, of calibrate --out.
    given : --with NAME=VALUE
        Attribute of the data or of the resources, such as edges=1e6; repeatable.
    input_file : --input FILE
        Add the size of this file or folder.
    graph : GRAPH
        Add vertices, edges and skew of this graph.
    parallelism
        Cores that the command uses, given as many.
    out : FILE.csv
        Add the run to this table, for fit --model nimo.
    """
    from costmodels.occupancy import occupancies_of
    from predict_graph.cores import usable_cores
    from predict_graph.resources import read_profile
    from predict_graph.sizing.tasks import model as runs
    from predict_graph.sizing.tasks.watching import watch

    machine = {} if resources is None else read_profile(resources).row()
    attributes = {
        **machine,
        **({} if input_file is None else runs.file_attributes(input_file)),
        **({} if graph is None else runs.graph_attributes(graph)),
        **attributes_of(given),
    }
    if taken := {"started", *runs.OBSERVED} & attributes.keys():
        raise RequestError(f"--with has {min(taken)!r}, which is observed; accepted: another name")
    if out is not None and not attributes:
        raise RequestError(
            "a table of runs needs attributes; accepted: --resources FILE.json or --with NAME=VALUE"
        )
    if out is not None and check_writable(out).exists():
        runs.add_run(out, None, attributes)  # other columns are refused before the command
    started = datetime.now(UTC).isoformat(timespec="seconds")
    seen = watch(command or [], parallelism=parallelism, out=2 if json == "-" else None)
    # Of what shares the time of an average I/O; equal where they are not known.
    bandwidths = ("network_bandwidth", "disk_read_bandwidth")
    rates = [machine[name] for name in bandwidths if name in machine]
    observed = {
        "seconds": seen.seconds,
        "utilization": seen.utilization,
        "data_bytes": seen.data_bytes,
        "network_share": seen.network_share(*rates if len(rates) == 2 else ()),
    }
    occupancies: Any = occupancies_of(*observed.values()).drop(columns="data").iloc[0].to_dict()
    if seen.exit_status == 0 and out is not None:
        runs.add_run(out, {"started": started, **observed}, attributes)
    more = {"occupancies": occupancies, "attributes": attributes}
    content = {"schema": 1, **vars(seen), **observed, **more}
    Output(json=json).give(_observed(seen, occupancies), content)
    status = seen.exit_status
    if status != 0:
        how = f"with exit status {status}" if status > 0 else f"by signal {-status}"
        raise JobError(f"the command ended {how}; the run was not kept")
    # A tenth more is above the 7% spread of repeats (docs/resources.md).
    if seen.busy_cores > 1.1 * seen.cores and parallelism < usable_cores():
        options.note(
            f"warning: the command kept {seen.busy_cores:.1f} cores busy, not {seen.cores:g}; "
            f"give --parallelism {math.ceil(seen.busy_cores)}"
        )


# What is shown of an executor; the JSON has all.
_TELLING = {
    "cpu_integer_speed": "one thread",
    "cpu_cores": "all",
    "memory_bandwidth": "memory",
    "disk_write_bandwidth": "disk",
}


def _executors(master: str, machines: int, out: Path | None, json: str | None) -> None:
    from predict_graph.resources import executors, write_profile

    with Display(options.messages()) as display:
        display.step(f"measuring {counted(machines, 'executors')}", 0.0)
        found = executors.calibrate_executors(master, machines)
    slowest = found.slowest
    if out is not None:
        write_profile(slowest, out)
    columns = [f"{title}, {slowest.attributes[name].unit}" for name, title in _TELLING.items()]
    rows = [
        (host, *(f"{profile.value(name):.4g}" for name in _TELLING))
        for host, profile in found.profiles.items()
    ]
    table = Table(f"executors of {master}, side by side", ["executor", *columns], rows)
    Output(json=json).give(Answer(found.verdict, tables=[table]), found.to_dict())


def _described(found: ResourceProfile) -> Answer:
    rows = [
        (name, f"{each.value:.4g}", each.unit, f"{each.spread:.1%}", each.repeats)
        for name, each in found.attributes.items()
    ]
    title = (
        "value: the better quartile of the repeats; spread: interquartile range over it; "
        f"measured in {readable_seconds(found.seconds)}"
    )
    table = Table(title, ["attribute", "value", "unit", "spread", "repeats"], rows)
    return Answer(found.machine, tables=[table], warnings=found.notes)


def _observed(seen: Observation, occupancies: dict[str, float]) -> Answer:
    compute, network, disk = (f"{1e9 * each:.4g} ns/byte" for each in occupancies.values())
    cores = counted(seen.cores, "cores")
    facts = [
        ("time", readable_seconds(seen.seconds)),
        ("processor", f"{seen.cpu_seconds:.3f} s, {seen.utilization:.0%} of {cores}"),
        ("read and written", f"{seen.read_bytes:,} and {seen.written_bytes:,} bytes"),
        ("of these on disk", f"{seen.disk_bytes:,} bytes"),
        ("network of the machine", f"{seen.network_bytes:,} bytes"),
        ("computing", f"{compute} (o_a)"),
        ("waiting for the network", f"{network} (o_n)"),
        ("waiting for the disk, or for nothing seen", f"{disk} (o_d)"),
    ]
    return Answer("profile of the run", facts)
