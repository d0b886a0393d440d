"""What FMUs are made and set up with: their tolerance, and which messages they log."""

import logging
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator import CapabilityError, Execution, StepError, System, block, export_system, fmu
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study import read_experiment, run_experiment

#: FMPy loads no library that lacks a function.
LACKING = Path(__file__).parents[3] / "fixtures" / "c_fmus" / "lacking.c"
TELLS = ("-DTELLS", str(LACKING))
EXPERIMENT = '<DefaultExperiment tolerance="1e-05"/>'
#: Of FMI 2.0, 3.0: the element before which others are put.
HEAD = "<ModelVariables>"


def categories(*names):
    listed = "".join(f'<Category name="{name}"/>' for name in names)
    return f"<LogCategories>{listed}</LogCategories>"


SERIOUS = categories("logStatusWarning", "logStatusError", "logAll")
MORE = categories("logEvents", "logStatusWarning", "logStatusError")


@pytest.fixture(scope="module")
def quiet(tmp_path_factory, small_fmu):
    """An FMU of FMI 2.0 that says how it was set up; its description has further elements."""
    made = {}

    def make(*elements):
        if elements not in made:
            path = tmp_path_factory.mktemp("quiet") / "quiet.fmu"
            with (
                zipfile.ZipFile(small_fmu("quiet", *TELLS)) as old,
                zipfile.ZipFile(path, "w") as new,
            ):
                for name in old.namelist():
                    content = old.read(name)
                    if name == "modelDescription.xml":
                        content = content.replace(
                            HEAD.encode(), ("".join(elements) + HEAD).encode()
                        )
                    new.writestr(name, content)
            made[elements] = path
        return made[elements]

    return make


def said(system, caplog, **options):
    """Return what the FMU of a system says of how it was set up, with the logger that said it."""
    caplog.clear()
    with Execution(system, step="0.1 s", **options) as run:
        run.step()
    found = [r for r in caplog.records if "tolerance " in r.getMessage()]
    assert len(found) == 1
    return found[0].getMessage().removeprefix("init: ")


def of(path, **options):
    return System("s").add("m", fmu(path)).with_options("m", **options)


@pytest.mark.parametrize(
    ("elements", "options", "expected"),
    [
        ((), {}, "tolerance -1, logging 0, categories 0"),
        ((EXPERIMENT,), {}, "tolerance 1e-05, logging 0, categories 0"),
        ((EXPERIMENT,), {"tolerance": 1e-9}, "tolerance 1e-09, logging 0, categories 0"),
        ((), {"tolerance": 1e-9}, "tolerance 1e-09, logging 0, categories 0"),
        (('<DefaultExperiment tolerance="0"/>',), {}, "tolerance -1, logging 0, categories 0"),
        ((SERIOUS,), {}, "tolerance -1, logging 1, categories 0"),
        ((MORE,), {}, "tolerance -1, logging 0, categories 2"),
        ((MORE,), {"debug": True}, "tolerance -1, logging 1, categories 0"),
    ],
)
@pytest.mark.parametrize("way", [{}, {"isolation": "process"}, {"backend": "fmpy"}], ids=str)
def test_an_fmu_is_set_up_by_its_description_and_options(
    quiet, caplog, elements, options, expected, way
):
    assert said(of(quiet(*elements), **options, **way), caplog) == expected


def test_an_exported_system_sets_its_fmus_up_in_the_same_way(quiet, caplog, tmp_path):
    """Its messages come with those of the whole, where that is asked to log."""
    for options, tolerance in (({}, "1e-05"), ({"tolerance": 1e-9}, "1e-09")):
        path = tmp_path / f"{tolerance}.fmu"
        export_system(of(quiet(EXPERIMENT, MORE), **options), path, step="0.1 s")
        expected = f"tolerance {tolerance}, logging 1, categories 0"
        assert expected in said(of(path, debug=True), caplog)


@pytest.mark.parametrize(
    ("elements", "options", "expected"),
    [
        ("", {}, "tolerance -1, logging 0, categories 0"),
        (EXPERIMENT, {}, "tolerance 1e-05, logging 0, categories 0"),
        (EXPERIMENT + MORE, {"tolerance": 1e-7}, "tolerance 1e-07, logging 0, categories 2"),
        (SERIOUS, {}, "tolerance -1, logging 1, categories 0"),
        (MORE, {"debug": True}, "tolerance -1, logging 1, categories 0"),
    ],
)
def test_an_fmu_of_fmi_3_is_set_up_by_its_description_and_options(
    c_fmu, caplog, elements, options, expected
):
    path = c_fmu("counter3", lambda text: text.replace(HEAD, elements + HEAD), options=TELLS)
    assert said(of(path, **options), caplog) == expected


def test_model_exchange_is_integrated_to_the_same_tolerance(plants, monkeypatch):
    """The ball's own description states 1e-8."""
    from orchestrator.core.simunits.fmi import model_exchange_unit

    used = []
    original = model_exchange_unit.MeUnit

    def noted(model, tolerance, *rest):
        used.append(tolerance)
        return original(model, tolerance, *rest)

    monkeypatch.setattr(model_exchange_unit, "MeUnit", noted)
    for options in ({}, {"tolerance": 1e-5}):
        system = of(plants / "BouncingBall.fmu", interface="me", **options)
        with Execution(system, step="1 ms") as run:
            run.step()
    assert used == [1e-8, 1e-5]


def test_fmi_1_logs_for_debugging_and_takes_no_tolerance(c_fmu, caplog, wording):
    path = c_fmu("slave1")
    caplog.set_level(logging.INFO)
    for debug in (False, True):
        caplog.clear()
        with Execution(of(path, debug=debug), step="0.1 s") as run:
            run.step()
        assert ("init: logs for debugging" in caplog.messages) is debug
    with wording.raises(CapabilityError):
        Execution(of(path, tolerance=1e-5), step="0.1 s")


def test_messages_for_debugging_are_shown_at_any_level_of_logging(quiet, caplog):
    """A logger that shows warnings only still shows what a component was asked to log."""
    logging.getLogger("orchestrator.fmu.spoken").setLevel(logging.NOTSET)
    system = System("s").add("spoken", fmu(quiet()))
    for debug in (False, True):
        caplog.clear()
        with Execution(system.with_options("spoken", debug=debug), step="0.1 s") as run:
            run.step()
        assert ("init: ready" in caplog.messages) is debug


def test_an_fmu_without_a_reason_names_the_way_to_one(small_fmu, make_fmu, wording):
    for debug in (False, True):
        system = System("s").add("p", fmu(make_fmu()), u=0.0, n=0, flag=False, discard_at=0.0)
        refused = wording.raises(StepError)
        with (
            Execution(system.with_options("p", debug=debug), step="0.1 s") as run,
            refused as caught,
        ):
            run.step()
        assert ("set its option debug (--debug)" in str(caught.value)) is not debug


def test_pyfmi_is_told_both(quiet, monkeypatch):
    calls = {}

    class Model:
        def __init__(self, _path, **options):
            calls["level"] = options.get("log_level")

        def __getattr__(self, name):
            def call(*values, **options):
                calls[name] = values, options
                return [0.0] if name == "get" else 0

            return call

    monkeypatch.setitem(sys.modules, "pyfmi", SimpleNamespace(load_fmu=Model))
    system = of(quiet(EXPERIMENT, MORE)).with_backend("pyfmi")
    for debug in (False, True):
        with Execution(system.with_options("m", debug=debug), step="0.1 s"):
            pass
        assert calls["setup_experiment"][1]["tolerance"] == 1e-5
        chosen = [] if debug else ["logStatusWarning", "logStatusError"]
        assert calls["set_debug_logging"][0] == (True, chosen)
        assert calls["level"] == (7 if debug else None)


def test_a_block_has_no_such_options(wording):
    for options in ({"tolerance": 1e-5}, {"debug": True}):
        system = System("s").add("b", block("saturation"), wanted=0.0).with_options("b", **options)
        with wording.raises(CapabilityError):
            Execution(system, step="0.1 s")
    with wording.raises(DescriptionError):
        System("s").add("b", block("saturation"), wanted=0.0).with_options("b", debug=1)


@pytest.mark.usefixtures("no_pictures")
def test_an_experiment_says_both(quiet, tmp_path, caplog):
    from orchestrator.core.ssp import write_ssd

    write_ssd(of(quiet(MORE), tolerance=1e-7), tmp_path / "s.ssd")
    for text, expected in {
        "": "tolerance 1e-07, logging 0, categories 2",
        "debug = true": "tolerance 1e-07, logging 1, categories 0",
        "unit.m = { debug = true, tolerance = 1e-4 }": "tolerance 0.0001, logging 1, categories 0",
    }.items():
        head = 'title = "e"\n[defaults]\nstep = "0.1 s"\nstop = "0.2 s"\n'
        (tmp_path / "e.toml").write_text(f'{head}[case.c]\nsystem = "s.ssd"\n{text}\n')
        caplog.clear()
        run_experiment(read_experiment(tmp_path / "e.toml"), tmp_path, tmp_path / "out")
        assert f"init: {expected}" in caplog.messages


def test_both_options_are_kept_in_files(quiet, tmp_path):
    from orchestrator.author import read_system
    from orchestrator.core.ssp import read_ssd, write_ssd

    system = of(quiet(), tolerance=1e-7, debug=True)
    write_ssd(system, tmp_path / "s.ssd")
    assert read_ssd(tmp_path / "s.ssd").components["m"].options == system.components["m"].options
    (tmp_path / "s.toml").write_text(
        f'[system]\nname = "s"\n[component.m]\nsource = "{quiet()}"\n'
        "options = { debug = true, tolerance = 1e-7 }\n"
    )
    found = read_system(tmp_path / "s.toml").components["m"].options
    assert found == system.components["m"].options
