"""An emulator shares no code with the codec that it tries; adapters use public names."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
PACKAGES = sorted(path.parent for path in ROOT.glob("hw_adapters/*/emulator.py"))
#: Modules beside the packages that adapters share.
SHARED = {"counter", "datagram_socket", "stream_socket"}
#: What adapters may import of the orchestrator, besides what docs/reference/api.md lists.
MODULES = {
    "orchestrator",
    "orchestrator.core.accounts",
    "orchestrator.core.files.archive",  # how XML of others is read
    "orchestrator.rig.devices",
    "orchestrator.rig.devices.conformance",
    "orchestrator.core.diagnostics",
    "orchestrator.core.diagnostics.errors",
    "orchestrator.core.files.plain_data",
}


def imports(file, *, names=False):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module
            if names:  # they may be modules
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def reached(file):
    """All modules of hw_adapters that a file imports, and those that they do."""
    found, waiting = set(), [file]
    while waiting:
        for module in imports(waiting.pop(), names=True):
            path = ROOT / f"{module.replace('.', '/')}.py"
            if module.startswith("hw_adapters") and path not in found and path.is_file():
                found.add(path)
                waiting.append(path)
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_emulator_takes_nothing_from_the_adapter(package):
    of_emulator, of_adapter = reached(package / "emulator.py"), reached(package / "bench.py")
    of_emulator.add(package / "emulator.py")
    of_adapter |= {package / "bench.py", package / "adapter.py", *reached(package / "adapter.py")}
    assert not of_emulator & of_adapter
    assert of_emulator | of_adapter >= {*package.glob("*.py")} - {package / "__init__.py"}
    assert not {path for path in of_adapter if "emulation" in path.parts}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_an_adapter_names_no_other_and_no_private_module(package):
    for file in package.glob("*.py"):
        for module in imports(file):
            own = package.name == "dcp" and module.startswith("orchestrator.dcp")  # its protocol
            if module.startswith("orchestrator") and not own:
                assert module in MODULES, f"{file.name}: {module}"
            if module.startswith("hw_adapters."):
                owner = module.split(".")[1]
                assert owner in {package.name, "emulation", *SHARED}
