import threading
import time

import pytest

from predict_graph.engines.local.team import Team


def test_a_thread_that_is_held_up_gets_less_to_do():
    slow, counts, half = threading.get_ident(), {}, threading.Event()

    def work(first, last):
        counts[threading.get_ident()] = counts.get(threading.get_ident(), 0) + last - first
        if threading.get_ident() == slow:
            half.wait(60)
        elif counts[threading.get_ident()] > 80:
            half.set()

    with Team(2) as team:
        team.share(work, 160)
    assert sum(counts.values()) == 160
    assert half.is_set()


def test_an_error_of_any_thread_is_raised():
    def work(first, last):
        time.sleep(0.01)
        if first >= 90:
            raise ZeroDivisionError

    with Team(3) as team, pytest.raises(ZeroDivisionError):
        team.share(work, 96)
