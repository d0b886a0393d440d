"""Blocks of Python files, each a module of its own, and where the class of a block is."""

from __future__ import annotations

import importlib.util
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import count
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, PluginError, suggestion
from orchestrator.core.simunits.blocks.block import Block
from orchestrator.core.structs import Struct
from orchestrator.core.system import Source
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.source import expect_opened

#: Modules of files are called so, with a number and the name of the file.
_PACKAGE = "softdock_blocks_"
_numbers = count(1)
#: What a file was when it was loaded: its module, and hashes of it and of files in its folder.
_loaded: dict[Path, tuple[ModuleType, dict[Path, str]]] = {}
_loading: list[Path] = []
_lock = threading.RLock()


class _Loader(SourceFileLoader):
    """Compiles what the file holds now: caches of Python tell files apart by whole seconds."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def module_of_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded again if the file or one that it imports has changed.

    Two files never meet, also if their names are equal. A file imports others of its folder by
    ``from .name import ..``.
    """
    with _lock:
        return _module_of(path.resolve())


def _module_of(path: Path) -> ModuleType:
    cached = _loaded.get(path)
    if cached is not None and cached[1] == _hashes(path, cached[0]):
        return cached[0]
    if not path.is_file():
        hint = suggestion(path.name, [file.name for file in path.parent.glob("*.py")])
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
    except BaseException as error:
        for name in _inside(package):
            del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
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
    source, line = path, 0
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            source, line = Path(frame.f_code.co_filename), trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        source, line = Path(error.filename), error.lineno or 0
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    location = f"{source}, line {line}" if line else f"{source}"
    described = f"{type(error).__name__}{reason and ': '}{reason}"
    return PluginError(f"{described} ({location}){_hint(path, error)}")


def _hint(path: Path, error: BaseException) -> str:
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name is None or not (path.parent / f"{name}.py").is_file():
        return ""
    return (
        f"; {name}.py is in the same folder: write 'from . import {name}', or 'from .{name}"
        " import ..', since files of several folders may have this name"
    )


def _executed(path: Path, package: str) -> ModuleType:
    spec = ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(path.parent)]
    sys.modules[package] = importlib.util.module_from_spec(spec)
    name = f"{package}.{path.stem}"
    loader = _Loader(name, str(path))
    module_spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if module_spec is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module  # where annotations are looked up
    loader.exec_module(module)
    return module


@contextmanager
def _no_caches() -> Iterator[None]:
    """Leave no bytecode of files in its folder, which the next change would find."""
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


class GivenBlock(Struct):
    """The class of a block that a program gave; another process finds it by its location."""

    kind: type[Block]

    def location(self) -> str:
        """Return its location; see :func:`location_of`."""
        return location_of(self.kind)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return given_at, (self.location(),)


def given_at(location: str) -> GivenBlock:
    """Find in this process what another one was given."""
    return GivenBlock(class_at(location))


def label_of(kind: type[Block]) -> str:
    """Say where a class is from: ``FILE.py:CLASS`` or ``MODULE:CLASS``, as far as it is known."""
    name, module = kind.__module__, sys.modules.get(kind.__module__)
    spec = getattr(module, "__spec__", None)
    if name == "__main__" and spec is not None and spec.parent:  # python -m package.module
        name = spec.name
    return f"{_own_file(name, module) or name}:{kind.__qualname__}"


def location_of(kind: type[Block]) -> str:
    """Return the location by which files and other processes find a class."""
    name, module = kind.__qualname__, sys.modules.get(kind.__module__)
    label = label_of(kind)
    has_file = getattr(module, "__file__", None) is not None
    block_class = None if module is None or not has_file else _within(module, name)
    if block_class is kind and not label.startswith("__main__:"):  # of a prompt or a notebook
        return label
    reason = "cannot be found by another process"
    if block_class is not None and block_class is not kind:
        reason += ": its module has another class of this name now"
    raise CapabilityError(
        f"block {name} of {kind.__module__} {reason}; expected a class at the top of a module or"
        " script, defined once: move it there, or run it with isolation 'none' and without a file"
    )


def class_at(location: str) -> type[Block]:
    """Return the class of a location ``FILE.py:CLASS`` or ``MODULE:CLASS``."""
    module_path, _, name = location.rpartition(":")
    try:
        is_file = module_path.endswith(".py")
        module = module_of_file(Path(module_path)) if is_file else _imported(module_path)
    except PluginError as error:
        raise PluginError(f"block '{location}' cannot be imported: {error}") from error
    block_class = _within(module, name)
    if isinstance(block_class, type) and issubclass(block_class, Block):
        return block_class
    if block_class is not None:
        description = (
            f"class {block_class.__name__}" if isinstance(block_class, type) else repr(block_class)
        )
        raise PluginError(f"block '{location}': expected a subclass of Block, found {description}")
    classes = {
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Block) and value is not Block
    }
    raise unknown_name_error(module_path, "block", name, sorted(classes))


def files_at(source: Source) -> list[Path]:
    """Return the file of a block and the files of its folder that it imports."""
    expect_opened(source)
    file = source.file
    return [] if file is None else files_of(module_of_file(file))


def _own_file(name: str, module: ModuleType | None) -> Path | None:
    """Return the file by which a class of a module is found: of scripts and of single modules.

    Modules of packages and installed modules are found by their names.
    """
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    if is_of_file(name) or name == "__main__":
        return path
    installed = {*site.getsitepackages(), sysconfig.get_path("stdlib"), site.getusersitepackages()}
    is_installed = any(path.is_relative_to(folder) for folder in installed)
    return None if "." in name or is_installed else path


def _within(module: ModuleType, name: str) -> object:
    value: object = getattr(module, name, None)
    if value is None and "." in name:
        value = module
        for part in name.split("."):
            value = getattr(value, part, None)
    return value


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        raise PluginError(
            f"no module '{error.name}' is found: install it, put its folder on PYTHONPATH, or name"
            " a file, block:FILE.py:CLASS"
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(name, error) from error


def _broken(name: str, error: BaseException) -> PluginError:
    spec = None
    with suppress(Exception):  # a package above it fails, which the error says
        spec = importlib.util.find_spec(name)
    origin = Path(spec.origin) if spec is not None and spec.origin else Path(name)
    return failure(origin, error, name.partition(".")[0])
