"""The conda recipe asks for what the wheel asks for."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_recipe_has_the_dependencies_of_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    recipe = (ROOT / "packaging" / "recipe.yaml").read_text()
    listed = {}
    for part, lines in re.findall(r"  (host|run):\n((?:    - .*\n)+)", recipe):
        listed[part] = {line.strip(" -").replace(" ", "") for line in lines.splitlines()}
    python = "python" + project["project"]["requires-python"]
    assert listed["run"] == {*project["project"]["dependencies"], python}
    assert listed["host"] == {*project["build-system"]["requires"], python, "pip"}
    (command,) = project["project"]["scripts"].items()
    assert f"- {' = '.join(command)}\n" in recipe
