import sys

import pytest

from predict_graph.sizing.tasks.watching import watch
from tests.refusals import failed, refused

pytestmark = pytest.mark.slow  # measures, waits, and starts processes


def test_computing_is_told_from_waiting():
    code = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    busy, idle = watch([sys.executable, "-c", code]), watch(["sleep", "0.8"])
    assert busy.exit_status == idle.exit_status == 0
    assert busy.cpu_seconds > 0.6
    assert idle.seconds > 0.8
    assert idle.utilization < 0.5 * busy.utilization


def test_bytes_of_all_processes_are_counted(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(b"x" * 3_000_000)
    seen = watch(["sh", "-c", f"cat {file} | cat > {tmp_path / 'copy'}; sleep 0.2"])
    assert 6_000_000 <= seen.read_bytes < 8_000_000  # each cat reads it all
    assert 6_000_000 <= seen.written_bytes < 8_000_000
    assert seen.data_bytes == seen.read_bytes + seen.written_bytes
    assert seen.network_share() == 0.0 or seen.network_bytes > 0


def test_the_exit_status_is_kept():
    assert watch(["sh", "-c", "exit 7"]).exit_status == 7


def test_bad_commands():
    refused("there is no command", watch, [])
    refused("parallelism is 0", watch, ["true"], parallelism=0)
    failed("cannot run /no/such/program", watch, ["/no/such/program"])
