"""The commands by name: each is imported when it is called, as all of them take half a second."""

from __future__ import annotations

from functools import cache
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

COMMANDS = {
    "predict": "predicting:predict",
    "run": "predicting:run",
    "validate": "predicting:validate",
    "learn": "predicting:learn",
    "watch": "watching:watch",
    "sample": "sampling:sample",
    "compare-samplers": "sampling:compare_samplers",
    "compare-functions": "functions:compare_functions",
    "design": "designing:design",
    "collect": "designing:collect",
    "fit": "plans:fit",
    "plan": "plans:plan",
    "next": "designing:next_run",
    "calibrate": "resources:calibrate",
    "profile": "resources:profile",
    "history list": "history:list_runs",
    "history show": "history:show",
    "history export": "history:export",
    "history import": "history:import_runs",
    "history import-eventlog": "history:import_event_log",
    "history prune": "history:prune",
    "datasets list": "datasets:list_datasets",
    "datasets path": "datasets:path",
    "datasets fetch": "datasets:fetch",
    "list": "catalogue:list_plugins",
}
"""Words of a command to where it is in this folder."""


NAMES = [*dict.fromkeys(words.partition(" ")[0] for words in COMMANDS)]
"""The commands and groups of commands, in the order of the help."""


@cache
def command_of(name: str) -> Any:
    """Return a command, or a group of them, as typer runs it."""
    from predict_graph.cli.declaring import spread

    holder, group = (typer.Typer(rich_markup_mode=None, no_args_is_help=True) for _ in "12")
    for words in COMMANDS:
        first, _, second = words.partition(" ")
        if first == name:
            command = spread(resolve_name(f"predict_graph.cli.{COMMANDS[words]}"))
            (group if second else holder).command(second or first)(command)
    if group.registered_commands:
        holder.add_typer(group, name=name, help=_summary(name))
    return get_group(holder).commands[name]


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
    found = resolve_name(f"predict_graph.cli.{COMMANDS.get(name, name)}")
    return (found.__doc__ or "").partition("\n")[0]
