"""Files are whole or not there."""

import errno
import os

import pytest

from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable, written_beside
from tests.refusals import refused


def test_the_new_file_takes_the_place_of_the_old(written, tmp_path):
    path = written("old", "out.json")
    with written_beside(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
        assert beside.parent == tmp_path
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["out.json"]


def of_the_system(number):
    return OSError(number, os.strerror(number))


ERRORS = [
    (ValueError("x"), ValueError),
    (KeyboardInterrupt(), KeyboardInterrupt),
    (MemoryError(), MemoryError),
    (of_the_system(errno.ENOSPC), JobError),
    (of_the_system(errno.EIO), JobError),
    (of_the_system(errno.EROFS), RequestError),
]


@pytest.mark.parametrize(("error", "kind"), ERRORS)
def test_whatever_goes_wrong_the_old_file_stays(written, tmp_path, error, kind):
    path = written("old", "out.json")

    def fail_half_way():
        with written_beside(path) as beside:
            beside.write_text("half")
            raise error

    with pytest.raises(kind) as caught:
        fail_half_way()
    if isinstance(error, OSError):
        assert str(path) in str(caught.value)
        assert error.strerror in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_places_that_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    refused("cannot write .*: it is a folder", check_writable, tmp_path)
    refused("there is no folder .*missing", check_writable, tmp_path / "missing" / "out.json")
    refused("cannot write", check_writable, tmp_path / "file" / "out.json")
    refused("cannot write", check_writable, tmp_path / ("x" * 300))


def test_a_read_only_folder_is_refused(tmp_path, monkeypatch):
    # Tests may run as root, who may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    refused("is not writable", check_writable, tmp_path / "out.json")


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RequestError, match="no regular file"), written_beside(pipe) as beside:
        beside.write_text("x")
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    with written_beside(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path / "there") == ["real.json"]
