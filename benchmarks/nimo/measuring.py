"""Measuring the study: profiles of emulated machines, and runs of the programs on them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.nimo.machines import Machine, Testbed
from benchmarks.nimo.programs import Program
from predict_graph.resources.loops import measure_memory, measure_processor
from predict_graph.resources.network import measure_network, serve
from predict_graph.sizing.tasks.watching import watch


def profiled(bed: Testbed, machines: Sequence[Machine]) -> dict[Machine, dict[str, float]]:
    """Measure each quota, and each network, once; a machine is one of each (NIMO, section IV-D)."""
    ready: list[int] = []
    known = threading.Event()

    def listening(port: int) -> None:
        ready.append(port)
        known.set()

    threading.Thread(target=serve, args=(0, bed.host, listening), daemon=True).start()
    known.wait()
    processors, networks = {}, {}
    for machine in machines:
        if machine.cpu not in processors:
            bed.become(machine)
            processors[machine.cpu] = bed.inside(_processor)
            print(f"profile of {machine.cpu} cores: {processors[machine.cpu]}", flush=True)
        link = (machine.rate_mbit, machine.delay_ms)
        if link not in networks:
            bed.become(Machine(1.0, *link))
            port = bed.delayed(ready[0], machine.delay_ms)
            networks[link] = bed.inside(_network, (bed.host, port))
            print(f"profile of the link {link}: {networks[link]}", flush=True)
    return {
        machine: {**processors[machine.cpu], **networks[machine.rate_mbit, machine.delay_ms]}
        for machine in machines
    }


def _processor() -> dict[str, float]:
    speed = measure_processor(repeats=3)
    memory = measure_memory(repeats=1)
    return {
        "cpu_speed": speed["cpu_integer_speed"].value,
        "memory_bandwidth": memory["memory_bandwidth"].value,
    }


def _network(peer: tuple[str, int]) -> dict[str, float]:
    return {name: measured.value for name, measured in measure_network(peer).items()}


def run_once(
    bed: Testbed, machine: Machine, program: Program, file: str, scratch: Path
) -> dict[str, float]:
    """Run a program on a machine, watched from outside; the caches of its machine are empty."""
    port = bed.become(machine)
    _until_answers(bed.host, port)
    command = program.command(bed.host, port, file, scratch)
    seen = bed.inside(partial(watch, command, parallelism=program.parallelism))
    if seen.exit_status != 0:
        raise RuntimeError(f"{program.name} ended with exit status {seen.exit_status}")
    # What a quota of q gives is a processor of speed q that is always there: busy means throttled.
    return {
        "seconds": seen.seconds,
        "utilization": seen.utilization,
        "data_bytes": float(seen.data_bytes),
        "network_share": seen.network_share(),
    }


def _until_answers(host: str, port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection((host, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
