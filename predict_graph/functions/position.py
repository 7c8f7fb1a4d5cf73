"""How far a loop is: by its variables, by the iterator that it draws from, or by its condition.

Nothing of the running function is called but what cannot change it: lengths of containers, and
fresh iterations over containers.
"""

from __future__ import annotations

import ast
import builtins
import gc
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, combinations, compress, permutations
from types import FrameType, GeneratorType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from predict_graph.functions.loops import COMPREHENSIONS, Loop, enclosing_loops

__all__ = ["DearError", "Progress", "Reader", "comprehension_progress", "reader_of"]

# Elements of a container that is listed to find a place; a choice: bounds the time.
_LARGEST = 5_000_000
_LISTED_METHODS = frozenset(
    {"nodes", "edges", "items", "keys", "values", "nbunch_iter", "adjacency", "neighbors"}
    | {"successors", "predecessors", "degree", "iterNodes", "iterEdges", "vs", "es"}
)
_LISTED_BUILTINS = frozenset(
    {"range", "enumerate", "list", "tuple", "set", "zip", "len", "iter", "reversed", "sorted"}
    | {"frozenset", "dict", "min", "max", "int"}
)


_SECONDS_OF_ONE = 1.5e-7  # of an object that is looked at in a search through all; measured


class DearError(Exception):
    """Finding out how far a loop is would take longer than it may."""


class Progress(NamedTuple):
    """Rounds done, rounds in all, and whether elements were counted: else a condition tells."""

    done: float
    total: float
    counted: bool = True


Reader = Callable[[FrameType], Progress | None]
"""Says how far the loop of a frame is."""


def reader_of(loop: Loop, frame: FrameType, seconds: float = math.inf) -> Reader | None:
    """Return what reads the progress of a loop; None where nothing can.

    Parameters
    ----------
    loop : Loop
        One that the frame is in; of a ``for``, in its body.
    frame : frame
    seconds : float
        That searching all objects for the loop's iterator may take, which is the last resort.

    Raises
    ------
    DearError
        If it would take longer.
    """
    if loop.condition is not None:
        return _by_condition(loop.condition, frame)
    if loop.target is None or loop.iterable is None:
        return None
    named = _named_iterator(loop, frame)
    if named is not None:
        return lambda frame: _iterator_progress(named)
    reader = _by_value(loop, frame)
    if reader is not None:
        return reader
    iterator = _drawn_from(loop, frame, seconds)
    if iterator is None:
        return _by_value(loop, frame, rebound=True)
    return lambda frame: _iterator_progress(iterator)


def comprehension_progress(frame: FrameType) -> Progress | None:
    """Return the progress of a comprehension or generator expression, which is in ``.0``."""
    return _iterator_progress(frame.f_locals.get(".0"))


def _by_condition(condition: ast.expr, frame: FrameType) -> Reader | None:
    """Find what a ``while`` is to use up: the distance of two whole numbers, or what is left.

    Rounds are those that the first reading, or the largest since, is greater by. Whether they go
    with time, or come and go as those of a queue do, a run that came to its end has to show.
    """
    parts = condition.values if isinstance(condition, ast.BoolOp) else [condition]
    if isinstance(condition, ast.BoolOp) and not isinstance(condition.op, ast.And):
        return None
    for part in parts:
        if _left(part, frame) is not None:
            return _using_up(part)
    return None


def _using_up(condition: ast.expr) -> Reader:
    most = 0

    def read(frame: FrameType) -> Progress | None:
        nonlocal most
        left = _left(condition, frame)
        if left is None:
            return None
        most = max(most, left)
        return Progress(float(most - left), float(most), counted=False) if most else None

    return read


def _left(condition: ast.expr, frame: FrameType) -> int | None:
    """Return how far a condition is from no longer holding; None where it is not of that kind."""
    try:
        if not isinstance(condition, ast.Compare):
            return _whole_number(_evaluated(condition, frame))
        if len(condition.ops) > 1 or not isinstance(condition.ops[0], _UNEQUAL):
            return None
        sides = condition.left, condition.comparators[0]
        one, other = (_whole_number(_evaluated(side, frame), sized=False) for side in sides)
    except _UnknownError:
        return None
    return None if one is None or other is None else abs(one - other)


_UNEQUAL = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)


def _whole_number(value: Any, *, sized: bool = True) -> int | None:
    """Return a whole number, or how many elements there are in what is sized."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    return _size(value) if sized else None


def _by_value(loop: Loop, frame: FrameType, *, rebound: bool = False) -> Reader | None:
    """Find the loop's variable in what it goes through.

    One that the body binds too is the loop's up to there: looks at later lines tell nothing. Of a
    range that is all that there is, since nobody can find its iterator.
    """
    iterable, target = loop.iterable, loop.target
    count, start = _counter(iterable, target, frame)
    if count is not None:
        total = _length(_unwrapped(iterable), frame)
        return None if not total else lambda frame: _counted(frame, count, start, total)
    bound = {} if rebound else loop.bound
    tuples = _in_tuples(iterable, target, bound, frame)
    if tuples is not None:
        return _until_bound(tuples, loop) if rebound else tuples
    try:
        source = _evaluated(iterable, frame)
    except _UnknownError:
        return None
    if isinstance(source, range):
        return _until_bound(_in_range(source, target), loop)
    held = iterable if isinstance(iterable, ast.Name) else None
    listed = _in_container(source, target, bound, held)
    return _until_bound(listed, loop) if rebound else listed


def _until_bound(reader: Reader | None, loop: Loop) -> Reader | None:
    """Read the loop's variables on lines of the body before the first that binds one of them."""
    ends = min((loop.bound[name] for name in _names(loop.target) if name in loop.bound), default=0)
    if reader is None or not ends:
        return reader
    if ends == loop.first:
        return None
    return lambda frame: reader(frame) if loop.first <= (frame.f_lineno or 0) < ends else None


def _names(target: ast.expr | None) -> set[str]:
    """Return the variables that a target binds."""
    return {node.id for node in ast.walk(target or ast.Pass()) if isinstance(node, ast.Name)}


def _named_iterator(loop: Loop, frame: FrameType) -> Any:
    """Return what a loop draws from if it is an iterator that a variable holds."""
    if not isinstance(loop.iterable, ast.Name | ast.Attribute):
        return None
    try:
        source = _evaluated(loop.iterable, frame)
    except _UnknownError:
        return None
    return source if hasattr(source, "__next__") else None


def _in_range(source: range, target: ast.expr | None) -> Reader | None:
    if not isinstance(target, ast.Name) or not len(source):
        return None
    name = target.id

    def read(frame: FrameType) -> Progress | None:
        value = frame.f_locals.get(name)
        if not isinstance(value, int) or value not in source:
            return None
        return Progress(float(source.index(value)), float(len(source)))

    return read


def _in_tuples(
    iterable: ast.expr | None, target: ast.expr | None, bound: Mapping[str, int], frame: FrameType
) -> Reader | None:
    """Find the place among combinations or permutations, which come in the order of their pool."""
    if not (isinstance(iterable, ast.Call) and len(iterable.args) == 2 and not iterable.keywords):
        return None
    if target is None or _names(target) & bound.keys():
        return None
    try:
        kind, pool, length = (_evaluated(node, frame) for node in (iterable.func, *iterable.args))
        if kind not in (combinations, permutations) or _size(pool) is None:
            return None
        places = {element: place for place, element in enumerate(pool)}
    except (_UnknownError, TypeError):
        return None
    size = len(places)
    if size != _size(pool) or not isinstance(length, int) or not 0 < length <= size:
        return None
    count, rank = (
        (math.comb, _rank_of_combination)
        if kind is combinations
        else (math.perm, _rank_of_permutation)
    )
    total = float(count(size, length))

    def read(frame: FrameType) -> Progress | None:
        try:
            found = [places[element] for element in _value(target, frame.f_locals)]
        except (KeyError, TypeError):
            return None
        return Progress(float(rank(found, size)), total)

    return read


def _rank_of_combination(chosen: list[int], size: int) -> int:
    """Return how many combinations come before one, of places in rising order."""
    rank, first = 0, 0
    for number, place in enumerate(chosen):
        left = len(chosen) - number
        rank += math.comb(size - first, left) - math.comb(size - place, left)
        first = place + 1
    return rank


def _rank_of_permutation(chosen: list[int], size: int) -> int:
    """Return how many permutations come before one."""
    rank = 0
    for number, place in enumerate(chosen):
        before = place - sum(other < place for other in chosen[:number])
        rank += before * math.perm(size - number - 1, len(chosen) - number - 1)
    return rank


def _in_container(
    source: Any, target: ast.expr | None, bound: Mapping[str, int], held: ast.Name | None = None
) -> Reader | None:
    """Find a loop's variable, or the first part of it that will do, among the elements.

    Of a list that a variable holds the elements may be others in the next round of a loop around
    this one, or in another order.
    """
    size = _size(source)
    if size is None or not 0 < size <= _LARGEST or target is None:
        return None
    parts: list[tuple[int | None, ast.expr]] = [(None, target)]
    if isinstance(target, ast.Tuple | ast.List):
        parts += list(enumerate(target.elts))
    for number, part in parts:
        if _names(part) & bound.keys():
            continue
        places = _places(source, number)
        if places is not None and len(places) == size:
            if held is not None and number is None and isinstance(source, list):
                return _in_list(source, places, part, held)
            return _lookup(places, part)
    return None


def _in_list(source: list[Any], places: dict[Any, int], part: ast.expr, held: ast.Name) -> Reader:
    def read(frame: FrameType) -> Progress | None:
        nonlocal source, places
        try:
            element, now = _value(part, frame.f_locals), _evaluated(held, frame)
            place = places.get(element)
        except (KeyError, TypeError, _UnknownError):
            return None
        # The variable may have been bound to something else, or the list been changed, since.
        if now is not source or place is None or place >= len(now) or now[place] is not element:
            found = _places(now, None) if isinstance(now, list) else None
            if found is None or element not in found:
                return None
            source, places = now, found
            place = found[element]
        return Progress(float(place), float(len(source)))

    return read


def _places(source: Any, number: int | None) -> dict[Any, int] | None:
    try:
        if number is None:
            return {element: place for place, element in enumerate(source)}
        return {element[number]: place for place, element in enumerate(source)}
    except Exception:
        return None


def _lookup(places: dict[Any, int], part: ast.expr) -> Reader:
    total = float(len(places))

    def read(frame: FrameType) -> Progress | None:
        try:
            place = places.get(_value(part, frame.f_locals))
        except (KeyError, TypeError):
            return None
        return None if place is None else Progress(float(place), total)

    return read


def _value(target: ast.expr, variables: Any) -> Any:
    if isinstance(target, ast.Name):
        return variables[target.id]
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(_value(part, variables) for part in target.elts)
    raise KeyError


def _counter(
    iterable: ast.expr | None, target: ast.expr | None, frame: FrameType
) -> tuple[str | None, int]:
    """Return the variable that ``enumerate`` counts in, and where it begins."""
    if not (
        isinstance(iterable, ast.Call)
        and isinstance(iterable.func, ast.Name)
        and iterable.func.id == "enumerate"
        and isinstance(target, ast.Tuple)
        and isinstance(target.elts[0], ast.Name)
        and iterable.args
    ):
        return None, 0
    given = [*iterable.args[1:2], *(key.value for key in iterable.keywords if key.arg == "start")]
    try:
        start = int(_evaluated(given[0], frame)) if given else 0
    except (_UnknownError, TypeError, ValueError):
        return None, 0
    return target.elts[0].id, start


def _unwrapped(iterable: ast.expr | None) -> ast.expr:
    assert isinstance(iterable, ast.Call)  # what _counter has seen
    return iterable.args[0]


def _counted(frame: FrameType, name: str, start: int, total: float) -> Progress | None:
    value = frame.f_locals.get(name)
    return Progress(float(value - start), total) if isinstance(value, int) else None


def _length(node: ast.expr, frame: FrameType) -> float | None:
    try:
        source = _evaluated(node, frame)
    except _UnknownError:
        return None
    size = _size(source)
    if size is not None:
        return float(size)
    progress = _iterator_progress(source)
    return None if progress is None or not progress.counted else progress.total


def _size(source: Any) -> int | None:
    try:
        return len(source)
    except Exception:
        return None


class _UnknownError(Exception):
    """An expression that is not evaluated, because that might do something."""


def _evaluated(node: ast.expr | None, frame: FrameType) -> Any:
    """Evaluate names, attributes and calls that only list what is there."""
    try:
        return _evaluate(node, frame)
    except _UnknownError:
        raise
    except Exception as error:
        raise _UnknownError from error


def _evaluate(node: ast.expr | None, frame: FrameType) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in names:
                return names[node.id]
        raise _UnknownError
    if isinstance(node, ast.Attribute):
        return getattr(_evaluate(node.value, frame), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Name):
        return _evaluate(node.value, frame)[_evaluate(node.slice, frame)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        sides = _evaluate(node.left, frame), _evaluate(node.right, frame)
        if all(isinstance(side, int) for side in sides):
            return _ARITHMETIC[type(node.op)](*sides)
    if isinstance(node, ast.Call) and not node.keywords:
        return _called(node, frame)
    raise _UnknownError


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def _called(node: ast.Call, frame: FrameType) -> Any:
    if isinstance(node.func, ast.Name):
        if node.func.id == "tqdm" and node.args:
            return _evaluate(node.args[0], frame)
        known = node.func.id in _LISTED_BUILTINS
        function = _evaluate(node.func, frame)
        if not known or function is not getattr(builtins, node.func.id):
            raise _UnknownError
        arguments = [_evaluate(part, frame) for part in node.args]
        if any(hasattr(argument, "__next__") for argument in arguments):
            raise _UnknownError  # it would be used up
        return function(*arguments)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _LISTED_METHODS:
        method = _evaluate(node.func, frame)
        listed = method(*(_evaluate(part, frame) for part in node.args))
        return list(listed) if hasattr(listed, "__next__") else listed
    raise _UnknownError


def _iterator_progress(iterator: Any) -> Progress | None:
    """Return how far an iterator is, without drawing from it."""
    try:
        if isinstance(iterator, GeneratorType):
            return _generator_progress(iterator)
        kind = type(iterator).__name__
        if kind == "enumerate":
            inner, count = iterator.__reduce__()[1]
            rest = _iterator_progress(inner)
            if rest is None or not rest.counted:
                return rest
            return Progress(float(count - 1), rest.total)
        if kind in ("zip", "map"):
            parts = iterator.__reduce__()[1]
            return _first_known(part for part in parts if hasattr(part, "__next__"))
        left = operator.length_hint(iterator, -1)
        if left < 0:
            return None
        total = max((_size(part) or 0 for part in gc.get_referents(iterator)), default=0)
        return Progress(float(total - left - 1), float(total)) if total > left else None
    except Exception:
        return None


def _first_known(iterators: Iterable[Any]) -> Progress | None:
    return next((p for p in map(_iterator_progress, iterators) if p is not None), None)


def _generator_progress(generator: GeneratorType[Any, Any, Any]) -> Progress | None:
    frame = generator.gi_frame
    if frame is None:
        return None
    if frame.f_code.co_name in COMPREHENSIONS:
        return comprehension_progress(frame)
    loops = enclosing_loops(frame.f_code, frame.f_lineno)
    if not loops:
        return None
    header, reader = _GENERATORS.get(generator, (0, None))
    if header != loops[0].header:
        reader = reader_of(loops[0], frame)
        _GENERATORS[generator] = (loops[0].header, reader)
    return None if reader is None else reader(frame)


_GENERATORS: WeakKeyDictionary[Any, tuple[int, Reader | None]] = WeakKeyDictionary()
"""What reads the loop of a generator, and its header."""


def _drawn_from(loop: Loop, frame: FrameType, seconds: float) -> Any:
    """Return the iterator that a loop draws from, among all that there are.

    A list's or tuple's iterator tells what it goes through and where it is; it is the loop's if the
    element before is what the loop's variable holds. Of generators it is the one whose function the
    header names.
    """
    called = _called_name(loop.iterable)
    try:
        value = _value(loop.target, frame.f_locals) if loop.target is not None else None
    except KeyError:
        return None
    best, largest = None, 1
    for each in _drawn_ones(seconds):
        if type(each) in _INDEXED:
            parts = each.__reduce__()
            if len(parts) < 3 or not parts[2]:
                continue
            listed, place = parts[1][0], parts[2]
            if largest < len(listed) and _same(listed[place - 1], value):
                best, largest = each, len(listed)
        elif isinstance(each, GeneratorType) and called and each.__name__ == called:
            waits = not each.gi_running and each.gi_frame is not None
            if waits:
                return each
    return best


def _drawn_ones(seconds: float) -> list[Any]:
    """Return all iterators over lists and tuples, and all generators, that are not brand-new.

    Nobody may hold what another thread is making: a tuple that is made of a generator grows in
    place, and Python gives up with a SystemError where something else refers to it. So a list of
    all objects lives and dies inside one call in which no other thread gets its turn: nothing in
    that call is a function of Python's. What the call itself is made of is younger than all that it
    lists, since a list that has its own iterator in it would not die.

    Raises
    ------
    DearError
        If it would take longer.
    """
    if not gc.isenabled():  # then all is young
        return []
    if sum(map(len, map(gc.get_objects, (None,)))) * _SECONDS_OF_ONE > seconds:
        raise DearError
    gc.collect(0)
    gc.disable()
    try:
        return [each for generation in (1, 2) for each in _drawn_of(generation)]
    finally:
        gc.enable()


def _drawn_of(generation: int) -> list[Any]:
    """Choose among the objects of a generation; no variable refers to what lists them."""
    return list(compress(_objects(generation), _are_drawn(generation)))


def _are_drawn(generation: int) -> Iterator[bool]:
    """Say of the objects of a generation whether they are of the types that are looked for."""
    return map(_DRAWN.__contains__, map(id, map(type, _objects(generation))))


def _objects(generation: int) -> Iterator[Any]:
    """Go through the objects of a generation, which are listed when the first is asked for."""
    return chain.from_iterable(map(gc.get_objects, (generation,)))


_INDEXED: tuple[type, ...] = (type(iter([])), type(iter(())))
# By their places: a class may have a hash of its own, which is a function of Python's.
_DRAWN = frozenset(map(id, (*_INDEXED, GeneratorType)))


def _same(element: Any, value: Any) -> bool:
    if element is value:
        return True
    if isinstance(element, tuple) and isinstance(value, tuple) and len(element) == len(value):
        return all(a is b for a, b in zip(element, value, strict=True))
    return False


def _called_name(node: ast.expr | None) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else None
