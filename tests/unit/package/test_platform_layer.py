"""Only the platform layer asks for the platform; where else it is asked for is listed here."""

import ast
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import orchestrator
from orchestrator.core.operating_system.platforms import LINUX, PLATFORMS, WINDOWS, platform_named

PACKAGE = Path(orchestrator.__file__).parent
LAYER = "core/operating_system/"
ONLY = re.compile(
    r"\b(fcntl|termios|tty|resource|flock|renameat2|prctl|memfd_create|pidfd_open|pthread_\w+"
    r"|sched_[gs]et\w+|getpriority|setpriority|os\.(?:nice|killpg|getuid|geteuid|fork|uname)"
    r"|SIG(?:HUP|PIPE|KILL|STOP|USR1)|sys\.platform|os\.name|platform\.(?:system|machine|uname)"
    r"|AF_UNIX|SCM_RIGHTS|send_fds|recv_fds|pass_fds|process_group|start_new_session|preexec_fn)\b"
    r"|/proc/"
)
#: Names of folders in FMUs and of compilers, which `platforms.py` has.
NAMES = re.compile(r"\b(?:x86_64|aarch64|x86)-(?:linux|windows|darwin)\b|\bwin_amd64\b")
#: Where else, but for rigs and their adapters, which are Linux's.
ELSEWHERE = {
    "cli/supervisor.py": "keys of a terminal",
    "core/accounts.py": "whose a socket, a folder and a port are",
    "core/simunits/fmi/wine.py": "the process of Wine, which is Linux's",
}


def test_only_the_platform_layer_asks_for_the_platform():
    assert _files_with(ONLY) == set(ELSEWHERE)


def test_names_of_platforms_stand_in_one_file():
    """Exceptions: help of options, and the folders of 32-bit libraries that are refused."""
    assert _files_with(NAMES) == {"cli/export.py", "checks/inspection/check.py"}


def _files_with(pattern):
    files = {file.relative_to(PACKAGE).as_posix(): file for file in PACKAGE.glob("**/*.py")}
    return {
        name
        for name, file in files.items()
        if not name.startswith((LAYER, "rig/")) and pattern.search(_code(file))
    }


def _code(file):
    """Return a file without its docstrings and comments."""
    text = re.sub(r'"""(?s:.*?)"""', "", file.read_text(encoding="utf-8"))
    return re.sub(r"#.*", "", text)


def _functions(side):
    """Return the public functions and classes of one side, with their arguments."""
    tree = ast.parse((PACKAGE / LAYER / f"{side}.py").read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found[node.name] = (
                ast.dump(node.args).partition("annotation")[0],
                [each.arg for each in (*node.args.args, *node.args.kwonlyargs)],
            )
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found[node.name] = [each.name for each in node.body if hasattr(each, "name")]
    return found


def test_both_sides_have_the_same_functions():
    linux, windows = _functions("posix"), _functions("windows")
    assert windows == linux
    assert len(linux) > 20


@pytest.mark.parametrize("side", ["posix", "windows"])
def test_the_layer_hands_on_all_of_a_side(side):
    text = (PACKAGE / LAYER / "__init__.py").read_text(encoding="utf-8")
    block = text.partition(f"operating_system.{side} import (")[2].partition(")")[0]
    assert {*re.findall(r"(\w+) as", block)} == {*_functions(side), "ENDINGS", "KILL", "POOL_START"}


def test_platforms_have_one_name_each_in_every_world():
    assert (LINUX.folder("2.0"), LINUX.folder("3.0")) == (
        "binaries/linux64",
        "binaries/x86_64-linux",
    )
    assert (WINDOWS.folder("1.0"), WINDOWS.folder("3.0"), WINDOWS.suffix, WINDOWS.wheel) == (
        *("binaries/win64", "binaries/x86_64-windows", ".dll", "win_amd64"),
    )
    assert all(
        platform_named(each.name) is platform_named(each.long_name) is each for each in PLATFORMS
    )


@pytest.mark.parametrize(
    ("machine", "library"),
    [
        (("Windows", "AMD64"), "binaries/win64/probe.dll"),
        (("Linux", "aarch64"), "binaries/aarch64-linux/probe.so"),
        (("Darwin", "arm64"), "binaries/aarch64-darwin/probe.dylib"),
    ],
)
def test_a_library_is_looked_for_in_the_folder_of_this_platform(
    make_fmu, monkeypatch, machine, library
):
    from orchestrator.core.operating_system import platforms
    from orchestrator.core.simunits import read_fmu

    path = make_fmu()
    monkeypatch.setattr(platforms, "machine", lambda: machine)
    assert read_fmu(path, runnable=False).library == library


def test_the_tests_that_windows_leaves_out_exist():
    """Who renames a test renames it in the list, which is read under Wine only."""
    tests = Path(__file__).parents[2]
    content = tomllib.loads((tests / "windows" / "chosen.toml").read_text(encoding="utf-8"))
    names = [name for group in content["left_out"] for name in group["tests"]]
    assert len(names) == len(set(names))
    absent = []
    for name in (*names, *content["not_collected"]):
        file, _, test = name.partition("::")
        function = test.partition("[")[0].rpartition("::")[2]
        path = tests / file
        if not path.exists() or (
            function and f"def {function}(" not in path.read_text(encoding="utf-8")
        ):
            absent.append(name)
    assert absent == []


def _text_writers(file):
    """Yield the lines of calls that write a text and leave the line ends to the system."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        at = 0 if isinstance(node.func, ast.Attribute) else 1
        mode = named.get("mode", node.args[at] if len(node.args) > at else None)
        is_text = isinstance(mode, ast.Constant) and re.fullmatch("[wax]t?[+]?", str(mode.value))
        if "newline" not in named and (name == "write_text" or (name == "open" and is_text)):
            yield f"{file.relative_to(PACKAGE.parent)}:{node.lineno}"


def test_written_texts_have_the_same_line_ends_on_each_system():
    """``newline=`` is given wherever a text file is opened to be written."""
    files = [
        file
        for package in ("orchestrator", "python_blocks", "hw_adapters")
        for file in (PACKAGE.parent / package).rglob("*.py")
    ]
    assert len(files) > 400
    assert [line for file in files for line in _text_writers(file)] == []


def test_the_check_of_line_ends_finds_what_it_looks_for():
    lines = ['open("a", "w")', 'p.open("x")', 'p.write_text("a")', 'p.open("rb")', 'open("a")']
    file = SimpleNamespace(read_text=lambda **_: "\n".join(lines), relative_to=lambda _: "f")
    assert [*_text_writers(file)] == ["f:1", "f:2", "f:3"]
