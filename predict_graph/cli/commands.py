"""The commands by name: each is imported when it is called, as all of them take half a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

GIVEN: list[str] = []
"""The words of the command line, for the report, which states how to reproduce it."""

COMMANDS = {
    "predict": (
        "predicting:predict",
        "Predict iterations and runtime of a job, or of a function's call, without running it.",
    ),
    "run": (
        "predicting:run",
        "Run a job or a function's call for real, and keep the run in the history.",
    ),
    "validate": ("predicting:validate", "Predict a job, then run it, then compare."),
    "learn": (
        "predicting:learn",
        "Learn once what a cluster charges; predictions on it then take seconds.",
    ),
    "watch": (
        "watching:watch",
        "Show what remains of a Spark application that runs, from outside.",
    ),
    "sample": (
        "sampling:sample",
        "Draw a sample, write its edges with their original ids, and say how faithful it is.",
    ),
    "compare-samplers": (
        "sampling:compare_samplers",
        "Compare samplers on graphs: how faithful their samples are, and what they predict.",
    ),
    "compare-functions": (
        "functions:compare_functions",
        "Predict several functions on one graph, side by side.",
    ),
    "design": (
        "designing:design",
        "Choose the runs of a job that teach a scaling model most for a budget.",
    ),
    "collect": (
        "jobs:collect",
        "Run a command at every point of a design, and keep how long each run took.",
    ),
    "fit": (
        "plans:fit",
        "Fit a model to measured runs: of a job on many machines, or of a task on unlike ones.",
    ),
    "plan": (
        "plans:plan",
        "Choose machines for a job: by a deadline, within a budget, or along the frontier.",
    ),
    "next": (
        "next_runs:next_run",
        "Say which configuration of a job to measure next, or measure until that does not pay.",
    ),
    "calibrate": (
        "resources:calibrate",
        "Measure this machine, or the executors of a cluster: processor, memory, disk, network.",
    ),
    "profile": (
        "resources:profile",
        "Run a command, unchanged, and see from outside what it does with the machine.",
    ),
    "history": ("history:history_app", "Runs that were kept."),
    "datasets": ("catalogue:datasets_app", "Named graphs."),
    "list": ("catalogue:list_plugins", "List the plug-ins of a kind, and where they come from."),
}
"""Name of a command, or of a group of them, to where it is in this folder, and what it does.

The sentence is the first one of its docstring, which a test compares.
"""

_COMPILED = frozenset(("predict", "run", "validate"))  # compiled before anything is timed


class Commands(Mapping[str, Any]):
    """The commands, each imported when it is called."""

    def __init__(self) -> None:
        self._imported: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._imported:
            module, _, part = COMMANDS[name][0].partition(":")
            found = getattr(import_module(f"predict_graph.cli.{module}"), part)
            holder = typer.Typer(rich_markup_mode=None)
            if isinstance(found, typer.Typer):
                holder.add_typer(found, name=name)
            else:
                holder.command(name)(found)
            self._imported[name] = _checked(name, get_group(holder).commands[name])
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Program(TyperGroup):
    """The program: it imports the one command that is called, and none for its help."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _checked(name: str, command: Any) -> Any:
    """Let a command, or each of a group, look at its files before it begins."""
    if hasattr(command, "commands"):
        for inner, each in command.commands.items():
            _checked(inner, each)
        return command
    begin: Callable[[Any], Any] = command.invoke

    def invoke(context: Any) -> Any:
        from predict_graph.cli.overwriting import check_apart

        check_apart(name, context.params, _labels(context.command.params))
        if name in _COMPILED:
            from predict_graph.compiled import compile_kernels, is_compiled

            if not is_compiled():
                compile_kernels()
        return begin(context)

    command.invoke = invoke
    return command


def _labels(parameters: Any) -> dict[str, str]:
    """Return what a user calls each parameter: --out, GRAPH."""
    return {
        each.name: each.opts[0]
        if each.param_type_name == "option"
        else (each.metavar or each.name).upper()
        for each in parameters
    }
