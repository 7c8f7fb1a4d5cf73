"""Which columns of a table hold the ends and the weights of edges, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList

_WORDS = (
    "source target, src dst, from to, source destination, source dest, src dest, src tgt, "
    "source sink, start end, origin destination, head tail, subject object, sender receiver, "
    "sender recipient, caller callee, follower followee, follower followed, user friend, "
    "citing cited, rater ratee, trustor trustee, parent child, payer payee"
)
_PAIRS = [tuple(words.split()) for words in _WORDS.split(", ")]
_ENDINGS = [
    tuple(ends.split()) for ends in ["0 1", "1 2", "a b", "u v", "i j", "x y", "s t", "one two"]
]
_WEIGHTS = ("weight", "weights", "w", "value", "edgeweight")
_ABOUT = r"(edge|rel|row)?id|index|idx|unnamed0|level0|type|directed|labels?|kind"
# Columns that hold times, places, labels, numbers of rows or measurements, not ends of edges.
_NO_ENDS = re.compile(
    r"(.*(time|date|timestamp|timeset|seconds)|.*(lat|lng|lon|latitude|longitude)|ts|unixts|t|"
    rf"year|month|day|since|created.*|updated.*|epoch|{_ABOUT}|"
    r"rel|relation|relationship|predicate|edgetype|sign|rating|.*score|count|freq.*|distance|"
    r"length|cost|capacity|similarity|confidence|description|amount|degree|.*centrality|.*rank|"
    r"population|neighbou?rs|adjacent|)$"
)
_ENDING = r"(s|id|ids|name|no|key|idx|index)?$"
_PEOPLE = re.compile(
    r"(user|customer|reviewer|reader|author|person|actor|member|buyer|player|student)" + _ENDING
)
_THINGS = re.compile(
    r"(item|movie|film|product|book|isbn|asin|paper|page|song|track|artist|group|venue|business|"
    r"article|url|tag|course|game|event|project|repo|document|word|post|comment|forum|place|company)"
    + _ENDING
)


@dataclass(frozen=True)
class Columns:
    """Places of the columns that count.

    Parameters
    ----------
    source, target : int
    weight : int, optional
    kind : int, optional
        Of the column that says whether an edge is directed; see :func:`declared_in`.
    bipartite : bool
        Whether the names are those of two kinds of vertices.
    """

    source: int
    target: int
    weight: int | None = None
    kind: int | None = None
    bipartite: bool = False

    @property
    def places(self) -> list[int]:
        """Places of source, target and, if there is one, weight."""
        return [self.source, self.target, *([] if self.weight is None else [self.weight])]

    def notes(self, names: Sequence[str], wanted: EdgeList) -> tuple[str, ...]:
        """Return notes on vertices of two kinds, unless the user says so, and missing weights."""
        found: tuple[str, ...] = ()
        if self.bipartite and wanted.bipartite is None:
            ends = f": {names[self.source]} and {names[self.target]}" if names else ""
            found += (f"read as bipartite{ends} (--no-bipartite changes that)",)
        left = [n for at, n in enumerate(names) if n and at not in (*self.places, self.kind)]
        rest = [name for name in left if not re.fullmatch(rf"{_ABOUT}|", _plain(name))]
        if rest and self.weight is None and wanted.source_column is None:
            shown = ", ".join(rest[:3]) + (", …" if len(rest) > 3 else "")
            found += (f"read without weights ({shown} left out; see --weight-column)",)
        return found


def find_columns(
    names: Sequence[str], where: str, wanted: EdgeList, usable: Sequence[bool] | None = None
) -> Columns:
    """Return the columns of the ends and of the weight.

    The ends are those that the user names; or a known pair, such as ``source`` and ``target``; or
    the only two columns that are neither weights nor times nor labels.

    Parameters
    ----------
    names : sequence of str
    where : str
        The table, for the error.
    wanted : EdgeList
        What the user says.
    usable : sequence of bool, optional
        Which columns can hold ids by their type; by default all.

    Raises
    ------
    RequestError
        If the names do not say, or a column that the user names is not there.

    Examples
    --------
    >>> find_columns(["weight", "From", "to"], "it", EdgeList("it"))
    Columns(source=1, target=2, weight=0, kind=None, bipartite=False)
    >>> find_columns(["ts", "u", "v"], "it", EdgeList("it")).source
    1
    """
    if len(names) < 2:
        had = "one column" if names else "no columns"
        raise RequestError(f"{where} has {had}; accepted: a source and a target")
    plain = [_plain(name) for name in names]
    weight = next((plain.index(name) for name in _WEIGHTS if name in plain), None)
    kind = next((plain.index(name) for name in ("directed", "type") if name in plain), None)
    if wanted.source_column is not None:
        source = wanted.place(wanted.source_column, names, where)
        target = wanted.place(wanted.target_column, names, where)
        if source == target:
            raise RequestError(f"{where}: one column is both ends of an edge; accepted: two")
    else:
        source, target = _ends(names, plain, usable or [True] * len(names), where)
    if wanted.weight_column is not None:
        weight = wanted.place(wanted.weight_column, names, where)
        if weight in (source, target):
            raise RequestError(f"{where}: the weight column is also an end; accepted: another one")
    bipartite = wanted.bipartite
    if bipartite is None:
        bipartite = _of_two_kinds(names, plain, source, target)
    weight, kind = (None if each in (source, target) else each for each in (weight, kind))
    return Columns(source, target, weight, kind, bipartite)


def pair_of(names: Sequence[str]) -> bool:
    """Return whether the fields of a line name a source and a target, rather than being ids.

    Examples
    --------
    >>> pair_of(["FromNodeId", "ToNodeId"]), pair_of(["alice", "bob"])
    (True, False)
    """
    return _known_pair([_plain(name) for name in names]) is not None


def declared_in(values: Iterable[Any], rows: int = 1000) -> bool | None:
    """Return whether edges are directed by a column ``directed``, or ``Type`` as Gephi writes it.

    None if the values of its first rows do not say, or differ.

    Examples
    --------
    >>> declared_in(["Undirected", "Undirected"]), declared_in([True, False])
    (False, None)
    """
    said = {_DIRECTIONS.get(str(value).lower()) for value in islice(values, rows)}
    return said.pop() if len(said) == 1 else None


_DIRECTIONS = {"directed": True, "undirected": False, "true": True, "false": False}


def ends_named(names: Sequence[str]) -> bool:
    """Return whether two names are a known pair, or differ in a number or letter at their ends."""
    plain = [_plain(name) for name in names]
    return (_known_pair(plain) or _counted_pair(plain)) is not None


def _plain(name: str) -> str:
    """Return a name in small letters, without marks, or the type that Neo4j adds to it."""
    text = re.sub(r"\([^()]*\)", "", name.strip().lower())
    start, colon, kind = text.rpartition(":")
    text = start if colon and start and kind.rstrip("[]").isalpha() else text
    return re.sub(r"[^a-z0-9]", "", text)


def _ends(
    names: Sequence[str], plain: Sequence[str], usable: Sequence[bool], where: str
) -> tuple[int, int]:
    pair = _known_pair(plain)
    if len(names) == 2 and (pair or not any(len(name) > 2 and _no_end(name) for name in plain)):
        return pair or (0, 1)
    rest = [i for i, name in enumerate(plain) if usable[i] and not _no_end(name)]
    if pair is None and len(rest) > 2:
        among = _counted_pair([plain[i] for i in rest])
        pair = among and (rest[among[0]], rest[among[1]])
    if len(rest) == 2 or (len(rest) > 2 and _of_two_kinds(names, plain, rest[0], rest[1])):
        pair = pair or (rest[0], rest[1])
    if pair is None:
        shown = ", ".join(name.strip() for name in names)[:200]
        raise RequestError(
            f"{where} has the columns {shown}, which do not say what the ends of an edge are; "
            "accepted: columns called source and target, or --src-column and --dst-column "
            "(source_column and target_column of EdgeList)"
        )
    return pair


def _no_end(name: str) -> bool:
    return name in _WEIGHTS or _NO_ENDS.match(name) is not None


def _known_pair(plain: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of two names that differ in a pair of words, preferably those of ids."""
    places = {name: place for place, name in reversed([*enumerate(plain)])}
    found = []
    for one, other in _PAIRS:
        for place, name in enumerate(plain):
            for at in {name.find(one), name.rfind(one)} - {-1}:
                partner, stem = (name[:at] + word + name[at + len(one) :] for word in (other, ""))
                if partner in places and (stem in ("", "id") or not _no_end(stem)):
                    found.append((stem.endswith("id"), place, places[partner]))
    if found:
        return max(found, key=lambda each: each[0])[1:]
    ones, others = zip(*_PAIRS, strict=True)
    source = next((places[word] for word in ones if word in places), None)
    target = next((places[word] for word in others if word in places), None)
    return None if source is None or target is None else (source, target)


def _counted_pair(plain: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of names such as protein1 and protein2, if one of the first two is so."""
    for place, name in enumerate(plain[:2]):
        for one, other in _ENDINGS:
            for end in ("id", "name", "symbol", "code", ""):
                stem = name.removesuffix(one + end)
                if stem != name and stem + other + end in plain:
                    return place, plain.index(stem + other + end)
    return None


def _of_two_kinds(names: Sequence[str], plain: Sequence[str], one: int, other: int) -> bool:
    """Return whether two columns are named after vertices of two kinds."""
    spaces = [re.search(r"_ID\(([^()]*)\)", names[i]) for i in (one, other)]  # of Neo4j
    if spaces[0] and spaces[1]:
        return spaces[0].group(1) != spaces[1].group(1)
    pairs = [(plain[one], plain[other]), (plain[other], plain[one])]
    return any(_PEOPLE.match(person) and _THINGS.match(thing) for person, thing in pairs)
