"""Observe a running function from outside: its outermost loop, and how far that is.

An observation takes some ten microseconds and changes nothing: it reads frames, the syntax tree of
the functions that are running, and local variables. Progress is read from a loop's variables, its
iterator, or its condition. Nothing of the running function is called but what cannot change it:
lengths of containers, and fresh iterations over containers of libraries.
"""

from __future__ import annotations

import ast
import builtins
import gc
import inspect
import linecache
import math
import operator
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MappingView, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import CodeType, FrameType, GeneratorType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from predict_graph.functions.naming import LIBRARIES

REPORTED = "progress"
"""Name of the loop that stands for the progress that a library in C reports."""
FEW_ROUNDS = 4  # iterations from which a loop predicts its run; not tuned
COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
"""Names of code objects that are one loop over their argument ``.0``."""

# Names of code objects without loops of their own. A module that is imported runs its file, and
# its syntax tree takes longer to make than the file takes to run.
_NO_FUNCTIONS = ("<module>", "<lambda>")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FUNCTIONS = (*_DEFINITIONS, ast.ClassDef, ast.Lambda)

Loop = ast.For | ast.While
# Comprehensions that have no frame of their own, from Python 3.12 on.
_INLINED = (ast.ListComp, ast.SetComp, ast.DictComp) if hasattr(ast, "TypeAlias") else ()

PARSED: list[tuple[str, int]] = []
"""File and line of the functions whose syntax trees this process has made."""


def parse_ahead(functions: list[tuple[str, int]]) -> None:
    """Make syntax trees, so that a child process has them: an observation must not take long."""
    for file, line in functions:
        _function(file, line)


def enclosing_loops(code: CodeType, line: int | None) -> list[Loop]:
    """Return the loops of a code object that `line` is in, the outermost first.

    Examples
    --------
    >>> from predict_graph.functions import loops
    >>> loops.enclosing_loops(loops.parse_ahead.__code__, 0)
    []
    """
    # Without a line the interpreter is between two.
    ends = ((loop, loop.body[-1].end_lineno or loop.lineno) for loop in _loops(code))
    return [loop for loop, last in ends if line and loop.lineno <= line <= last]


@lru_cache(maxsize=512)
def ends_early(loop: Loop) -> bool:
    """Whether the last iteration of a loop may come early.

    It holds a ``break`` or ``return``, or has another condition beside that which is used up.
    """
    returns = any(isinstance(node, ast.Return) for node in _inside(loop.body, _FUNCTIONS))
    if returns or (isinstance(loop, ast.While) and isinstance(loop.test, ast.BoolOp)):
        return True
    own = _inside(loop.body, (*_FUNCTIONS, ast.For, ast.While))
    return any(isinstance(node, ast.Break) for node in own)


def bound_names(loop: Loop) -> set[str]:
    """Return the names that the body of a loop binds."""
    names = (each for each in _inside(loop.body, ()) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store | ast.Del)}


@lru_cache(maxsize=512)
def _loops(code: CodeType) -> list[Loop]:
    """Return the loops of a code object, outer ones first; none where its source is not known."""
    named = code.co_name not in _NO_FUNCTIONS
    root = _function(code.co_filename, code.co_firstlineno) if named else None
    if root is None:
        return []
    own = list(_inside(ast.iter_child_nodes(root), _FUNCTIONS))
    found: list[Loop] = [node for node in own if isinstance(node, Loop)]
    found += [_as_for(node) for node in own if isinstance(node, _INLINED)]
    return sorted(found, key=lambda loop: (loop.lineno, -(loop.end_lineno or 0)))


def _as_for(made: Any) -> ast.For:
    """Return the loop of a comprehension that runs in the frame of its function.

    Examples
    --------
    >>> made = ast.parse("{v: work(v) for v in graph}").body[0].value
    >>> ast.unparse(_as_for(made)).splitlines()
    ['for v in graph:', '    work(v)']
    """
    first = made.generators[0]
    body: Any = [ast.copy_location(ast.Expr(getattr(made, "value", None) or made.elt), made)]
    return ast.copy_location(ast.For(first.target, first.iter, body, []), made)


def _function(file: str, line: int) -> ast.AST | None:
    """Return the function that begins on a line, decorators included; the rest is not parsed."""
    linecache.checkcache(file)
    return _parsed(file, line, hash(tuple(linecache.getlines(file))))


@lru_cache(maxsize=512)
def _parsed(file: str, line: int, content: int) -> ast.AST | None:
    try:
        block = inspect.getblock(linecache.getlines(file)[line - 1 :])
        # An indented block needs something that it is inside of.
        inside = bool(block) and block[0][:1].isspace()
        tree = ast.parse("".join(["if 1:\n", *block] if inside else block))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    PARSED.append((file, line))
    ast.increment_lineno(tree, line - (2 if inside else 1))
    return next((node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)), None)


def _inside(nodes: Iterable[ast.AST], excluded: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Yield nodes and those inside them, without the contents of the excluded types."""
    for node in nodes:
        yield node
        if isinstance(node, ast.comprehension):  # its variables are its own
            yield from _inside([node.iter, *node.ifs], excluded)
        elif not isinstance(node, excluded):
            yield from _inside(ast.iter_child_nodes(node), excluded)


_LISTED_METHODS = frozenset(
    {"nodes", "edges", "items", "keys", "values", "nbunch_iter", "adjacency", "neighbors"}
    | {"successors", "predecessors", "degree", "iterNodes", "iterEdges", "vs", "es"}
)
_PURE = ("builtins", "collections", "numpy", "pandas", "predict_graph", *LIBRARIES)
_LISTED_BUILTINS = frozenset(
    {"range", "enumerate", "list", "tuple", "set", "zip", "len", "iter", "reversed", "sorted"}
    | {"frozenset", "dict", "min", "max", "int"}
)
_UNEQUAL = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult)
_PLAIN = (ast.Constant, ast.Name, ast.expr_context, ast.operator)


class Progress(NamedTuple):
    """Iterations done and in all; whether elements are counted, or a condition is used up."""

    done: float
    total: float
    counted: bool = True


Reader = Callable[[FrameType], Progress | None]
"""Reads the progress of the loop of a frame."""


@dataclass(frozen=True)
class Observation:
    """The loop that a run is in after so many seconds, and how far that is.

    Parameters
    ----------
    loop : str
        ``file:function:line`` of its header; empty outside of any.
    done, total : float
        Iterations; both 0 where they are unknown.
    early : bool
        Whether its last iteration may come before `total`.
    counted : bool
        Whether `done` counts elements of the loop. Else it is the progress of a condition or the
        one that a library reports, and a finished run has to show that it is steady.
    """

    seconds: float
    loop: str = ""
    done: float = 0.0
    total: float = 0.0
    early: bool = False
    counted: bool = True


def report_progress(form: str, take: Callable[[float], None] | None) -> None:
    """Let the library of a graph report its progress, in percent, to a function.

    To nobody with None, as by default. Only igraph reports any; which handler it had, it does not
    say.
    """
    if form == "igraph":
        import igraph

        handler = None if take is None else lambda message, percent: take(percent)
        igraph.set_progress_handler(handler)


class LoopWatch:
    """Finds the outermost loop of the functions that an entry function has called.

    Parameters
    ----------
    entry : code
        Frames inside the frame of this code are observed.
    elapsed : callable
        Returns the seconds since the start.
    """

    def __init__(self, entry: CodeType, elapsed: Callable[[], float]) -> None:
        self._entry, self._elapsed = entry, elapsed
        self._failures: Counter[Loop] = Counter()  # in a row
        self._readers: dict[tuple[int, Loop], Reader | None] = {}
        self._report: Observation | None = None
        self._percent = -1.0

    def report(self, percent: float) -> None:
        """Take the progress that a library in C reports: often, so nothing else is done here."""
        self._percent = percent

    def observe(self, frame: FrameType | None) -> Observation:
        """Return the outermost loop that `frame` is in, else what a library has reported last."""
        seconds = self._elapsed()
        stack: list[FrameType] = []
        while frame is not None and frame.f_code is not self._entry:
            stack.append(frame)
            frame = frame.f_back
        inner = [*zip(stack, [None, *stack], strict=False)]
        for each, other in reversed(inner if frame is not None else []):
            for line, progress, early in self._around(each, other):
                done, total, counted = progress or Progress(0.0, 0.0)
                if total != 1.0:  # else only what is inside it can show progress
                    loop = f"{each.f_code.co_filename}:{each.f_code.co_name}:{line}"
                    return Observation(seconds, loop, max(done, 0.0), total, early, counted)
        done = 10.0 * min(self._percent, 100.0)  # of a loop of 1000 iterations
        if done >= 0.0 and (self._report is None or done != self._report.done):
            self._report = Observation(seconds, REPORTED, done, 1000.0, counted=False)
        return self._report or Observation(seconds)

    def _around(
        self, frame: FrameType, inner: FrameType | None
    ) -> Iterator[tuple[int, Progress | None, bool]]:
        """Yield line and progress of the loops of a frame, and whether each may end early."""
        code, line = frame.f_code, frame.f_lineno
        drawn = inner if inner and inner.f_code.co_flags & inspect.CO_GENERATOR else None
        if code.co_name in COMPREHENSIONS:
            yield code.co_firstlineno, self._of_frame(frame) or self._of_frame(drawn), False
            return
        for loop in enclosing_loops(code, line):
            if isinstance(loop, ast.While) or line >= loop.body[0].lineno:
                yield loop.lineno, self._of_loop(loop, frame), ends_early(loop)
            elif drawn is not None:
                yield loop.lineno, self._of_frame(drawn), ends_early(loop)

    def _of_frame(self, frame: FrameType | None) -> Progress | None:
        """Return the progress of a comprehension, or of the outermost loop of a function."""
        if frame is None:
            return None
        if frame.f_code.co_name in COMPREHENSIONS:
            return self._of_iterator(frame.f_locals.get(".0"))
        loops = enclosing_loops(frame.f_code, frame.f_lineno)
        return self._of_loop(loops[0], frame) if loops else None

    def _of_loop(self, loop: Loop, frame: FrameType) -> Progress | None:
        """Return the progress of a loop that the frame is in; None if it cannot be read."""
        key = id(frame), loop
        if key not in self._readers:
            if len(self._readers) > 100:  # limits the memory: loops come and go with their frames
                self._readers.clear()
            self._readers[key] = None
            return None
        reader = self._readers[key]
        progress = None if reader is None else reader(frame)
        if progress is None and self._failures[loop] < 3:  # limits the cost
            reader = self._readers[key] = self._reader_of(loop, frame)
            progress = None if reader is None else reader(frame)
            self._failures[loop] = 0 if progress is not None else self._failures[loop] + 1
        return progress

    def _reader_of(self, loop: Loop, frame: FrameType) -> Reader | None:
        if isinstance(loop, ast.While):
            return _by_condition(loop.test, frame)
        target, iterable, bound = loop.target, loop.iter, bound_names(loop)
        match target, iterable:
            case ast.Tuple([_, target]), ast.Call(ast.Name("enumerate"), [iterable, *_]):
                pass
        match iterable:
            case ast.Call(ast.Name("tqdm"), [iterable, *_]):
                pass
        source = _evaluated(iterable, frame)
        if isinstance(iterable, ast.Name | ast.Attribute) and hasattr(type(source), "__next__"):
            return lambda frame: self._of_iterator(source)
        if isinstance(source, range):
            unbound = source and not _names(target) & bound
            return _by_value(target, source.index, len(source)) if unbound else None
        if isinstance(iterable, ast.Call) and len(iterable.args) == 2 and not iterable.keywords:
            called = [_evaluated(node, frame) for node in (iterable.func, *iterable.args)]
            if called[0] is combinations and not _names(target) & bound:
                return _in_combinations(target, *called[1:])
        return _in_container(target, source, bound)

    def _of_iterator(self, iterator: Any) -> Progress | None:
        """Return the progress of an iterator, without drawing from it."""
        with suppress(Exception):
            if isinstance(iterator, GeneratorType):
                return self._of_frame(iterator.gi_frame)
            kind = type(iterator).__name__
            if kind == "combinations":
                pool, last = (x for x in gc.get_referents(iterator) if isinstance(x, tuple))
                return _at_combination(last, pool) if len({*pool}) == len(pool) else None
            if kind in ("enumerate", "zip", "map"):
                parts = [part for part in iterator.__reduce__()[1] if hasattr(part, "__next__")]
                return next(filter(None, map(self._of_iterator, parts)), None)
            left = operator.length_hint(iterator, -1)
            if left >= 0:
                total = max((_size(part) or 0 for part in gc.get_referents(iterator)), default=0)
                return Progress(float(total - left - 1), float(total)) if total > left else None
        return None


def _by_condition(condition: ast.expr, frame: FrameType) -> Reader | None:
    """Read what a ``while`` uses up: the distance of two integers, or the elements left.

    Iterations are the difference to the first reading, or to the largest since. Whether they are
    steady, or vary as those of a queue do, a finished run has to show; but what limits them beside
    another condition counts them.
    """
    both = isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And)
    parts = condition.values if both else [condition]  # type: ignore[attr-defined]
    part = next((part for part in parts if _left(part, frame) is not None), None)
    if part is None:
        return None
    most = 0

    def read(frame: FrameType) -> Progress | None:
        nonlocal most
        left = _left(part, frame)
        most = max(most, left or 0)
        if left is None or not most:
            return None
        return Progress(float(most - left), float(most), both and isinstance(part, ast.Compare))

    return read


def _left(condition: ast.expr, frame: FrameType) -> int | None:
    """Return the distance of a condition from being false; None if that is no integer."""
    if not isinstance(condition, ast.Compare):
        value = _evaluated(condition, frame)
        return int(value) if _is_integer(value) else _size(value)
    if len(condition.ops) > 1 or not isinstance(condition.ops[0], _UNEQUAL):
        return None
    sides = [_evaluated(side, frame) for side in (condition.left, condition.comparators[0])]
    return abs(int(sides[0]) - int(sides[1])) if all(map(_is_integer, sides)) else None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _names(target: ast.expr) -> set[str]:
    """Return the variables that a target binds."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _by_value(target: ast.expr, place: Callable[[Any], float], total: int) -> Reader:
    """Read the progress from the value of a loop's variable, whose place in the loop is known."""

    def read(frame: FrameType) -> Progress | None:
        with suppress(Exception):
            return Progress(float(place(_value(target, frame))), float(total))
        return None

    return read


def _in_combinations(target: ast.expr, pool: Any, length: Any) -> Reader | None:
    """Find the place of a loop's variable among combinations of unique elements."""
    listed = [*(_places(pool, None) or ())] if _size(pool) else []  # an iterator would be used up
    if len(listed) != _size(pool) or not isinstance(length, int):
        return None
    total = math.comb(len(listed), length)
    return _by_value(target, lambda chosen: _at_combination(chosen, listed).done, total)


def _at_combination(chosen: Sequence[Any], pool: Sequence[Any]) -> Progress:
    """Return the progress at a combination of unique elements: in the order of their pool."""
    size, length = len(pool), len(chosen)
    later = (math.comb(size - 1 - pool.index(x), length - k) for k, x in enumerate(chosen))
    total = math.comb(size, length)
    return Progress(float(total - 1 - sum(later)), float(total))


def _in_container(target: ast.expr, source: Any, bound: set[str]) -> Reader | None:
    """Find a loop's variable, or the first part of it that is unique, among few enough elements."""
    size = _size(source)
    if size is None or not 0 < size <= 5_000_000:  # limits the time and memory
        return None
    parts: list[tuple[int | None, ast.expr]] = [(None, target)]
    if isinstance(target, ast.Tuple | ast.List):
        parts += list(enumerate(target.elts))
    for number, part in parts:
        places = None if _names(part) & bound else _places(source, number)
        if places is not None and len(places) == size:
            return _by_value(part, places.__getitem__, size)
    return None


def _places(source: Any, number: int | None) -> dict[Any, int] | None:
    with suppress(Exception):
        if _is_pure(source, "__iter__"):
            listed = source if number is None else (element[number] for element in source)
            return {element: place for place, element in enumerate(listed)}
    return None


def _size(source: Any) -> int | None:
    with suppress(Exception):
        return len(source)
    return None


def _evaluated(node: ast.expr, frame: FrameType) -> Any:
    """Evaluate names, attributes and calls that only list what is there; None for all else."""
    with suppress(Exception):
        # Parts come before what they are part of.
        if all(_only_lists(each, frame) for each in reversed([*ast.walk(node)])):
            found = _value(node, frame)
            made = isinstance(node, ast.Call) and hasattr(type(found), "__next__")
            return list(found) if made else found
    return None


def _only_lists(node: ast.AST, frame: FrameType) -> bool:
    """Whether evaluating an expression changes nothing, if it does not for its parts."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        home, name = _value(node.func.value, frame), node.func.attr
        return name in _LISTED_METHODS and not node.keywords and _is_pure(home, name)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        own = name in _LISTED_BUILTINS and _value(node.func, frame) is getattr(builtins, name)
        own = own and (name != "iter" or len(node.args) == 1)  # with two it calls the first
        # An iterator would be used up, but for one that is made here.
        made = (ast.Call, ast.Constant)
        parts = [_value(part, frame) for part in node.args if not isinstance(part, made)]
        used = any(hasattr(type(part), "__next__") for part in parts)
        users = any(hasattr(type(x), "__iter__") and not _is_pure(x, "__iter__") for x in parts)
        return own and not node.keywords and not used and (name == "len" or not users)
    if isinstance(node, ast.BinOp):
        sides = (_value(side, frame) for side in (node.left, node.right))
        return isinstance(node.op, _ARITHMETIC) and all(isinstance(side, int) for side in sides)
    if isinstance(node, ast.Subscript):
        home = _value(node.value, frame)
        adds = hasattr(type(home), "__missing__") or not _is_pure(home, "__getitem__")
        return isinstance(node.slice, ast.Constant | ast.Name) and not adds
    if isinstance(node, ast.Attribute):
        home = _value(node.value, frame)
        held = inspect.getattr_static(home, node.attr, None)  # else of the user's __getattr__
        computed = held is None or hasattr(type(held), "__get__")
        return not computed or inspect.ismemberdescriptor(held) or _is_pure(home, node.attr)
    return isinstance(node, _PLAIN)


def _is_pure(value: Any, name: str) -> bool:
    """Whether what a value's class calls so changes nothing: not one that the user has written."""
    value = value._mapping if MappingView in type(value).__mro__ else value
    homes = (each.__module__ for each in type(value).__mro__ if name in vars(each))
    home = value.__name__ if isinstance(value, ModuleType) else next(homes, "")
    return home.partition(".")[0] in _PURE


def _value(node: ast.expr, frame: FrameType) -> Any:
    return eval(_compiled(node), frame.f_globals, frame.f_locals)


@lru_cache(maxsize=512)
def _compiled(node: ast.expr) -> CodeType:
    return compile(ast.unparse(node), "<loop>", "eval")
