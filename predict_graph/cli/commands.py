"""The commands by name: each is imported when it is called, as all of them take half a second."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

COMMANDS = {
    "predicting": "predict run validate learn",
    "watching": "watch",
    "sampling": "sample compare-samplers",
    "functions": "compare-functions",
    "designing": "design collect next",
    "plans": "fit plan",
    "resources": "calibrate profile",
    "history": "list show export import import-eventlog prune",
    "datasets": "list path fetch",
    "catalogue": "list",
}
"""Modules of this folder, and the words of their commands: functions of the same names."""
_GROUPS = ("history", "datasets")  # whose name comes before the words of their commands
_HOMES = {
    name: module
    for module, words in COMMANDS.items()
    for name in ([module] if module in _GROUPS else words.split())
}
NAMES = [*_HOMES]
"""The commands and groups of commands, in the order of the help."""


def _function(module: str, word: str) -> Any:
    """Return that of a command; an underscore follows a name that Python has itself."""
    found, name = import_module(f"predict_graph.cli.{module}"), word.replace("-", "_")
    return getattr(found, f"{name}_", None) or getattr(found, name)


@cache
def command_of(name: str) -> Any:
    """Return a command, or a group of them, as typer runs it."""
    from predict_graph.cli.declaring import spread

    app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help=_summary(name))
    for word in COMMANDS[name].split() if name in _GROUPS else [name]:
        app.command(word)(spread(_function(_HOMES[name], word)))
    group = get_group(app)
    return group if name in _GROUPS else group.commands[name]


class Program(TyperGroup):
    """The program: it imports the one command that is called, and none for its help."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = dict.fromkeys(NAMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if there is none."""
        name = "run" if cmd_name == "track" else cmd_name  # which shows the remaining time
        return command_of(name) if name in NAMES else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in NAMES])


def _summary(name: str) -> str:
    """Return the first sentence of a command, or of the module of a group."""
    group = name in _GROUPS
    found = import_module(f"predict_graph.cli.{name}") if group else _function(_HOMES[name], name)
    return (found.__doc__ or "").partition("\n")[0]
