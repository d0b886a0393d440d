"""Folders whose files change together: a reader sees those of one run, never of two."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.structs import MutableStruct, field

_ATOMIC_DRAFT = re.compile(r"\.[0-9a-f]{12}\.part")


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path next to ``path`` that takes its place once it is written."""
    final = Path(path)
    draft = final.with_name(f".{secrets.token_hex(6)}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        draft.replace(final)
    except OSError as error:
        raise SoftdockError(
            f"{displayed_path(final)}: cannot be written: {error.strerror or error};"
            " an earlier file of that name is untouched"
        ) from error
    finally:
        with suppress(OSError):  # the folder is gone or read-only, which the body has said already
            draft.unlink(missing_ok=True)


_LOG = logging.getLogger(__name__)
#: The file system does not know links, or cannot make this one.
_NO_LINKS = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS}
#: How the folder of a run that is under way ends, and what was set aside to make room for one.
_DRAFT, _ASIDE = ".part", ".old"
_DRAFT_FOLDER = re.compile(rf"\.(.+)\.[0-9a-f]{{12}}{re.escape(_DRAFT)}")
_LEFT = rf"\.{{}}\.[0-9a-f]{{{{12}}}}(?:{re.escape(_DRAFT)}|{re.escape(_ASIDE)})"


def displayed_path(path: Path) -> Path:
    """Return where a file of a folder that is being written will be: drafts have no name yet."""
    parts = [match[1] if (match := _DRAFT_FOLDER.fullmatch(part)) else part for part in path.parts]
    return Path(*parts)


class Draft(MutableStruct):
    """What is going to be in a folder.

    folder: Where to write.
    replaced: Files and folders in the final folder that are not kept although nothing of the same
        name is written, by their paths relative to it.
    """

    folder: Path
    replaced: set[str] = field(default_factory=set)


@contextmanager
def whole_folder(folder: str | Path, *, alone: bool = False) -> Iterator[Draft]:
    """Give a temporary folder whose files take their place all at once when all are written.

    The temporary folder lies next to the final one, and one call of the system exchanges both. What
    else is in the final folder is kept, also what others add to it meanwhile. If that folder cannot
    be exchanged, since it is a mount point or the working directory, its files are replaced one
    after the other, and a warning says so. What killed processes have left is removed.
    """
    with _reported_errors(Path(folder)):
        final = Path(os.path.realpath(folder))
        obstacle = _obstacle(final)
    with _reported_errors(final), _alone(final.parent):
        if _clean(final) and alone:
            raise SoftdockError(
                f"{final}: another run or sweep is writing this folder; wait for it, or give"
                " another folder with --output"
            )
        is_new = not final.exists()
        final.mkdir(parents=True, exist_ok=True)
        parent = final if obstacle else final.parent
        draft = Draft(parent / f".{final.name}.{secrets.token_hex(6)}{_DRAFT}")
        draft.folder.mkdir()
        lock = _locked(draft.folder)
    try:
        yield draft
        with _reported_errors(final), _alone(final.parent):
            _commit(draft, final, obstacle)
    finally:
        if lock is not None:
            os.close(lock)
        shutil.rmtree(draft.folder, ignore_errors=True)
        if is_new:
            with suppress(OSError):  # something is in it
                final.rmdir()


def link(source: Path, target: Path) -> None:
    """Let a file stand under a second name, which may be taken; else copy it."""
    with whole_file(target) as draft:
        _link(source, draft)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _move(source: Path, target: Path) -> None:
    """Rename a file; one that a program of Windows holds open stays under both names."""
    try:
        source.rename(target)
    except PermissionError:
        _link(source, target)


@contextmanager
def _reported_errors(final: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SoftdockError(
            f"{final}: the results cannot be written: {error.strerror or error}; those of an"
            " earlier run are untouched"
        ) from error


def _obstacle(final: Path) -> str:
    """Say why a folder cannot be exchanged; empty if it can."""
    here: set[Path] = set()
    with suppress(FileNotFoundError):  # it is deleted, so it lies nowhere
        here = {Path.cwd(), *Path.cwd().parents}
    if os.path.ismount(final):
        return "it is a mount point"
    if final in here:
        return "the working directory lies in it"
    parent = next(ancestor for ancestor in final.parents if ancestor.exists())
    return "" if os.access(parent, os.W_OK | os.X_OK) else f"{parent} is read-only"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from committing to a folder; file systems without locks keep nobody."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.R_OK):  # what cannot be listed cannot be locked
        yield
        return
    opened = None
    with suppress(OSError):  # a file system without locks
        opened = operating_system.locked_folder(folder, wait=True)
    try:
        yield
    finally:
        if opened is not None:
            os.close(opened)


def _locked(folder: Path) -> int | None:
    """Lock a folder while this process lives; ``None`` where the file system has no locks."""
    try:
        return operating_system.locked_folder(folder)
    except BlockingIOError:
        raise
    except OSError:
        return None


def _clean(final: Path) -> bool:
    """Remove what killed processes have left of this folder, or put it back if it is all there is.

    A folder that is locked belongs to a run under way; returns whether there is one.
    """
    both = final.parent, final
    folders = [folder for folder in both if folder.is_dir() and os.access(folder, os.R_OK)]
    siblings = [path for folder in folders for path in folder.iterdir()]
    drafts = [
        path for path in siblings if re.fullmatch(_LEFT.format(re.escape(final.name)), path.name)
    ]
    aside = [path for path in drafts if path.suffix == _ASIDE]
    if aside and not final.exists():
        aside[0].rename(final)
    busy = False
    for path in drafts:
        try:
            lock = _locked(path) if path.is_dir() else None
        except BlockingIOError:
            busy = True
            continue
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)
    return busy


def _commit(draft: Draft, final: Path, obstacle: str) -> None:
    if not obstacle:
        try:
            _keep(final, draft.folder, draft.replaced | _unfinished(final))
            shutil.copystat(final, draft.folder)
            _exchange(draft.folder, final, draft.folder.with_suffix(_ASIDE))
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise
            obstacle = error.strerror or str(error)
        else:  # the draft is the old folder now, to which others may have added something
            gone = draft.replaced | _unfinished(draft.folder)
            _keep(draft.folder, final, gone, _move)
            return
    _LOG.warning(
        "%s: its files were replaced one after the other, since %s; they are whole, but who reads"
        " meanwhile finds some of this run and some of the one before",
        final,
        obstacle,
    )
    try:
        _put(draft.folder, final)
        for name in draft.replaced:
            if not os.path.lexists(draft.folder / name):
                _remove(final / name)
    except (OSError, SoftdockError) as error:
        raise SoftdockError(
            f"{final}: not all of its files could be replaced one after the other, so some are of"
            f" this run and some of the one before; remove the cause and run it again: {error}"
        ) from error


def _unfinished(folder: Path) -> set[str]:
    """Return the files whose processes were killed, or are at them."""
    return {path.name for path in folder.iterdir() if _ATOMIC_DRAFT.fullmatch(path.name)}


def _keep(
    old: Path,
    new: Path,
    replaced: Collection[str] = (),
    put: Callable[[Path, Path], object] = _link,
) -> None:
    """Let a new folder have what is in the old one and not in it."""
    for entry in list(old.iterdir()):
        target = new / entry.name
        if entry.name in replaced:
            continue
        if entry.is_dir() and not entry.is_symlink():
            is_new = not target.exists()
            if is_new:
                target.mkdir()
            if target.is_dir():
                begin = f"{entry.name}/"
                inner = {path.removeprefix(begin) for path in replaced if path.startswith(begin)}
                _keep(entry, target, inner, put)
            if is_new:
                shutil.copystat(entry, target)
        elif not os.path.lexists(target):
            put(entry, target)


def _put(new: Path, old: Path) -> None:
    for path in list(new.iterdir()):
        target = old / path.name
        if path.is_dir():
            target.mkdir(exist_ok=True)
            _put(path, target)
        else:
            link(path, target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _exchange(first: Path, second: Path, aside: Path) -> None:
    """Let two folders of one file system exchange their names.

    Where the system cannot do that in one call it takes two: ``second`` is renamed to ``aside``,
    then ``first`` to ``second`` and ``aside`` to ``first``. Who is killed between the first and the
    second leaves nothing under the name ``second``.
    """
    if not operating_system.exchange_names(first, second):
        _rename_twice(first, second, aside)


def _rename_twice(first: Path, second: Path, aside: Path) -> None:
    try:
        second.rename(aside)
        first.rename(second)
    except BaseException:  # also an interrupt, before or after the first
        if aside.exists() and not second.exists():
            aside.rename(second)
        raise
    aside.rename(first)
