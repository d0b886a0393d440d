"""Blocks of Python files: each file is a module of its own, whatever others are called."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType

from orchestrator.core.diagnostics import PluginError
from orchestrator.core.system import nearest

#: Modules of files are called so, with a number and the name of the file.
_PACKAGE = "softdock_blocks_"
_numbers = count(1)
#: What a file was when it was loaded: its module, and hashes of it and of files beside it.
_loaded: dict[Path, tuple[ModuleType, dict[Path, str]]] = {}
_loading: list[Path] = []
_lock = threading.RLock()


class _Loader(SourceFileLoader):
    """Compiles what the file holds now: caches of Python tell files apart by whole seconds."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def module_of_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded anew if the file or one that it imports has changed.

    Two files never meet, also if their names are equal. A file imports others of its folder by
    ``from .name import ..``.
    """
    with _lock:
        return _module_of(path.resolve())


def _module_of(path: Path) -> ModuleType:
    known = _loaded.get(path)
    if known is not None and known[1] == _hashes(path, known[0]):
        return known[0]
    if not path.is_file():
        hint = nearest(path.name, _python_files(path.parent))
        raise PluginError.in_file(path, f"no such file{hint}")
    if path in _loading:
        raise PluginError.in_file(
            path,
            "uses a block of its own while it is loaded; write what it runs under"
            " `if __name__ == '__main__':`",
        )
    package = f"{_PACKAGE}{next(_numbers)}"
    _loading.append(path)
    try:
        with _no_caches():
            module = _executed(path, package)
    except (Exception, SystemExit) as error:
        for name in _inside(package):
            del sys.modules[name]
        raise failure(path, error, package) from error
    finally:
        _loading.remove(path)
    _loaded[path] = module, _hashes(path, module)
    return module


def files_of(module: ModuleType) -> list[Path]:
    """Return the file of a module that is of a file, and those of its folder that it imported."""
    package = module.__name__.partition(".")[0]
    files = (getattr(sys.modules[name], "__file__", None) for name in _inside(package))
    return sorted({Path(file) for file in files if file})


def is_of_file(module: str) -> bool:
    """Whether a module of this name was loaded from a file."""
    return module.startswith(_PACKAGE)


def failure(path: Path, error: BaseException, package: str) -> PluginError:
    """Say how a file failed and where: in the deepest frame of its package, else in itself."""
    where, line = path, 0
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            where, line = Path(frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        where, line = Path(error.filename), error.lineno or 0
    said = error.msg if isinstance(error, SyntaxError) else error
    place = f"{where}, line {line}" if line else f"{where}"
    return PluginError(f"{type(error).__name__}: {said} ({place}){_hint(path, error)}")


def _hint(path: Path, error: BaseException) -> str:
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name is None or not (path.parent / f"{name}.py").is_file():
        return ""
    return (
        f"; {name}.py lies beside it: write 'from . import {name}', or 'from .{name} import ..',"
        " since files of several folders may have this name"
    )


def _executed(path: Path, package: str) -> ModuleType:
    spec = ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(path.parent)]
    sys.modules[package] = importlib.util.module_from_spec(spec)
    name = f"{package}.{path.stem}"
    loader = _Loader(name, str(path))
    own = importlib.util.spec_from_file_location(name, path, loader=loader)
    if own is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(own)
    sys.modules[name] = module  # where annotations are looked up
    loader.exec_module(module)
    return module


@contextmanager
def _no_caches() -> Iterator[None]:
    """Leave no bytecode of files beside it, which the next change would find."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _inside(package: str) -> list[str]:
    return [name for name in sys.modules if name == package or name.startswith(f"{package}.")]


def _hashes(path: Path, module: ModuleType) -> dict[Path, str]:
    return {file: _hash(file) for file in {path, *files_of(module)}}


def _hash(file: Path) -> str:
    try:
        return blake2b(file.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _python_files(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("*.py")]
