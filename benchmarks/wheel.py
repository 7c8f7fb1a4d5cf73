"""Build a wheel, install it in an empty environment, and predict there without the repository.

    python -m benchmarks.wheel [--keep FOLDER]

The wheel has every file of the three packages that is under version control, and nothing else. In a
folder of its own, with a history of its own, the installed program predicts, runs and compares, and
takes the tables that come with the packages.
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
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("predict_graph", "samplers", "costmodels")
DEMO = (
    "validate pagerank rmat:scale=14,edge_factor=8,seed=1 -p epsilon=0.001 --seed 1 --json p.json",
    "predict networkx:pagerank barabasi-albert:n=2000,m=4,seed=1 --budget 1s --seed 1",
    "fit runs.csv --model auto --out model.json",
    "plan model.json --machines 1:16 --scale 4 --prices example --deadline 1m",
    "list algorithms",
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
    archive = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in filter(None, archive.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "dist")]
    subprocess.run([*command, str(source)], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (folder / "dist").glob("*.whl")
    in_source = {
        str(file.relative_to(source))
        for package in PACKAGES
        for file in (source / package).rglob("*")
        if file.is_file()
    }
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
    subprocess.run([*pip, "--disable-pip-version-check", *pins, str(wheel)], check=True)
    return folder / "venv" / "bin" / "predict-graph"


def demo(program: Path, folder: Path) -> None:
    """Run the commands where nothing of the repository is found."""
    place = folder / "elsewhere"
    place.mkdir()
    (place / "runs.csv").write_text(RUNS)
    ours = ("PYTHONPATH", "PREDICT_GRAPH_DATA", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment["PREDICT_GRAPH_HISTORY"] = str(place / "history.sqlite")
    for command in DEMO:
        started = time.perf_counter()
        done = subprocess.run(
            [program, *command.split()],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        first = (done.stdout.splitlines() or [""])[0].strip()
        print(f"{time.perf_counter() - started:5.1f} s  predict-graph {command}\n         {first}")
        if done.returncode:
            raise SystemExit(done.stderr)


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
