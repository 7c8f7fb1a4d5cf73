"""Build sdist and wheel, install the wheel in an empty environment, and predict there.

    python -m benchmarks.wheel [--keep FOLDER]

The wheel is built from the sdist; it has every file of the three packages that is under version
control, and nothing else. In a folder of its own, with a history of its own, the installed program
answers for a CSV file with names, runs and compares, takes the tables that come with the packages,
and says which extra is missing. Seconds and megabytes of the installation are printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("predict_graph/", "samplers/", "costmodels/")
DEMO = (
    "predict pagerank follows.csv",
    "validate pagerank rmat:scale=14,edge_factor=8,seed=1 -p epsilon=0.001 --seed 1 --json p.json",
    "predict networkx:pagerank barabasi-albert:n=2000,m=4,seed=1 --budget 1s --seed 1",
    "fit runs.csv --model auto --out model.json",
    "plan model.json --machines 1:16 --scale 4 --prices example --deadline 1m",
    "list algorithms",
)
OURS = ("PYTHONPATH", "PREDICT_GRAPH_DATA", "VIRTUAL_ENV")
CLEAN = {name: value for name, value in os.environ.items() if name not in OURS}
LACKING = {  # extras that are not installed, and what needs them
    "design": "design --scale 0.1:1 --machines 1:4 --budget 100",
    "plot": "predict pagerank follows.csv --report page.html",
    "spark": "run pagerank follows.csv --engine spark --master local",
}
FOLLOWS = "who,whom\n" + "".join(
    f"ann{i},bob{(i * i + j) % 997}\n" for i in range(999) for j in range(9)
)
RUNS = "scale,machines,seconds,machine_type\n" + "".join(
    f"{scale},{machines},{5 + 2 * scale / machines},r3.xlarge\n"
    for scale in (4, 8)
    for machines in (1, 2, 4, 8)
)


def build(folder: Path) -> Path:
    """Build the wheel from a copy of what is under version control; return its file."""
    source = folder / "source"
    source.mkdir()
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(listing, cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(source)]
    # The copy has no history of versions to take its own from.
    known = {**os.environ, "SETUPTOOLS_SCM_PRETEND_VERSION": version("predict-graph")}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=known)
    (wheel,) = (folder / "dist").glob("*.whl")
    in_source = {name for name in names if name.startswith(PACKAGES) and (ROOT / name).is_file()}
    in_wheel = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if in_wheel != in_source:
        raise SystemExit(f"the wheel differs from the packages: {sorted(in_wheel ^ in_source)}")
    print(f"{wheel.name}: {len(in_wheel)} files, {wheel.stat().st_size / 1e6:.2f} MB")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel, with the pinned versions of what it needs; return the program."""
    venv.create(folder / "venv", with_pip=True)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    pins = ["-c", str(ROOT / "constraints.txt")]
    started = time.perf_counter()
    command = [*pip, "--disable-pip-version-check", *pins, str(wheel)]
    subprocess.run(command, check=True, env=CLEAN)
    files = [each for each in (folder / "venv").rglob("*") if each.is_file()]
    size = sum(each.stat().st_size for each in files) / 1e6
    print(f"installed in {time.perf_counter() - started:.0f} s: {size:.0f} MB")
    return folder / "venv" / "bin" / "predict-graph"


def demo(program: Path, folder: Path) -> None:
    """Run the commands where nothing of the repository is found."""
    place = folder / "elsewhere"
    place.mkdir()
    (place / "runs.csv").write_text(RUNS)
    (place / "follows.csv").write_text(FOLLOWS)
    environment = {**CLEAN, "PREDICT_GRAPH_HISTORY": str(place / "history.sqlite")}
    settings = {"cwd": place, "env": environment, "capture_output": True, "text": True}

    def ran(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *command.split()], check=False, **settings)

    for command in DEMO:
        started = time.perf_counter()
        done = ran(command)
        first = (done.stdout.splitlines() or [""])[0].strip()
        print(f"{time.perf_counter() - started:5.1f} s  predict-graph {command}\n         {first}")
        if done.returncode:
            raise SystemExit(done.stderr)
    for extra, command in LACKING.items():
        done = ran(command)
        said = done.stderr.strip().splitlines()[-1:]
        if done.returncode != 2 or f"predict-graph[{extra}]" not in " ".join(said):
            raise SystemExit(f"without the extra {extra}, {command}: {done.stderr or done.stdout}")
        print(f"         {said[0]}")


def main() -> None:
    """Build, install, and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="build and install here, and leave it there")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as passing:
        folder = keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        demo(install(build(folder), folder), folder)


if __name__ == "__main__":
    main()
