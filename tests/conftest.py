"""Fixtures for all tests."""

import itertools
import json
import os
import re
import shlex
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from tests.python import python

# Compiled functions make the first example slow; how long an example takes says nothing here.
settings.register_profile(
    "predict-graph",
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("predict-graph"), max_examples=10)
settings.load_profile("predict-graph")

os.environ["PREDICT_GRAPH_HISTORY"] = "none"  # runs are kept only where a test says where


# Of short sessions: optimising what Java compiles would cost more than it saves, and verifying the
# classes of Spark takes two of the first twelve seconds of the processor.
QUICK_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
QUICK_CONF = {f"spark.{side}.extraJavaOptions": QUICK_JAVA for side in ("driver", "executor")}


class CommonSession:
    """A session of two threads for all tests that only run jobs in one.

    Opening a session and making it warm takes longer than most of these tests. The files that
    share it come first, one after the other; it is closed before a file that does not.
    """

    def __init__(self):
        self.settings = {"master": "local[2]", "memory": "1g", "conf": QUICK_CONF}
        self.files = set()
        self.ctrl_c_before = None
        self._open = None
        self._closing = ExitStack()

    def get(self):
        """Return the session; open it if it is not."""
        if self._open is None:
            from predict_graph.engines.spark import SparkSettings
            from predict_graph.engines.spark.session.opening import open_session

            self.ctrl_c_before = signal.getsignal(signal.SIGINT)
            settings = SparkSettings(machines=2, **self.settings)
            self._open = self._closing.enter_context(open_session(settings))
        return self._open

    def close(self):
        """Close it if it is open."""
        self._open = None
        self._closing.close()


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch):
    """Let predictions find no other work on the machine, whatever there is beside the tests."""
    from predict_graph.cores import Load, LoadMeter

    monkeypatch.setattr(LoadMeter, "read", lambda meter, since=None: Load())


@pytest.fixture(autouse=True)
def counted_budget(monkeypatch):
    """Let a prediction spend its budget by looks at the clock, however slow the machine is."""
    ticks = itertools.count()
    counted = SimpleNamespace(perf_counter=lambda: 1e-4 * next(ticks))
    monkeypatch.setattr("predict_graph.budget.time", counted)


COMMON_SESSION = CommonSession()
OF_COMMON_SESSION = re.compile(r"\b(local_session|local_spark|common_session)\b")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give all files that share the session to one process: the other would open another.

    What Spark compiles for an algorithm takes longer than most of these tests, too.
    """
    from xdist.scheduler import LoadFileScheduling

    root = config.rootpath
    shared = {
        file.relative_to(root).as_posix()
        for file in (root / "tests").rglob("test_*.py")
        if OF_COMMON_SESSION.search(file.read_text(encoding="utf-8"))
    }

    class BySession(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid):
            file: str = super()._split_scope(nodeid)
            return "the common session" if file in shared else file

    return BySession(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items):
    """Put the files with Spark first: they are the longest."""

    def shares(item):
        return "common_session" in getattr(item, "fixturenames", ()) or "[spark-" in item.name

    for item in items:
        if "spark_here" in getattr(item, "fixturenames", ()) or "[spark-" in item.name:
            item.add_marker("spark")
    first = COMMON_SESSION.files = {item.path for item in items if shares(item)}
    second = {item.path for item in items if item.get_closest_marker("spark") is not None}

    items.sort(key=lambda item: 0 if item.path in first else 1 if item.path in second else 2)


def pytest_runtest_setup(item):
    """Leave nothing of Spark running where it is not wanted."""
    if item.path not in COMMON_SESSION.files:
        COMMON_SESSION.close()


def pytest_sessionfinish():
    """Leave nothing of Spark running."""
    COMMON_SESSION.close()


@dataclass(frozen=True)
class Result:
    """How a command has ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self):
        return self.err.splitlines()

    @property
    def answer(self):
        """What a command that succeeded has written to standard output as JSON."""
        assert self.status == 0, self
        return json.loads(self.out)

    def is_refused(self, *parts, status=2):
        """Check that the program said why not, in one line."""
        assert self.status == status, self
        assert len(self.lines) == 1, self.err
        assert self.err.startswith("error: ")
        assert "internal error" not in self.err
        for part in parts:
            assert part in self.err


@pytest.fixture
def program(capsys, monkeypatch):
    """Run a command in this process, on a wide terminal; check an exit status that is given.

    The command is written as in a shell; arguments after it are taken as they are. No line of
    progress is written on a slow machine, since lines of errors are counted.
    """
    from predict_graph.cli import main

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("predict_graph.clock.display.PATIENCE", 3600.0)

    def call(command="", *arguments, status=None):
        with pytest.raises(SystemExit) as exit_:
            main([*shlex.split(command), *map(str, arguments)])
        captured = capsys.readouterr()
        done = Result(int(exit_.value.code or 0), captured.out, captured.err)
        assert status in (None, done.status), done
        return done

    return call


@pytest.fixture
def process():
    """Run the program as a shell does: in a process of its own, on a wide terminal.

    Where a line breaks, on a narrow one, depends on the times in it.
    """

    def call(*words, env=os.environ, **options):
        options |= {"check": False, "env": {**env, "COLUMNS": "200"}}
        done = python("-m", "predict_graph", *words, **options)
        return Result(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session", autouse=True)
def _warm_runs():
    """Fork the process of a run, that of ``validate``, from one that has imported what it needs.

    Commands that are interrupted (``cli/test_interrupt.py``) start theirs as the program does.
    """
    from multiprocessing import forkserver, get_context

    from predict_graph.prediction import validation

    root = Path(__file__).parents[1]

    def warm_context(method):
        context = get_context("forkserver")
        context.set_forkserver_preload(
            ["predict_graph.prediction.pipeline", "predict_graph.engines.local"]
        )
        with pytest.MonkeyPatch.context() as patch:  # where it imports from when it starts
            patch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)
            forkserver.ensure_running()
        return context

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "get_context", warm_context)
        yield


@pytest.fixture
def written(tmp_path):
    """Write a file of a given text, or of bytes."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def history(tmp_path):
    """A history in a file that is not there yet."""
    from predict_graph.history import History

    return History(tmp_path / "history.sqlite")


@pytest.fixture
def only_built_in(monkeypatch):
    """Forget the plug-ins that a test loads."""
    from predict_graph.plugins import registrations

    monkeypatch.setattr("predict_graph.plugin_files._LOADED", {})
    before = registrations()
    yield
    for registry, name in registrations():
        if (registry, name) not in before:
            registry.unregister(name)


@pytest.fixture
def interruptible():
    """Let Ctrl-C and a closed terminal through, in this process and in those that a test starts.

    A shell makes its background jobs ignore them, and whatever they start inherits that.
    """
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def shared_file():
    """Find a file in the folder that PREDICT_GRAPH_DATA names; skip when it is not there."""

    def find(name):
        data = os.environ.get("PREDICT_GRAPH_DATA")
        if not data:
            pytest.skip(f"needs {name}: PREDICT_GRAPH_DATA names no folder")
        for folder in (Path(data), Path(data) / "graphs", Path(data) / "cluster"):
            if (folder / name).is_file():
                return folder / name
        pytest.skip(f"needs {name}, which is not in {data}")

    return find


@pytest.fixture(scope="session")
def spark_here():
    """Skip where Apache Spark cannot run: pyspark or Java is missing."""
    from predict_graph.engines.spark.session.opening import require_spark
    from predict_graph.errors import JobError

    try:
        require_spark()
    except JobError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def quick_java():
    """Options of Java for short sessions."""
    return QUICK_JAVA


@pytest.fixture(scope="session")
def quick_conf():
    """Settings of short sessions."""
    return QUICK_CONF


@pytest.fixture(scope="session")
def common_session():
    """What opens and closes the session that tests share."""
    return COMMON_SESSION


@pytest.fixture(scope="module")
def local_session(spark_here, common_session):
    """A session of two threads in one process, shared with other tests."""
    return common_session.get()


@pytest.fixture(scope="module")
def local_spark(common_session, local_session):
    """The engine in that session."""
    from predict_graph.engines.spark import SparkEngine

    engine = SparkEngine(workers=2, collect=True, **common_session.settings)
    engine.opened = local_session
    return engine
