"""The examples of docs/extending.md: with ``--plugin``, and in an installed package.

tests/test_docs.py runs the scripts of the page.
"""

import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.distributions import install
from tests.python import python

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
SECTIONS = dict(section.split("\n", 1) for section in PAGE.read_text().split("\n## ")[1:])
EXAMPLES = [title for title, text in SECTIONS.items() if "```python\n# " in text]


def blocks(title, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[title], re.M | re.S)


def plugin_of(title):
    source = blocks(title, "python")[0]
    return source.split("\n", 1)[0].removeprefix("# "), source


def commands(title):
    return [shlex.split(line) for line in "".join(blocks(title, "sh")).splitlines()]


def surroundings(path):
    parts = [path, str(PAGE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, parts)), "COLUMNS": "200"}


def test_there_is_an_example_of_each_and_most_are_short():
    assert EXAMPLES == ["A transform", "An algorithm", "A sampler", "A cost model", "An engine"]
    for title in EXAMPLES[:-1]:
        assert len(plugin_of(title)[1].splitlines()) < 40


@pytest.mark.parametrize("title", EXAMPLES)
@pytest.mark.usefixtures("only_built_in")
def test_on_the_command_line(title, tmp_path, program, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, source = plugin_of(title)
    (tmp_path / name).write_text(source)
    shown = [program(*words) for _, *words in commands(title)]
    assert [done.status for done in shown] == [0] * len(shown)
    registered = re.search(r'register(?:_transform)?\("([\w-]+)"', source)[1]
    if title != "A transform":  # what a prediction prints does not name its transform
        assert registered in "".join(done.out for done in shown)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the package of the page into a folder, as an installer would leave it there."""
    folder = tmp_path_factory.mktemp("site")
    (toml,) = blocks("As a package", "toml")
    project = tomllib.loads(toml)
    sources = dict(plugin_of(title) for title in EXAMPLES)
    modules = project["tool"]["setuptools"]["py-modules"]
    kept = {module: sources.pop(f"{module}.py") for module in modules}
    assert not sources
    points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in named.items()) + "\n"
        for group, named in project["project"]["entry-points"].items()
    )
    install(folder, project["project"]["name"], points, **kept)
    return folder


def test_as_an_installed_package(installed, tmp_path, process):
    options = {"cwd": tmp_path, "env": surroundings(str(installed))}
    shown = [process(*words, **options) for _, *words in commands("As a package")]
    assert [done.status for done in shown] == [0] * len(shown)
    assert "lowest_ids:LowestIds" in shown[0].out
    assert all(name in shown[1].out for name in ("hops", "lowest-ids", "per-message"))
    assert "scipy" in shown[2].out


def test_the_modules_of_a_package_may_be_imported_first(installed, tmp_path):
    code = (
        "import hops, root_scaled, predict_graph\n"
        "from predict_graph.algorithms import ALGORITHMS\n"
        "from predict_graph.transforms import TRANSFORMS\n"
        "print(ALGORITHMS.get('hops') is hops.Hops, ALGORITHMS.origin('hops'))\n"
        "print(TRANSFORMS.get('root-scaled').threshold is root_scaled.root_scaled)\n"
    )
    done = python("-c", code, cwd=tmp_path, env=surroundings(str(installed)))
    assert done.stdout == "True hops:Hops\nTrue\n"
