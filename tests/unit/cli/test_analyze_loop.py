import json

import pytest


@pytest.fixture
def target(plants):
    return str(plants.parent.parent / "examples" / "epos")


CASE = ("--case", "capture_b60_axis", "--step", "8 ms")


def test_the_axis_is_predicted_as_it_is_measured(softdock, target):
    """docs/explanation/delay.md, and what runs of 60 s show (tests/reproduction/epos)."""
    code, out, _ = softdock(
        "analyze", "loop", target, *CASE, "--break", "axis.position_command", "--json"
    )
    content = json.loads(out)
    assert code == 0
    (loop,) = content["loops"]
    mode = loop["modes"][0]
    assert mode["exact_growth_1_s"] == pytest.approx(0.0116797, abs=1e-6)
    assert mode["growth_1_s"] == pytest.approx(0.0135679, abs=1e-6)
    assert content["open_loop"]["stable"] is False
    assert content["open_loop"]["delay_margin_ms"] == pytest.approx(-6.967, abs=1e-3)
    (warning,) = content["warnings"]
    assert "grows at 0.0135679 1/s instead of 0.0116797 1/s" in warning


def test_the_tables_name_loop_modes_and_margins(softdock, target):
    code, out, err = softdock("analyze", "loop", target, *CASE, "--break", "axis.position_command")
    assert code == 0
    assert "loop of chaser, sheet, damper, axis" in out
    assert "closed it is unstable" in out
    assert "the step distorts the mode at 0.2913 Hz" in out + err


@pytest.mark.slow
def test_sweeps_and_pictures(softdock, target, tmp_path):
    code, out, _ = softdock(
        *("analyze", "loop", target, *CASE, "--break", "axis.position_command"),
        *("--sweep", "delay=8 ms:16 ms:3", "--sweep", "gain=0.5:1:2"),
        *("--output", str(tmp_path), "--json"),
    )
    content = json.loads(out)
    assert code == 0
    growth = content["sweep"]["growth_1_s"]
    assert [len(row) for row in growth] == [3, 3]
    assert growth[1][0] < growth[1][2]  # later, so less stable
    drawn = {"poles", "bode", "nyquist", "delay-gain-map"}
    assert {path.stem for path in tmp_path.iterdir()} == {*drawn, "loop"}
    page = (tmp_path / "loop.html").read_text(encoding="utf-8")
    assert str(tmp_path / "loop.html") == content["files"][0]
    assert page.count("<img") == len(drawn)
    assert "Margins in continuous time, cut at chaser.position -&gt; axis.position_command" in page
    assert "Closed, the loop is unstable" in page
    assert "grows at 0.0135679 1/s instead of 0.0116797 1/s</li>" in page
    assert 'href="./bode.svg"' in page


def test_any_parameter_is_swept(softdock, target, tmp_path):
    """The axis of 15 Hz grows and that of 40 Hz dies down, which steps of 8 ms do not show."""
    code, out, _ = softdock(
        *("analyze", "loop", target, *CASE, "--sweep", "axis.bandwidth=15:40:2"),
        *("--sweep", "step=1 ms:8 ms:2", "--output", str(tmp_path), "--json"),
    )
    content = json.loads(out)
    assert code == 0
    assert content["sweep"]["kinds"] == ["axis.bandwidth", "step"]
    exact, growth = content["sweep"]["exact_growth_1_s"], content["sweep"]["growth_1_s"]
    assert exact[1] == pytest.approx([0.0116797, -0.00389], abs=5e-6)
    assert growth[1] == pytest.approx([0.0135679, 0.0088469], abs=1e-5)
    assert growth[0][1] < 0.0
    assert "axis.bandwidth-step-map" in {path.stem for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ("--sweep", "speed=1:2:3"),
            "expected KIND=FROM:TO:COUNT with delay, gain, step or a component.parameter",
        ),
        (("--sweep", "delay=1 ms:2 ms:3"), "a delay is that of a connection: name it by --break"),
        (("--sweep", "axis.speed=1:2:3"), "axis"),
        (("--sweep", "step=1 ms:x:3"), "'step=1 ms:x:3'"),
        (("--sweep", "step=1 ms:2 ms:1"), "expected 2 to 10000 values, found 1"),
        (("--case", "capture"), "no case 'capture'"),
        (("--break", "axis.speed"), "has no connection 'axis.speed'"),
    ],
)
def test_bad_input_is_one_clear_error(softdock, target, options, text):
    code, out, err = softdock("analyze", "loop", target, *options)
    assert code != 0
    assert text in " ".join((out + err).split())


@pytest.mark.slow
def test_the_start_of_the_case_counts(softdock, example):
    """A case that begins later is linearised there, and not before it."""
    file = example / "experiment.toml"
    text = file.read_text().replace(
        "[case.capture_b60_axis]\n", '[case.capture_b60_axis]\nstart = "1 s"\n'
    )
    file.write_text(text)
    code, out, err = softdock("analyze", "loop", file, "--case", "capture_b60_axis", "--at", "0 s")
    assert code != 0
    assert "cannot advance to 0 s: expected a time not before 1 s" in " ".join((out + err).split())
    code, out, _ = softdock("analyze", "loop", file, "--case", "capture_b60_axis")
    assert code == 0
    assert "at the start" in out
