from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.frontend import flatten, flatten_place, flatten_source
from orchestrator.export.modelica.source.class_place import place_in_file

ROOT = Path(__file__).parents[4] / "modelica"


def test_missing_root_is_named(tmp_path: Path, wording) -> None:
    with wording.raises(ModelicaError):
        flatten("P.A", tmp_path / "nowhere")


def test_missing_class_lists_the_ones_that_exist(wording) -> None:
    with wording.raises(ModelicaError):
        flatten("SpaceDocking.Bodies.Chasr", ROOT)


def test_syntax_error_has_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "A.mo"
    path.write_text("model A\n  Real x;\nequation\n  x = ;\nend A;\n", encoding="utf-8")
    with pytest.raises(ModelicaError, match=rf"{path}:4:7: unexpected `;`"):
        flatten("A", tmp_path)


@pytest.mark.parametrize(
    ("equations", "told"),
    [
        ("der(x*y) = 1;", r"der\(x \* y\) stands at {}:4 .*Real v = expression"),
        ("when change(c + 1) then reinit(x, 2); end when;", r"change\(c \+ 1\) stands at {}:4 "),
        ("when edge(not b) then reinit(x, 2); end when;", r"edge\(not b\) stands at {}:4 "),
    ],
)
def test_calls_that_the_front_end_refuses_have_file_and_line(
    tmp_path: Path, equations: str, told: str
) -> None:
    path = tmp_path / "A.mo"
    path.write_text(
        "model A input Integer c; input Boolean b;\nReal x(start=1), y = 1; equation der(x) = y;\n"
        f"// der(of a comment)\n{equations}\nend A;\n"
    )
    with pytest.raises(ModelicaError, match=told.format(path)) as refused:
        flatten("A", tmp_path)
    assert str(refused.value).count(" stands at ") <= 2  # the call, and rumoca's own name


def test_a_backup_in_the_folder_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "M.mo"
    file.write_text("model M H h; end M;")
    (tmp_path / "H.mo").write_text("model H Real z = time; end H;")
    (tmp_path / "M_backup.mo").write_text("model M Real y = 3; end M;")
    tree = flatten_place(place_in_file(file, None, ())).tree
    assert list(tree["variables"]) == ["h.z"]
    assert "M_backup.mo' has a class M as well; it is left out" in caplog.text


def test_messages_are_short(tmp_path: Path, wording) -> None:
    names = [f"v{number}" for number in range(500)]
    body = "".join(f"{name} = {name}_nowhere;\n" for name in names)
    declared = f"Real {', '.join(names)};"
    (tmp_path / "A.mo").write_text(f"model A {declared} equation\n{body}end A;")
    with wording.raises(ModelicaError) as refused:
        flatten("A", tmp_path)
    assert len(str(refused.value)) < 3000
    assert "more lines)" in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        "parameter Real a[4]={1,2,3,4}; Real q[4]; equation for i loop q[i]=a[i]^2; end for;",
        "Real f[1,3]=[1:3];",
        "Real c[3]=cross({1,0,0},{0,time,1});",
        "Real a[3,2]={10*i+j for i in 1:2,j in 1:3}; Real s=a[3,2]*time;",
    ],
)
def test_what_may_be_valid_is_not_called_invalid(body: str) -> None:
    with pytest.raises(ModelicaError) as refused:
        flatten_source("M", f"model M {body} end M;", "M.mo")
    assert "not valid" not in str(refused.value)
    assert "M.mo:1" in str(refused.value)


def test_events_of_elements_are_reworded_in_plain_classes() -> None:
    source = """function f input Real x; input Real k = 1; output Real y; algorithm y := k*x; end f;
    function g = f(k=3);
    model M discrete Real d[2](each start=0, each fixed=true); Real a = g(time);
    equation when time > 0.5 then d[2] = a; end when; end M;"""
    assert len(flatten_source("M", source).tree["when_chains"]) == 1


def test_undeclared_name_is_shown(wording) -> None:
    with wording.raises(ModelicaError):
        flatten_source("A", "model A Real x; equation x = y; end A;")


def test_unbalanced_model_is_refused(wording) -> None:
    with wording.raises(ModelicaError):
        flatten_source("A", "model A Real x, y; equation x = 1; end A;")


def test_unbalanced_model_that_only_its_file_has_is_told_by_its_own_name(
    tmp_path: Path, wording
) -> None:
    (tmp_path / "A.mo").write_text("package P model A Real x, y; equation x = 1; end A; end P;")
    with wording.raises(ModelicaError) as caught:
        flatten("A", tmp_path)
    assert "SoftdockProbe" not in str(caught.value)


def test_partial_model_is_refused(wording) -> None:
    with wording.raises(ModelicaError):
        flatten("SpaceDocking.Interfaces.PartialFreeBody", ROOT)


def test_panic_of_the_front_end_is_an_error_of_ours(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelicaError, match="rumoca panicked"):
        flatten_source("A", "model A input Real u; Real y; equation y = der(u); end A;")
    capfd.readouterr()  # Rust prints the panic


@pytest.mark.parametrize(
    ("declarations", "equations", "structural"),
    [
        ("parameter Boolean c = true; B z if c;", "", {"c"}),
        # Also read by an expression: setting it would do half of what it says.
        (
            "parameter Boolean c = true; B z if c; Real y;",
            "y = if c then 1 else 2;",
            {"c"},
        ),
        ("parameter Integer n = 2; Real x[n];", "for i in 1:n loop x[i] = time; end for;", {"n"}),
        ("parameter Boolean c = true; Real y;", "y = if c then time else 2;", set()),
        ("parameter Integer n = 2; Real y;", "y = n*time;", set()),
        ("parameter Real unused = 2; Real y;", "y = time;", {"unused"}),
    ],
)
def test_parameters_folded_into_the_equations_are_found(
    declarations: str, equations: str, structural: set[str]
) -> None:
    inside = "block B output Real y = 3; end B;"
    flat = flatten_source("A", f"model A {inside} {declarations} equation {equations} end A;")
    assert flat.structural == structural
