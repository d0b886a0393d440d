"""FMUs that run a block in a Python interpreter, by the libraries of pythonfmu and pythonfmu3."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.simunits import Block
from orchestrator.core.simunits.blocks.block_file import files_of, is_of_file
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Value
from orchestrator.export.archive.description import describe
from orchestrator.export.archive.fmu_archive import (
    STAMP_FILE,
    guid_of,
    hash_of,
    stamp_text,
    write_archive,
)
from orchestrator.export.archive.model_description import write
from orchestrator.export.blocks.block_memory import declared
from orchestrator.export.build import BuildResult, write_changed
from orchestrator.export.codegen.layout import Layout, entries
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.recipe import Recipe, platforms_of

_Places = Mapping[int, tuple[str, int, int]]


class _Tool(Struct):
    """A package whose library calls Python, and the class that this library looks for."""

    package: str
    version: str
    slave: str
    imports: str
    failure: str
    error: str
    footer: str = ""


_TOOLS = {
    "2.0": _Tool(
        "pythonfmu",
        "0.7.0",
        "Fmi2Slave",
        "from pythonfmu import Fmi2Slave\nfrom pythonfmu.enums import Fmi2Status",
        "None",
        "Fmi2Status.error",
        "\n# With every instance pythonfmu 0.7.0 runs this again, and then gives back a reference\n"
        "# to the globals that it does not have.\n"
        "import ctypes\n\n"
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))\n",
    ),
    "3.0": _Tool(
        "pythonfmu3",
        "0.3.4",
        "Fmi3Slave",
        "from pythonfmu3 import Fmi3Slave, Fmi3Status, Fmi3StepResult",
        "Fmi3StepResult(Fmi3Status.error)",
        "Fmi3Status.error",
    ),
}


class _Embedded(Struct):
    """A block that goes into FMUs.

    module, files: Where its class is imported from. Of a module that stands alone its file is
        packed, with files of its folder that it imports, by their names in a folder.
    values: Parameters, and start values of inputs.
    layout: Its variables.
    """

    kind: type[Block]
    module: str
    files: Mapping[str, Path]
    values: Mapping[str, Value]
    layout: Layout


def write_python_fmu(
    kind: type[Block],
    values: Mapping[str, Value],
    recipe: Recipe,
    files: Mapping[str, Path],
    *,
    force: bool = False,
) -> BuildResult:
    """Write the FMUs of a block that is run by Python."""
    packages = {fmi: _installed(_TOOLS[fmi]) for fmi in recipe.fmi}
    block = kind(**values)
    try:
        module, packed = _module_of(kind)
        summary = (kind.__doc__ or "").strip().partition("\n")[0]
        layout = Layout(without_equations(kind.__name__, summary, declared(block)))
    except CapabilityError as error:
        raise CapabilityError(*error.within(f"block {kind.__name__}")) from None
    _expect_declared(kind(**values))
    embedded = _Embedded(kind, module, packed, dict(values), layout)

    def write(fmi: str, stamp: dict[str, str], target: Path) -> None:
        content = _content(embedded, recipe, fmi, stamp) | _library(packages[fmi], recipe, fmi)
        write_archive(target, lambda _: content)

    anonymous = {"key": ""}
    source = hash_of(
        [
            (f"{fmi}/{name}", data)
            for fmi in recipe.fmi
            for name, data in _content(embedded, recipe, fmi, anonymous).items()
        ]
    )
    return write_changed(recipe, f"python {source}", write, files, force=force)


def _installed(tool: _Tool) -> Path:
    """Folder of a tool's package; an FMU that runs in this process brings another one."""
    try:
        package = distribution(tool.package)
        actual = package.version
    except PackageNotFoundError:
        package, actual = None, "none"
    if package is None or actual != tool.version:
        raise FmuError(
            f"an FMU with Python in it needs {tool.package} {tool.version}, found {actual}:"
            " pip install 'softdock[fmu]'"
        )
    return Path(str(package.locate_file(tool.package)))


def _module_of(kind: type[Block]) -> tuple[str, Mapping[str, Path]]:
    """The module of a class, and its files if it stands alone and can be packed."""
    name = kind.__module__
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if name == "__main__" or file is None or "<locals>" in kind.__qualname__:
        raise CapabilityError(
            f"is defined in {name}: an FMU with Python in it imports its class; expected a class"
            " at the top of a module that is not the script itself"
        )
    path = Path(file)
    if module is not None and is_of_file(name):
        files = files_of(module)
        return path.stem, {source.relative_to(path.parent).as_posix(): source for source in files}
    return name, {path.name: path} if path.stem == name else {}


def _expect_declared(block: Block) -> None:
    """Refuse a block that remembers what it does not declare, as a first call may show."""
    with suppress(Exception):  # what fails here fails when it runs, with its own inputs
        block.initialise(0.0)
    block.get_state()


def _content(
    embedded: _Embedded, recipe: Recipe, fmi: str, stamp: Mapping[str, str]
) -> dict[str, bytes]:
    """The files that are ours, by name in the archive."""
    # Python imports the modules of all FMUs into one process: the name must be this FMU's alone.
    slave = f"softdock_{recipe.name}_{stamp['key'][:12]}"
    tool, layout = _TOOLS[fmi], embedded.layout
    folder = f"{slave}_block"
    module = f"{folder}.{embedded.module}" if embedded.files else embedded.module
    script = _script(embedded, module, _start_indices(layout, fmi), tool)
    content = {
        "modelDescription.xml": _description(layout, recipe, fmi, guid_of(stamp)),
        "resources/slavemodule.txt": slave.encode(),
        f"resources/{slave}.py": script.encode(),
        "documentation/index.html": _documentation(embedded, tool).encode(),
        STAMP_FILE: stamp_text(stamp),
    }
    files = embedded.files.items()
    return content | {f"resources/{folder}/{name}": file.read_bytes() for name, file in files}


def _library(package: Path, recipe: Recipe, fmi: str) -> dict[str, bytes]:
    """The files that are the tool's."""
    content = {
        f"resources/{package.name}/{file.name}": file.read_bytes()
        for file in sorted(package.glob("*.py"))
    }
    for platform in platforms_of(recipe.platforms):
        folder = platform.folder(fmi)
        libraries = list((package / "resources" / folder).glob(f"*{platform.suffix}"))
        if len(libraries) != 1:
            raise FmuError(
                f"an FMU with Python in it needs a library of {package.name} for {platform.name},"
                f" and '{package / 'resources' / folder}' has {len(libraries)}; leave that"
                " platform out"
            )
        content[f"{folder}/{recipe.name}{platform.suffix}"] = libraries[0].read_bytes()
    return content


def _description(layout: Layout, recipe: Recipe, fmi: str, token: str) -> bytes:
    """That of an FMU that has no C sources, and messages of no category."""
    description = describe(layout, recipe, fmi, token)
    interfaces = {
        tag: {**attributes, "needsExecutionTool": "true"}
        for tag, attributes in description.interfaces.items()
    }
    bare = replace(description, interfaces=interfaces, log_categories={}, source_file=None)
    return write(bare, fmi)


def _start_indices(layout: Layout, fmi: str) -> _Places:
    """What the value references mean to :class:`EmbeddedBlock`."""
    if fmi == "3.0":
        time = len(layout.slots)
        references = {
            e.reference: (e.name, 0, len(e.slots) if e.shape else 0) for e in entries(layout)
        }
        return references | {time: ("", 0, 0)}
    references = {}
    counts: dict[str, int] = {}
    for slot in layout.slots:
        array = slot.variable.array
        first = counts.get(array, 0)
        references[slot.reference] = (array, first, 1) if array else (slot.name, 0, 0)
        counts[array] = first + 1
    return references


def _script(embedded: _Embedded, module: str, references: _Places, tool: _Tool) -> str:
    kind = embedded.kind
    listed = "".join(f"        {key}: {target!r},\n" for key, target in references.items())
    return (
        f'"""Runs block {kind.__name__} of {embedded.module} in an FMU."""\n\n'
        f"{tool.imports}\n"
        "from orchestrator.core.simunits.embedded_block import EmbeddedBlock\n\n\n"
        f"class Slave(EmbeddedBlock, {tool.slave}):\n"
        f"    module = {module!r}\n"
        f"    kind = {kind.__qualname__!r}\n"
        f"    values = {embedded.values!r}\n"
        f"    places = {{\n{listed}    }}\n"
        f"    failure = {tool.failure}\n"
        f"    error = {tool.error}\n"
        f"{tool.footer}"
    )


def _documentation(embedded: _Embedded, tool: _Tool) -> str:
    python = ".".join(map(str, sys.version_info[:2]))
    kind, package = embedded.kind, embedded.module.partition(".")[0]
    location = "packed in it" if embedded.files else "to be installed there, too"
    return (
        "<!DOCTYPE html>\n<html><head><title>What this FMU needs</title></head><body>\n"
        f"<h1>{escape(kind.__name__)}</h1>\n"
        "<p>This FMU runs Python code. The importer must be a Python process, or one into which"
        f" libpython is loaded (LD_PRELOAD); the FMU was made with Python {python}. That Python"
        f" needs softdock {version('softdock')}; the module <code>{escape(package)}</code> of the"
        f" block is {location}. The library is that of {tool.package} {tool.version}.</p>\n"
        f"<pre>{escape(kind.__doc__ or '')}</pre>\n</body></html>\n"
    )
