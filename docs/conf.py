"""The site of these pages: ``make docs`` builds it into ``docs/_build``."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib.metadata import version as version_of
from pathlib import Path

project = "predict-graph"
author = "the authors of predict-graph"
release = version = version_of("predict-graph")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
exclude_patterns = ["_build"]
autosummary_generate = False  # numpydoc brings autosummary; every module has its page
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page of studies may begin a level lower

html_theme = "furo"
html_title = "predict-graph"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

# What scikit-learn gives every estimator links to pages of its own.
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_predict_request, set_score_request"
}
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False


def _write_commands(app: object) -> None:
    """Write the page of commands from the command line itself."""
    page = (Path(__file__).parent / "reference" / "commands").with_suffix(".md")
    program = ["-m", "typer", "predict_graph.cli.app", "utils", "docs", "--name", "predict-graph"]
    made = subprocess.run(
        [sys.executable, *program], capture_output=True, text=True, check=True
    ).stdout
    text = made.replace("# `predict-graph`\n", "# Commands\n", 1).replace("&#x27;", "'")
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _load_names(app: object) -> None:
    """Put names that packages load when they are first used where autodoc finds them."""
    for page in (Path(__file__).parent / "reference").glob("*.md"):
        for name in re.findall(r"automodule:: ([\w.]+)", page.read_text(encoding="utf-8")):
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                setattr(module, public, getattr(module, public))


def setup(app: object) -> dict[str, bool]:
    """Have the page of commands written, and names loaded, before pages are read."""
    app.connect("builder-inited", _write_commands)  # type: ignore[attr-defined]
    app.connect("builder-inited", _load_names)  # type: ignore[attr-defined]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
