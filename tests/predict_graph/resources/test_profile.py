import json
from dataclasses import replace

import pytest

from predict_graph import resources
from tests.refusals import refused


def machine(speed=1000.0, cores=2.0, latency=90.0, bandwidth=10.0):
    values = {
        "cpu_integer_speed": (speed, "million steps/s"),
        "cpu_float_speed": (speed / 5, "million steps/s"),
        "cpu_cores": (cores, "cores"),
        "memory_latency_32k": (1.5, "ns"),
        "memory_latency_256k": (4.0, "ns"),
        "memory_latency_2m": (12.0, "ns"),
        "memory_latency_16m": (40.0, "ns"),
        "memory_latency_128m": (latency, "ns"),
        "memory_bandwidth": (bandwidth, "GB/s"),
    }
    attributes = {name: resources.Measured(*each, 0.01, 5) for name, each in values.items()}
    measured = "2026-01-01T00:00:00+00:00"
    return resources.ResourceProfile("a machine", measured, 9.0, attributes, ("a note",))


def test_a_profile_survives_its_file(tmp_path):
    file = tmp_path / "here.json"
    resources.write_profile(machine(), file)
    assert resources.read_profile(file) == machine()
    assert list(tmp_path.iterdir()) == [file]


def test_other_files_are_refused(written, tmp_path):
    refused("is no resource profile", resources.read_profile, written("["))
    empty = written('{"kind": "predict-graph resource profile", "schema": 1}')
    refused("holds no usable profile", resources.read_profile, empty)
    negative = written(json.dumps(machine(cores=-1).to_dict()))
    refused("cpu_cores is -1; accepted: a number above 0", resources.read_profile, negative)
    refused("there is no file", resources.read_profile, tmp_path / "missing.json")


def test_half_the_processor_and_half_the_cores():
    slow = machine(speed=500.0, cores=1.0, latency=180.0, bandwidth=2.5)
    factor = resources.carried_factor(machine(), slow, 10**9)
    assert factor.compute == pytest.approx(4.0)
    assert factor.single == pytest.approx(2.0)
    assert resources.carried_factor(slow, machine(), 10**9).compute == pytest.approx(0.25)
    kept = {k: v for k, v in slow.attributes.items() if k != "memory_bandwidth"}
    said = "has no 'memory_bandwidth'; it has: cpu_integer_speed"
    refused(said, resources.carried_factor, machine(), replace(slow, attributes=kept), 10**9)
