import gc
import os
import tempfile
import time
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def crash(small_fmu):
    return small_fmu("crash_on_demand")


@pytest.fixture(scope="session")
def hang(small_fmu):
    return small_fmu("hang_on_demand")


def _children():
    """Processes that this one has started and not reaped, zombies included."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(folder.name))
    return found


def _handles():
    """Sockets, shared memory and handles of processes that this one has open."""
    kinds = ("socket:", "anon_inode:[pidfd]", "/memfd:softdock-")
    found = 0
    for file in Path("/proc/self/fd").iterdir():
        try:
            found += str(file.readlink()).startswith(kinds)
        except OSError:  # the folder itself
            continue
    return found


def _mapped():
    """Shared memory of workers in this process."""
    return Path("/proc/self/maps").read_text().count("/memfd:softdock-")


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects_are_searched():
    """Let ``gc.collect`` pass over what was there before the module."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(tmp_path, monkeypatch):
    """No process, no zombie, no shared memory, no file descriptor, no temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()
    before = _children(), _mapped(), _handles()
    yield
    for _ in range(20):  # what a failed test's traceback held is freed a moment later
        gc.collect()
        after = _children(), _mapped(), _handles()
        if after == before:
            break
        time.sleep(0.05)
    assert after == before
    assert not list(tmp_path.glob("softdock-worker-*"))
