"""Modules of names and types: whole, and what a checker of types reads in them."""

import ast
import runpy

from orchestrator import Execution, read_system

NAMES = {"chaser.thrust", "chaser.virtual_force", "target.virtual_force"}


def test_a_module_has_all_names_with_their_types(softdock, plants, tmp_path):
    ideal = plants.parent.parent / "examples" / "epos" / "ideal.ssd"
    path = tmp_path / "ideal_types.py"
    code, out, err = softdock("stubs", ideal, "--output", path)
    assert (code, out.strip()) == (0, str(path)), err
    (run,) = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef))
    get, put = run.body
    assert ast.unparse(get.returns) == "float"
    read = set(ast.literal_eval(get.args.args[1].annotation.slice))
    assert set(ast.literal_eval(put.args.args[1].annotation.slice)) == NAMES
    module = runpy.run_path(str(path))
    assert set(module["FreeInput"].__args__) == NAMES
    assert set(module["Component"].__args__) == {"chaser", "target", "contact"}
    with module["typed"](Execution(read_system(ideal), step="1 ms")) as execution:
        values = {name: execution.get(name) for name in read}
        for name in NAMES:
            execution.set(name, 0.0)
    assert all(isinstance(value, float) for value in values.values())


def test_arrays_and_texts_have_types_of_their_own(softdock, tmp_path):
    (tmp_path / "part.py").write_text(
        "import numpy as np\n"
        "from orchestrator import Block, Input, Output\n"
        "class Part(Block):\n"
        "    u: np.ndarray = Input(shape=(3,))\n"
        "    n: int = Input()\n"
        "    y: float = Output(depends_on=())\n"
        "    def step(self, t, h): self.y = t\n"
    )
    (tmp_path / "s.toml").write_text(
        '[system]\nname = "s"\n[component.a]\nsource = "block:part.py:Part"\n'
    )
    code, _, err = softdock("stubs", tmp_path / "s.toml", "--output", tmp_path / "t.py")
    assert code == 0, err
    text = (tmp_path / "t.py").read_text()
    assert "def set(self, name: Literal['a.u'], value: ArrayLike) -> None" in text
    assert "def set(self, name: Literal['a.n'], value: int) -> None" in text
    assert "def get(self, name: Literal['a.u']) -> NDArray[np.float64]" in text
    assert text.count("@overload") == 4
    code, _, err = softdock("stubs", tmp_path / "s.toml", "--output", tmp_path / "t.txt")
    assert code == 2
    assert "expected a module to write, which ends in .py" in " ".join(err.split())
