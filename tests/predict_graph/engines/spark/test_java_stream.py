"""Maps as Java writes them, against what Java reads and writes itself."""

import numpy as np
import pytest

from predict_graph.engines.spark.library.exchange import Maps
from predict_graph.engines.spark.library.java_stream import OBJECTS, JavaStream

# As Spark 4.1 writes them, seen in a file of a shuffle of label propagation.
LONG = b"sr\0\x0ejava.lang.Long\x3b\x8b\xe4\x90\xcc\x8f\x23\xdf\2\0\1J\0\5valuexr\0\x10"
LONG += b"java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\2\0\0xp"
MAP1 = b"sr\0#scala.collection.immutable.Map$Map1\0\0\0\0\0\0\0\3\2\0\2L\0\4key1t\0\x12"
MAP1 += b"Ljava/lang/Object;L\0\6value1q\0~\0\4xp"
BOXED = b"sq\0~\0\0\0\0\0\0\0\0\0"


def maps_of(*maps, alone=None, values=np.int64):
    starts = np.concatenate(([0], np.cumsum([len(each) for each in maps])))
    keys = np.array([key for each in maps for key in each], np.int64)
    numbers = np.array([value for each in maps for value in each.values()], values)
    return Maps(starts, keys, numbers, alone)


def written(receivers, maps):
    stream = JavaStream()
    stream.writes(np.array(receivers), maps, 0, len(receivers))
    return bytes(stream.out)


def test_a_map_of_one():
    found = written([2, 300], maps_of({1: 1}, {300: 1}, alone=np.array([True, True])))
    first = LONG + bytes(7) + b"\2" + MAP1 + BOXED + b"\1" + b"q\0~\0\6"
    # Numbers above 127 are objects of their own each time, others the same one.
    second = b"sq\0~\0\0" + (300).to_bytes(8, "big") + b"sq\0~\0\3"
    second += b"sq\0~\0\0" + (300).to_bytes(8, "big") + b"q\0~\0\6"
    assert found == first + second


def test_entries_come_in_the_order_of_the_table():
    """Places are the low bits of ids, of sixteen places or more."""
    found = written([5], maps_of({33: 1, 2: 1, 16: 1}))
    order = [found.rindex(each.to_bytes(8, "big")) for each in (16, 33, 2)]
    assert order == sorted(order)
    assert found.endswith(b"x")
    assert b"w\4\0\0\0\3" in found


def test_the_stream_is_reset_after_so_many_objects():
    count = OBJECTS // 2
    maps = maps_of(*({1: 1} for _ in range(2 * count + 1)), values=np.int32)
    found = written(list(range(2 * count + 1)), maps)
    assert found.count(b"java.lang.Long") == found.count(b"ysr\0\x0ejava.lang.Long") + 1 == 3
    assert found.count(b"java.lang.Integer") == 3


@pytest.mark.spark
def test_java_reads_what_is_written(local_spark):
    maps = maps_of({1: 1, 300: 2, 77000: 1}, {300: 1}, alone=np.array([False, True]))
    data = b"\xac\xed\0\5" + written([7, 9], maps)
    with local_spark.session() as session:
        java = session.spark._jvm
        stream = java.java.io.ObjectInputStream(java.java.io.ByteArrayInputStream(data))
        read = [stream.readObject() for _ in range(4)]
        assert (read[0], read[2]) == (7, 9)
        assert read[1].toString() == "HashMap(1 -> 1, 77000 -> 1, 300 -> 2)"
        assert read[3].toString() == "Map(300 -> 1)"
