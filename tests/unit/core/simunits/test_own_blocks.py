"""Blocks of one's own: a component keeps its class, and files name classes of files and modules."""

import pickle
from pathlib import Path

import pytest

from orchestrator import Block, Input, Output, System, block, read_system, simulate
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    PluginError,
    UnknownNameError,
)
from orchestrator.core.simunits import resolve
from orchestrator.core.system import Source, SourceKind

CONTROLLER = """
from orchestrator import Block, Input, Output, Parameter

GAIN = {gain}


class PI(Block):
    u: float = Input(start=1.0)
    y: float = Output()
    k: float = Parameter(start=GAIN)

    def step(self, t, h):
        self.y = self.k * self.u
"""


def gain_of(k, name="PI"):
    class Made(Block):
        u: float = Input(start=1.0)
        y: float = Output()

        def step(self, t, h):
            self.y = k * self.u

    Made.__name__ = Made.__qualname__ = name
    return Made


def last(system):
    return simulate(system, step="1 ms", stop="2 ms")["c.y"][-1]


def in_file(folder, gain=10.0, text=CONTROLLER):
    folder.mkdir(exist_ok=True)
    (folder / "controller.py").write_text(text.format(gain=gain))
    file = folder / "system.toml"
    file.write_text(
        '[system]\nname = "s"\n[component.c]\nsource = "block:controller.py:PI"\n'
        "values = { u = 1.0 }\n"
    )
    return file


def test_two_classes_of_one_name_are_two():
    first = System("s").add("c", block(gain_of(10.0)), u=1.0)
    second = System("s").add("c", block(gain_of(100.0)), u=1.0)
    assert (last(first), last(second)) == (10.0, 100.0)
    assert first != second


def test_a_class_named_like_a_registered_block_takes_no_place(sample_blocks):
    own = block(gain_of(7.0, "gain"))
    assert last(System("s").add("c", own, u=1.0)) == 7.0
    assert set(block("gain").connectors) == {"u", "y", "k"}
    assert set(own.connectors) == {"u", "y"}


def test_a_registered_class_is_named_by_its_name():
    from python_blocks.contact.spring_dashpot import SpringDashpot

    assert block(SpringDashpot).source == Source(SourceKind.BLOCK, "spring_dashpot")


def test_blocks_of_two_files_of_one_name_do_not_meet(tmp_path):
    files = [in_file(tmp_path / name, gain) for name, gain in (("a", 10.0), ("b", 100.0))]
    systems = [read_system(file) for file in files]
    assert [last(system) for system in systems] == [10.0, 100.0]
    assert [last(system) for system in systems] == [10.0, 100.0]


def test_a_file_that_was_changed_is_read_again(tmp_path):
    file = in_file(tmp_path, 10.0)
    system = read_system(file)
    before = resolve(system)
    in_file(tmp_path, 20.0)
    assert (last(system), last(before)) == (20.0, 20.0)


def test_a_file_finds_those_beside_it(tmp_path):
    text = CONTROLLER.replace("GAIN = {gain}", "from .gains import GAIN")
    file = in_file(tmp_path, text=text)
    for gain in (3.0, 4.0):
        (tmp_path / "gains.py").write_text(f"GAIN = {gain}\n")
        assert last(read_system(file)) == gain


def test_a_module_is_named(tmp_path, monkeypatch):
    package = tmp_path / "my_rig_blocks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "control.py").write_text(CONTROLLER.format(gain=5.0))
    monkeypatch.syspath_prepend(tmp_path)
    component = block("my_rig_blocks.control:PI")
    assert last(System("s").add("c", component, u=1.0)) == 5.0
    from my_rig_blocks.control import PI

    assert str(block(PI).source) == "block:my_rig_blocks.control:PI"


def wrong(tmp_path, text, name="PI"):
    (tmp_path / "controller.py").write_text(text)
    with pytest.raises((DescriptionError, PluginError)) as caught:
        block(f"{tmp_path}/controller.py:{name}")
    return caught.value


def test_a_file_that_is_missing(tmp_path, wording):
    (tmp_path / "controller.py").touch()
    with wording.raises(PluginError):
        block(f"{tmp_path}/contrller.py:PI")


def test_a_class_that_is_missing(tmp_path):
    error = wrong(tmp_path, CONTROLLER.format(gain=1.0), "PID")
    assert isinstance(error, UnknownNameError)
    assert "controller.py has no block 'PID'. Did you mean 'PI'? Its only block is PI" in str(error)


def test_a_class_that_is_no_block(tmp_path):
    text = str(wrong(tmp_path, "class PI:\n    pass\n"))
    assert "controller.py:PI': expected a subclass of Block, found class PI" in text
    assert "found 3" in str(wrong(tmp_path, "PI = 3\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import math\n\nx = 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import math\n\nimport no_such_module\n", "No module named 'no_such_module'"),
        ("import math\n\nclass :\n", "SyntaxError: "),
        ("import math\n\nraise SystemExit(3)\n", "SystemExit: 3"),
        ("import math\n\nraise GeneratorExit\n", "GeneratorExit ("),
        ("import asyncio\n\nraise asyncio.CancelledError('late')\n", "CancelledError: late"),
    ],
)
def test_a_file_that_fails_says_where(tmp_path, text, said):
    error = wrong(tmp_path, text)
    assert isinstance(error, PluginError)
    assert said in str(error)
    assert f"({tmp_path / 'controller.py'}, line 3)" in str(error)


def test_a_declaration_that_is_wrong_says_where(tmp_path):
    text = "from orchestrator import Block, Input\n\nclass PI(Block):\n    u: list = Input()\n"
    assert f"({tmp_path / 'controller.py'}, line 3)" in str(wrong(tmp_path, text))


def test_an_import_that_fails_in_a_file_beside_it(tmp_path):
    (tmp_path / "deep.py").write_text("\n1 / 0\n")
    text = str(wrong(tmp_path, "from . import deep\n"))
    assert f"({tmp_path / 'deep.py'}, line 2)" in text


def test_a_plain_import_of_a_file_beside_it_says_what_to_write(tmp_path):
    (tmp_path / "gains_beside.py").write_text("GAIN = 1\n")
    text = str(wrong(tmp_path, "import gains_beside\n"))
    assert "write 'from . import gains_beside'" in text


def test_a_file_that_runs_itself_is_told_so(tmp_path):
    path = f"{tmp_path}/controller.py:PI"
    text = str(wrong(tmp_path, f"from orchestrator import block\nblock({path!r})\n"))
    assert "if __name__ == '__main__'" in text


def test_a_module_that_fails_with_what_is_no_exception(tmp_path, monkeypatch, wording):
    """Only Ctrl-C passes through."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ends_at_once.py").write_text("raise GeneratorExit\n")
    with wording.raises(PluginError):
        block("ends_at_once:PI")
    (tmp_path / "is_stopped.py").write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        block("is_stopped:PI")


def test_a_module_that_is_missing(wording):
    with wording.raises(PluginError):
        block("no_such_rig.control:PI")
    with wording.raises(UnknownNameError):
        block("math:PI")


def test_a_file_without_a_class(wording):
    with wording.raises(DescriptionError):
        block("controller.py")


def test_a_relative_file_starts_from_where_python_runs(tmp_path, monkeypatch):
    in_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    component = block("controller.py:PI")
    assert component.source == Source(SourceKind.BLOCK, f"{tmp_path / 'controller.py'}:PI")


def test_what_is_no_class_is_refused(wording):
    kind = gain_of(1.0)
    with wording.raises(DescriptionError):
        block(kind())
    with wording.raises(DescriptionError):
        block(lambda t, h: 0.0)
    with wording.raises(DescriptionError):
        block(int)


def test_a_class_that_cannot_be_named_is_not_written(tmp_path, wording):
    from orchestrator import write_ssd, write_ssp, write_toml

    system = System("s").add("c", block(gain_of(1.0)), u=1.0)
    for write, name in ((write_toml, "s.toml"), (write_ssd, "s.ssd"), (write_ssp, "s.ssp")):
        with wording.raises(DescriptionError):
            write(system, tmp_path / name)
        assert not (tmp_path / name).exists()
    with wording.raises(CapabilityError):
        pickle.dumps(system)


def test_a_class_that_was_defined_again_is_not_named(tmp_path, monkeypatch, wording):
    (tmp_path / "notebook_cells.py").write_text(CONTROLLER.format(gain=1.0))
    monkeypatch.syspath_prepend(tmp_path)
    import notebook_cells

    component = block(notebook_cells.PI)
    assert pickle.loads(pickle.dumps(component)).connectors == component.connectors  # noqa: S301
    monkeypatch.setattr(notebook_cells, "PI", gain_of(2.0))
    with wording.raises(CapabilityError):
        pickle.dumps(component)


def test_files_name_a_class_of_a_script(tmp_path, monkeypatch):
    from orchestrator import write_ssd, write_ssp, write_toml

    folder = tmp_path / "code"
    in_file(folder, 12.0)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(__import__("sys").modules, "controller", raising=False)
    import controller

    system = System("s").add("c", block(controller.PI), u=1.0)
    write_toml(system, tmp_path / "s.toml")
    write_ssd(system, tmp_path / "s.ssd")
    write_ssp(system, tmp_path / "s.ssp")
    assert 'source = "block:code/controller.py:PI"' in (tmp_path / "s.toml").read_text()
    assert 'source="block:code/controller.py:PI"' in (tmp_path / "s.ssd").read_text()
    (tmp_path / "s.ssp").rename(tmp_path / "moved.ssp")
    (tmp_path / "elsewhere").mkdir()
    for name in ("s.toml", "s.ssd", "moved.ssp"):
        assert last(read_system(tmp_path / name)) == 12.0
    Path(folder / "controller.py").unlink()
    assert last(read_system(tmp_path / "moved.ssp")) == 12.0
