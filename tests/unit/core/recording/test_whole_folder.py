"""Folders whose files change together, where that is easy and where it is not."""

import ctypes
import errno
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording import whole_file, whole_folder


def write(folder, **texts):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def texts(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in files}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fail_in(out):
    with whole_folder(out) as draft:
        write(draft.folder, a="new")
        raise ZeroDivisionError


def commit(out, **new):
    with whole_folder(out) as draft:
        write(draft.folder, **new)
        draft.replaced.add("stale")


@pytest.fixture
def out(tmp_path):
    """Return a folder with results and with something of the user's."""
    folder = tmp_path / "results" / "out"
    write(folder, a="old", stale="old")
    write(folder / "mine", b="mine")
    (folder / "link").symlink_to("mine")
    return folder


def test_what_is_new_replaces_and_the_rest_stays(out):
    out.chmod(0o750)
    commit(out, a="new", c="new")
    assert texts(out) == {"a": "new", "c": "new", "mine/b": "mine"}
    assert str((out / "link").readlink()) == "mine"
    assert out.stat().st_mode & 0o777 == 0o750
    assert names(out.parent) == ["out"]


def test_a_body_that_fails_changes_nothing(out):
    before = texts(out)
    with pytest.raises(ZeroDivisionError):
        fail_in(out)
    assert texts(out) == before
    assert names(out.parent) == ["out"]


def test_a_folder_behind_a_link_stays_there(out, tmp_path):
    (tmp_path / "here").symlink_to(out)
    commit(tmp_path / "here", a="new")
    assert (tmp_path / "here").is_symlink()
    assert texts(out)["a"] == "new"


@pytest.mark.parametrize("missing", [True, False])
def test_a_system_that_cannot_exchange_renames(out, monkeypatch, missing):
    class Library:
        def __init__(self, *_, **__):
            if not missing:
                self.renameat2 = lambda *_: -1

    monkeypatch.setattr(ctypes, "CDLL", Library)
    monkeypatch.setattr(ctypes, "get_errno", lambda: 22)
    commit(out, a="new", c="new")
    assert texts(out) == {"a": "new", "c": "new", "mine/b": "mine"}
    assert names(out.parent) == ["out"]


@pytest.mark.parametrize("done", [0, 1])
def test_an_interrupt_between_two_renames_puts_the_old_folder_back(out, monkeypatch, done):
    before, rename, renamed = texts(out), Path.rename, []

    def interrupted(path, target):
        renamed.append(target)
        if len(renamed) != 2 - done:
            return rename(path, target)
        if done:
            rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: None)
    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        commit(out, a="new")
    assert texts(out) == before
    assert names(out.parent) == ["out"]


def test_what_was_set_aside_when_it_was_killed_is_put_back(out):
    out.rename(out.with_name(".out.0123456789ab.old"))
    write(out.with_name(".out.ba9876543210.part"), a="never seen")
    with pytest.raises(ZeroDivisionError):
        fail_in(out)
    assert texts(out) == {"a": "old", "stale": "old", "mine/b": "mine"}
    assert names(out.parent) == ["out"]


def test_what_killed_runs_left_goes_and_what_others_are_at_stays(out):
    write(out.with_name(".out.0123456789ab.part"), a="left")
    write(out.with_name(".outer.0123456789ab.part"), a="of another folder")
    with whole_folder(out) as drafts:
        write(drafts.folder, one="1")
        commit(out, two="2")
        assert drafts.folder.is_dir()
    assert texts(out) == {"a": "old", "one": "1", "two": "2", "mine/b": "mine"}
    assert names(out.parent) == [".outer.0123456789ab.part", "out"]


def test_a_second_run_is_refused_while_one_is_under_way(out, wording):
    with (
        whole_folder(out, alone=True),
        whole_folder(out),  # what is no run may write meanwhile
        wording.raises(SoftdockError),
    ):
        with_alone(out)
    with_alone(out)
    assert names(out.parent) == ["out"]


def test_a_run_that_was_killed_keeps_nobody_out(out, wording):
    script = (
        "import sys\nfrom orchestrator.core.recording import whole_folder\n"
        "with whole_folder(sys.argv[1], alone=True): print('begun', flush=True), sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script, str(out)], **pipes) as popen:  # noqa: S603
        assert popen.stdout.readline() == b"begun\n"
        with wording.raises(SoftdockError):
            with_alone(out)
        popen.kill()
    with_alone(out)
    assert names(out.parent) == ["out"]


def with_alone(out):
    with whole_folder(out, alone=True) as draft:
        write(draft.folder, a="new")


def test_a_folder_that_was_made_for_nothing_is_gone(tmp_path):
    with pytest.raises(ZeroDivisionError):
        fail_in(tmp_path / "new")
    assert names(tmp_path) == []


def test_a_file_that_was_not_finished_is_not_kept(out, monkeypatch):
    write(out, **{".0123456789ab.part": "half"})
    commit(out, a="new")
    assert texts(out) == {"a": "new", "mine/b": "mine"}


def test_what_another_process_adds_while_it_is_exchanged_is_kept(out, monkeypatch):
    copystat, opened = shutil.copystat, []

    def add(source, target):
        """Add files when all is listed that is to be kept."""
        if source == out:
            opened.append((out / "c.jsonl").open("w", encoding="utf-8"))
            write(out / "mine", late="late")
            write(out / "more" / "below", b="late")
            write(out, a="later", stale="later", **{".0123456789ab.part": "half"})
        copystat(source, target)

    monkeypatch.setattr(shutil, "copystat", add)
    commit(out, a="new")
    with opened[0] as stream:
        stream.write("a record")
    assert texts(out) == {
        "a": "new", "mine/b": "mine", "mine/late": "late", "more/below/b": "late",
        "c.jsonl": "a record",
    }  # fmt: skip
    assert names(out.parent) == ["out"]


def test_the_working_directory_is_not_exchanged(out, monkeypatch, caplog):
    monkeypatch.chdir(out / "mine")
    write(out / ".out.0123456789ab.part", a="left")
    with caplog.at_level(logging.WARNING):
        commit(out, a="new", c="new")
    assert texts(out) == {"a": "new", "c": "new", "mine/b": "mine"}
    assert names(Path.cwd()) == ["b"]
    assert "replaced one after the other, since the working directory lies in it" in caplog.text


def commit_with(out, trouble):
    with whole_folder(out) as draft:
        write(draft.folder, a="new", c="new")
        write(draft.folder / "below", d="new")
        trouble()


@pytest.mark.parametrize("stage", ["link", "mkdir"])
def test_a_replacement_one_by_one_that_fails_says_what_is_there(out, monkeypatch, stage, wording):
    done, working = [], getattr(os, stage)

    def full(*arguments, **options):
        done.append(arguments)
        if stage == "mkdir" or len(done) > 1:
            raise OSError(28, "No space left on device")
        working(*arguments, **options)

    monkeypatch.chdir(out)
    with wording.raises(SoftdockError) as raised:
        commit_with(out, lambda: monkeypatch.setattr(os, stage, full))
    assert "some are of this run" in str(raised.value)
    assert "those of an earlier run are untouched" not in str(raised.value)


def test_a_shell_that_stands_in_a_deleted_folder(out, tmp_path, monkeypatch, wording):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    commit(out, a="new")
    assert texts(out) == {"a": "new", "mine/b": "mine"}
    with wording.raises(SoftdockError):
        commit(Path("here"), a="new")


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
def test_what_cannot_be_linked_is_copied(out, monkeypatch, code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", fail)
    commit(out, a="new")
    assert texts(out) == {"a": "new", "mine/b": "mine"}


def test_a_full_disk_is_said_and_changes_nothing(out, monkeypatch, wording):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    before = texts(out)
    monkeypatch.setattr(os, "link", fail)
    with wording.raises(SoftdockError):
        commit(out, a="new")
    assert texts(out) == before


def test_a_folder_that_is_a_file_is_named(tmp_path, wording):
    write(tmp_path, out="a file")
    with wording.raises(SoftdockError):
        commit(tmp_path / "out", a="new")
    with whole_file(tmp_path / "out") as draft:
        draft.write_text("still a file", encoding="utf-8")


def test_a_folder_whose_parent_cannot_be_listed(out, monkeypatch):
    listed = os.access
    parent = out.parent
    monkeypatch.setattr(
        os, "access", lambda p, how: how != os.R_OK or (p != parent and listed(p, how))
    )
    commit(out, a="new")
    assert texts(out) == {"a": "new", "mine/b": "mine"}
