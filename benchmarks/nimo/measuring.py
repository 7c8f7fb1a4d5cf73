"""Measuring the study: profiles of emulated machines, and runs of the programs on them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from benchmarks.nimo.machines import Machine, Testbed
from benchmarks.nimo.programs import command_of
from predict_graph.resources.loops import measure_memory, measure_processor
from predict_graph.resources.network import measure_network, serve
from predict_graph.sizing.tasks.watching import watch


def profiled(bed: Testbed, machines: Sequence[Machine]) -> dict[Machine, dict[str, float]]:
    """Measure each quota, and each network, once; a machine is one of each (NIMO, section IV-D)."""
    ports: queue.Queue[int] = queue.Queue()
    threading.Thread(target=serve, args=(0, bed.host, ports.put), daemon=True).start()
    answering = ports.get()
    processors, networks = {}, {}
    for machine in machines:
        if machine.cpu not in processors:
            bed.become(machine)
            processors[machine.cpu] = bed.inside(_processor)
            print(f"profile of {machine.cpu} cores: {processors[machine.cpu]}", flush=True)
        link = (machine.rate_mbit, machine.delay_ms)
        if link not in networks:
            bed.become(Machine(1.0, *link))
            port = bed.delayed(answering, machine.delay_ms)
            networks[link] = bed.inside(_network, (bed.host, port))
            print(f"profile of the link {link}: {networks[link]}", flush=True)
    return {
        machine: {**processors[machine.cpu], **networks[machine.rate_mbit, machine.delay_ms]}
        for machine in machines
    }


def _processor() -> dict[str, float]:
    return {
        "cpu_speed": measure_processor(repeats=3)["cpu_integer_speed"].value,
        "memory_bandwidth": measure_memory(repeats=1)["memory_bandwidth"].value,
    }


def _network(peer: tuple[str, int]) -> dict[str, float]:
    return {name: measured.value for name, measured in measure_network(peer).items()}


def run_once(bed: Testbed, machine: Machine, program: str, scratch: Path) -> dict[str, float]:
    """Run a program on a machine, watched from outside; the caches of its machine are empty."""
    port = bed.become(machine)
    seen = bed.inside(watch, command_of(program, bed.host, port, scratch))
    if seen.exit_status != 0:
        raise RuntimeError(f"{program} ended with exit status {seen.exit_status}")
    # What a quota of q gives is a processor of speed q that is always there: busy means throttled.
    return {
        "seconds": seen.seconds,
        "utilization": seen.utilization,
        "data_bytes": float(seen.data_bytes),
        "network_share": seen.network_share(),
    }
