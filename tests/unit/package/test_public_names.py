"""The public names: listed once, documented, and enough for the examples and the documentation."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import orchestrator

ROOT = Path(__file__).parents[3]
#: The modules whose names programs may rely on; every other one is private.
PUBLIC = (
    "orchestrator",
    "orchestrator.loops.contact",
    "orchestrator.rig.devices",
    "orchestrator.rig.devices.conformance",
    "orchestrator.export",
    "orchestrator.loops",
    "orchestrator.study.energy",
    "orchestrator.study.measure",
)
#: What a block may use of the orchestrator: its base class, its connectors, the errors.
FOR_BLOCKS = {
    "Block",
    "Input",
    "Notice",
    "Output",
    "Parameter",
    "Reason",
    "State",
    "compiled",
    "where",
} | {name for name in orchestrator.__all__ if name.endswith("Error")}
SHOWN = re.compile(r"^::: (\S+)$", re.MULTILINE)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def shown(page):
    """The names whose docstrings a page of the reference shows.

    A function that has the name of its module is shown by both: else the module would be.
    """
    text = (ROOT / "docs" / "reference" / page).read_text()
    return [re.sub(r"\.(\w+)\.\1$", r".\1", name) for name in SHOWN.findall(text)]


def imports(text):
    """Yield what a piece of Python imports: the module and the name, if there is one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.module, alias.name) for alias in node.names)


def pieces():
    """Yield the Python of all examples and of all pages, by the place that it is from."""
    for file in sorted(ROOT.glob("examples/**/*.py")):
        yield file.relative_to(ROOT).as_posix(), file.read_text()
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("[!.]*/**/README.md")]
    for page in sorted(page for page in pages if "build" not in page.parts):
        for n, text in enumerate(CODE.findall(page.read_text())):
            yield f"{page.relative_to(ROOT).as_posix()}:{n}", text


PIECES = dict(pieces())


@pytest.mark.parametrize("module", PUBLIC)
def test_every_name_is_there(module):
    room = importlib.import_module(module)
    assert len(set(room.__all__)) == len(room.__all__)
    for name in room.__all__:
        assert getattr(room, name) is not None


def test_the_page_shows_every_public_name_once():
    wanted = [f"orchestrator.{name}" for name in orchestrator.__all__]
    for module in PUBLIC[1:]:
        room = importlib.import_module(module)
        wanted += [  # what both have is the same, and shown with the package
            f"{module}.{name}"
            for name in room.__all__
            if getattr(orchestrator, name, None) is not getattr(room, name)
        ]
    assert sorted(shown("api.md")) == sorted(wanted)


def test_the_page_of_blocks_shows_every_registered_block():
    from importlib.metadata import entry_points

    places = {e.value.replace(":", ".") for e in entry_points(group="softdock.blocks")}
    assert places <= set(shown("blocks.md"))


@pytest.mark.parametrize("place", PIECES)
def test_examples_and_pages_import_public_names_only(place):
    of_blocks = set(shown("blocks.md"))
    for module, name in imports(PIECES[place]):
        if module.split(".")[0] == "orchestrator":
            assert module in PUBLIC, f"{module} is private"
            assert name is None or name in importlib.import_module(module).__all__, name
        elif module.split(".")[0] == "python_blocks":
            assert f"{module}.{name}" in of_blocks, f"{module}.{name} is on no page"


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("python_blocks/**/*.py")), ids=lambda file: file.stem
)
def test_blocks_use_what_blocks_may(file):
    for module, name in imports(file.read_text()):
        if module.split(".")[0] == "orchestrator":
            assert (module, name in FOR_BLOCKS) == ("orchestrator", True), f"{module}: {name}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("orchestrator/**/__init__.py")), ids=str)
def test_no_lazy_name_is_that_of_a_module(path):
    """Once it is imported, the module would take the place of the name."""
    lazy = {
        alias.name
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.If)
        for imported in statement.body
        if isinstance(imported, ast.ImportFrom)
        for alias in imported.names
    }
    modules = {path.stem for path in path.parent.iterdir()}
    assert lazy & modules == set()
