"""Maps as Spark writes them by Java's serialization: what shuffles of GraphX hold beside numbers.

Java tells a class and an object once and refers to it by a number from then on. Spark lets it
forget all of them after a hundred objects. Small numbers are the same object wherever they are.

References
----------
.. [1] Java Object Serialization Specification, chapter 6: stream protocol.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.engines.spark.library.exchange import Maps

__all__ = ["MOST_ENTRIES", "OBJECTS", "JavaStream"]

IntArray = npt.NDArray[np.int64]

MOST_ENTRIES = 1 << 15  # a choice
"""Entries of a map that are written: some blocks of them tell as much as more."""

OBJECTS = 100  # by default of Spark: spark.serializer.objectStreamReset
"""Objects after which Spark's streams are reset, by default: a receiver and its map are two."""

# By definition of Java: numbers that are kept as objects, and the first number of a reference.
_LEAST, _MOST = -128, 127
_FIRST = 0x7E0000
# By definition of Scala 2.13: places of an empty table, and the share that may be taken.
_PLACES, _LOAD = 16, 0.75
_VERSION_3 = b"\0\0\0\0\0\0\0\3"
_OBJECT, _FACTORY_TYPE = b"Ljava/lang/Object;", b"Lscala/collection/Factory;"
_LONG, _INTEGER, _NUMBER = "Long", "Integer", "Number"
_TUPLE, _PROXY, _FACTORY, _MAP1 = "Tuple2", "Proxy", "Factory", "Map1"
# Of each class: its name and version, its fields with the names of their types, and its parent.
_CLASSES: dict[str, tuple[bytes, tuple[tuple[bytes, bytes], ...], str | None]] = {
    _LONG: (
        b"r\0\x0ejava.lang.Long\x3b\x8b\xe4\x90\xcc\x8f\x23\xdf\2\0\1",
        ((b"J\0\5value", b""),),
        _NUMBER,
    ),
    _INTEGER: (
        b"r\0\x11java.lang.Integer\x12\xe2\xa0\xa4\xf7\x81\x87\x38\2\0\1",
        ((b"I\0\5value", b""),),
        _NUMBER,
    ),
    _NUMBER: (b"r\0\x10java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\2\0\0", (), None),
    _TUPLE: (
        b"r\0\x0cscala.Tuple2\x01\xfb\xdd\xcd\x22\xe7\x34\x7a\2\0\2",
        ((b"L\0\2_1", _OBJECT), (b"L\0\2_2", _OBJECT)),
        None,
    ),
    _PROXY: (
        b"r\x00\x32scala.collection.generic.DefaultSerializationProxy" + _VERSION_3 + b"\3\0\1",
        ((b"L\0\7factory", _FACTORY_TYPE),),
        None,
    ),
    _FACTORY: (
        b"r\x00\x37scala.collection.mutable.HashMap$DeserializationFactory"
        + _VERSION_3
        + b"\2\0\2",
        ((b"D\0\nloadFactor", b""), (b"I\0\x0btableLength", b"")),
        None,
    ),
    _MAP1: (
        b"r\x00\x23scala.collection.immutable.Map$Map1" + _VERSION_3 + b"\2\0\2",
        ((b"L\0\4key1", _OBJECT), (b"L\0\6value1", _OBJECT)),
        None,
    ),
}


class JavaStream:
    r"""Bytes of maps, one after the other.

    Examples
    --------
    >>> one = np.array([1])
    >>> maps = Maps(np.array([0, 1]), one, one, np.array([True]))
    >>> stream = JavaStream()
    >>> stream.writes(np.array([2]), maps, 0, 1)
    >>> stream.out.count(b"Map1"), stream.out[-5:]  # a label and its votes: the same number
    (1, bytearray(b'q\x00~\x00\x06'))
    """

    def __init__(self) -> None:
        self.out = bytearray()
        self._forget()

    def writes(self, receivers: IntArray, maps: Maps, first: int, last: int) -> None:
        """Write records of receivers and their maps."""
        for place in range(first, last):
            if self.out and not 2 * place % OBJECTS:
                self.out += b"y"
                self._forget()
            self._number(_LONG, int(receivers[place]))
            self.map(maps, place)

    def map(self, maps: Maps, place: int) -> None:
        """Write the map at a place; of a very large one, the first entries."""
        first = int(maps.starts[place])
        own = slice(first, min(int(maps.starts[place + 1]), first + MOST_ENTRIES))
        keys, values = maps.keys[own].tolist(), maps.values[own].tolist()
        kind = _INTEGER if maps.values.dtype == np.int32 else _LONG
        if maps.alone is not None and maps.alone[place]:  # it was put to no other
            self._object(_MAP1)
            self._number(_LONG, keys[0])
            self._number(kind, values[0])
            return
        places = _PLACES
        while len(keys) >= _LOAD * places:
            places *= 2
        self._object(_PROXY)
        self._object(_FACTORY)
        self.out += b"\x3f\xe8\0\0\0\0\0\0" + places.to_bytes(4, "big")
        self.out += b"w\4" + len(keys).to_bytes(4, "big")
        order = sorted((_mixed(key) % places, _mixed(key), at) for at, key in enumerate(keys))
        for _, _, at in order:
            self._object(_TUPLE)
            self._number(_LONG, keys[at])
            self._number(kind, values[at])
        self.out += b"x"

    def _forget(self) -> None:
        self._next = 0
        self._known: dict[str | bytes | tuple[str, int], bytes] = {}

    def _numbered(self) -> bytes:
        """Return a reference to what is written now."""
        reference = b"q" + (_FIRST + self._next).to_bytes(4, "big")
        self._next += 1
        return reference

    def _object(self, name: str) -> bytes:
        """Begin an object; return a reference to it."""
        self.out += b"s"
        known = self._known.get(name)
        if known is None:
            self._class(name)
        else:
            self.out += known
        return self._numbered()

    def _class(self, name: str) -> None:
        known = self._known.get(name)
        if known is not None:
            self.out += known
            return
        self._known[name] = self._numbered()
        beginning, fields, parent = _CLASSES[name]
        self.out += beginning
        for field, kind in fields:
            self.out += field
            if kind in self._known:
                self.out += self._known[kind]
            elif kind:
                self.out += b"t" + len(kind).to_bytes(2, "big") + kind
                self._known[kind] = self._numbered()
        self.out += b"x"
        if parent is None:
            self.out += b"p"
        else:
            self._class(parent)

    def _number(self, name: str, value: int) -> None:
        small = _LEAST <= value <= _MOST
        if small:
            known = self._known.get((name, value))
            if known is not None:
                self.out += known
                return
        reference = self._object(name)
        self.out += value.to_bytes(8 if name == _LONG else 4, "big", signed=True)
        if small:
            self._known[name, value] = reference


def _mixed(key: int) -> int:
    """Return the hash by which a table of Scala 2.13 has an id."""
    low = (key ^ key >> 32) & 0xFFFFFFFF
    return low ^ low >> 16
