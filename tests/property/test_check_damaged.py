"""Damaged files are reported, never raised."""

import pytest
from diagnostic_cases.files import FILES, copied, ssd
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestrator.checks import check_target

TOML = """[system]
name = "s"

[component.a]
source = "block:gain"
values = { k = 2.0 }

[connections]
"a.y -> a.u" = { delay = "5 ms" }
"""
WORDS = [
    b"nan",
    b"-1",
    b"1e999",
    b"../",
    b"\0",
    b"9" * 30,
    b"&#0;",
    b'""',
    b"[[",
    b"\xff\xfe",
    b".",
]
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(WORDS) | st.binary(max_size=8)),
    min_size=1,
    max_size=5,
)


def changed(content, changes):
    """Cut something out and put something in, at some places."""
    for place, length, word in changes:
        at = int(place * len(content))
        content = content[:at] + word + content[at + length :]
    return content


@pytest.fixture
def folder(probe, tmp_path):
    copied(probe, tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "text"), [("s.ssd", ssd()), ("system.toml", TOML)])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
@example(changes=[(0.0, 10_000, b"")])
def test_a_damaged_system_is_reported(name, text, changes, folder):
    file = folder / name
    file.write_bytes(changed(text.encode(), changes))
    report = check_target(file)
    assert report.exit_code() in {0, 1, 2}
    assert report.as_json()["target"] == str(file)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
def test_a_damaged_experiment_is_reported(changes, folder):
    file = FILES["EXP102"].bad(folder, folder / "probe.fmu")
    file.write_bytes(changed(file.read_bytes(), changes))
    assert check_target(file).exit_code() in {0, 1, 2}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
def test_a_damaged_fmu_is_reported(changes, probe, folder):
    file = folder / "damaged.fmu"
    file.write_bytes(changed(probe.read_bytes(), changes))
    assert check_target(file).exit_code() in {0, 1}


def test_a_system_whose_name_has_a_dot_is_checked(folder):
    file = folder / "dotted.ssd"
    own = '<ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector>'
    own = f"<ssd:Connectors>{own}</ssd:Connectors>"
    file.write_text(ssd(inside=own).replace('<ssd:System name="s">', '<ssd:System name="a.b">'))
    assert [finding.code for finding in check_target(file).findings if finding.place == "u"] == [
        "CON117"
    ]
