"""What a program sees of the packages themselves."""

import importlib
import inspect
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import pytest

import orchestrator


def test_only_public_names_are_listed():
    names = dir(orchestrator)
    assert set(orchestrator.__all__) == {name for name in names if not name.startswith("__")}
    assert not {"annotations", "importlib", "TYPE_CHECKING", "Any"} & set(names)
    assert all(hasattr(orchestrator, name) for name in names)
    assert names == sorted(names)


def test_every_path_may_be_a_text():
    """Of parameters and methods' parameters alike: a text never ends in an AttributeError."""
    wrong = []
    for name in orchestrator.__all__:
        value = getattr(orchestrator, name)
        methods = vars(value).values() if isinstance(value, type) else [value]
        for function in methods:
            if not inspect.isfunction(function) or function.__name__ == "__init__":
                continue
            for parameter in inspect.signature(function).parameters.values():
                said = str(parameter.annotation)
                if "Path" in said and "str" not in said:
                    wrong.append(f"{name}.{function.__name__}({parameter})")
    assert not wrong


@pytest.mark.slow
def test_names_do_not_change_by_use():
    code = (
        "import orchestrator; before = dir(orchestrator)\n"
        "from orchestrator import *\nimport orchestrator.core.simunits\n"
        "import orchestrator.cli.main as _\n"
        "assert dir(orchestrator) == before\n"
        "assert block and System\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_the_version_is_that_of_the_package():
    assert orchestrator.__version__ == version("softdock")


def test_a_name_that_is_not_there_is_asked_about():
    with pytest.raises(AttributeError, match=r"'orchestrator' has no attribute 'Sistem'"):
        orchestrator.Sistem  # noqa: B018


@pytest.mark.parametrize("package", ["orchestrator", "python_blocks", "hw_adapters"])
def test_types_are_shipped(package):
    importlib.import_module(package)
    assert (files(package) / "py.typed").is_file()
