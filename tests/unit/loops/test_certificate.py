"""What the rules of other masters do to loops, and what is said where something is missing."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from orchestrator import System, block, fmu, simulate
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.recording import write_csv
from orchestrator.loops import certificate, linear_system
from orchestrator.loops.certificate import certify
from orchestrator.loops.comparison import compare
from orchestrator.loops.rule_map import MASTERS, RuledSystem, master_rules

from .conftest import Counter, Factor, SecondOrder

STEP = 0.004
STIFFNESS = 40.0


def sprung(mass, *, stiffness=STIFFNESS, delay=None, kick=0.0):
    """A mass of 1 Hz whose position comes back as a force at once."""
    return (
        System("sprung")
        .add("mass", block(SecondOrder), **mass(1.0, 0.02, kick=kick))
        .add("spring", block(Factor), k=-stiffness)
        .connect("mass.y", "spring.u", delay=delay)
        .connect("spring.y", "mass.u")
    )


def mode_under(system, name, **changes):
    linear = linear_system(system, step="4 ms", algorithm="jacobi", delay="plain")
    ruled = replace(RuledSystem.of(linear, MASTERS[name]), **changes)
    return ruled.loop_accounts()[0].modes[0]


def test_jacobi_is_what_the_engine_makes_of_it(mass):
    system = sprung(mass)
    linear = linear_system(system, step="4 ms", algorithm="jacobi", delay="plain")
    mode = linear.loop_accounts()[0].modes[0]
    for name in ("fmpy", "libcosim", "ecos", "pyfmi", "simulink"):
        found = mode_under(system, name)
        assert found.sampled == pytest.approx(mode.sampled, rel=1e-10)
        assert found.exact == pytest.approx(mode.exact, rel=1e-10)


def test_outputs_that_are_read_again_belong_to_the_moment_of_the_inputs(mass):
    """The mass is stepped with the spring's force at the begin of the step, and nothing older."""
    given = mass(1.0, 0.02)
    a, b = np.array(given["a"]).reshape(2, 2), np.array(given["b"])
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2] = a, b
    values, vectors = np.linalg.eig(whole * STEP)
    step = (vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)).real
    turned = np.linalg.eigvals(step[:2, :2] - STIFFNESS * np.outer(step[:2, 2], given["c"]))
    root = max(np.log(turned.astype(complex)) / STEP, key=lambda one: one.imag)
    assert mode_under(sprung(mass), "omsimulator").sampled == pytest.approx(root, rel=1e-9)


def test_delays_are_not_known_to_others_and_the_exact_loop_has_them(mass):
    late = mode_under(sprung(mass, delay="16 ms"), "ecos")
    assert late.sampled == pytest.approx(mode_under(sprung(mass), "ecos").sampled, rel=1e-10)
    assert late.exact.real > mode_under(sprung(mass), "ecos").exact.real + 0.05


def test_gains_of_lines_are_applied_by_those_that_do(mass):
    system = sprung(mass)
    gained = system.disconnect("spring.y", "mass.u").connect("spring.y", "mass.u", factor=2.0)
    assert mode_under(gained, "fmpy").sampled == mode_under(system, "fmpy").sampled
    double = mode_under(sprung(mass, stiffness=2.0 * STIFFNESS), "ecos").sampled
    assert mode_under(gained, "ecos").sampled == pytest.approx(double, rel=1e-9)


def test_what_is_in_one_unit_is_exact(mass):
    mode = mode_under(sprung(mass), "ecos", joined=("mass", "spring"))
    assert mode.sampled == pytest.approx(mode.exact, rel=1e-9)


def test_a_certificate_has_delays_modes_margins_steps_and_remedies(mass):
    found = certify(sprung(mass), ["fmpy", "omsimulator"], step="4 ms")
    own, jacobi, again = found.masters
    assert [ring.added_ns / 1e6 for master in found.masters for ring in master.rings] == [
        2.0,
        6.0,
        2.0,
    ]
    (line,) = found.margins
    # Each margin of the delay is the exact one less what is added.
    left = found.margins[line].delay.value
    for master, added in ((own, 0.002), (jacobi, 0.006), (again, 0.002)):
        assert master.margins[line].delay.value == pytest.approx(left - added, abs=2e-5)
    assert jacobi.longest_step_ns < again.longest_step_ns
    assert found.remedies[0].share < 1e-6
    shares = [remedy.share for remedy in found.remedies]
    assert shares == sorted(shares)
    assert found.as_json() == certify(sprung(mass), ["fmpy", "omsimulator"], step="4 ms").as_json()


def test_an_algebraic_loop_is_told_although_our_master_refuses_it(mass):
    system = (
        sprung(mass)
        .add("one", block(Factor), k=0.5)
        .add("two", block(Factor), k=0.5)
        .connect("one.y", "two.u")
        .connect("two.y", "one.u")
    )
    found = certify(system, ["ecos"], step="4 ms")
    assert found.is_whole
    assert any(text.startswith("our master refuses it as it is") for text in found.limits)


def test_a_loop_without_a_solution_is_a_remark_of_who_would_solve_it(mass):
    system = (
        sprung(mass)
        .add("one", block(Factor), k=1.0)
        .add("two", block(Factor), k=1.0)
        .connect("one.y", "two.u")
        .connect("two.y", "one.u")
    )
    found = certify(system, ["omsimulator"], step="4 ms")
    assert any("have no solution" in text for text in found.masters[1].remarks)


def test_an_fmu_of_another_platform_leaves_the_delays(plants, tmp_path):
    other = tmp_path / "Chaser.fmu"
    with zipfile.ZipFile(plants / "Chaser.fmu") as own, zipfile.ZipFile(other, "w") as made:
        for name in own.namelist():
            made.writestr(name.replace("linux64", "win64"), own.read(name))
    body = fmu(plants / "Chaser.fmu")
    system = (
        System("pair")
        .add("body", body, m=20.0)
        .add("contact", fmu(plants / "SpringDashpot.fmu"), latched=True)
        .connect("body.position", "contact.position_a")
        .connect("contact.force_a", "body.force")
    )
    source = replace(body.source, location=str(other))
    parts = {**system.components, "body": replace(system.components["body"], source=source)}
    found = certify(replace(system, components=parts), ["ecos"], step="4 ms")
    assert not found.is_whole
    assert [ring.added_ns / 1e6 for master in found.masters for ring in master.rings] == [2.0, 6.0]
    assert "'body'" in found.limits[-1]
    assert "no binary for this machine" in found.limits[-1]


def test_a_sampled_part_is_told_as_stepped_alone(mass):
    system = (
        System("sampled")
        .add("mass", block(SecondOrder), **mass(1.0, 0.02))
        .add("memory", block(Counter))
        .connect("mass.y", "memory.u")
        .connect("memory.y", "mass.u")
    )
    found = certify(system, ["ecos"], step="4 ms")
    assert found.masters[1].loops[0].modes[0].exact is None
    assert any("'memory' has no model in continuous time" in text for text in found.limits)
    assert any(text.startswith("no longest step and no remedies: ") for text in found.limits)


def test_without_a_loop_there_is_nothing_to_certify(mass):
    system = sprung(mass).disconnect("spring.y", "mass.u").set("mass.u", 0.0)
    found = certify(system, ["ecos"], step="4 ms")
    assert found.limits == ("there is no loop: no signal feeds back",)


def test_what_is_unstable_by_itself_is_so_under_any_master(mass):
    found = certify(sprung(mass, stiffness=-60.0), ["ecos"], step="4 ms")
    for master in found.masters:
        (loop,) = master.loops
        assert loop.modes[0].exact.real > 1.0
        assert loop.modes[0].growth > 1.0


def test_of_many_loops_the_margins_of_some_are_taken(mass, monkeypatch):
    monkeypatch.setattr(certificate, "MOST_MARGINS", 1)
    system = System("many")
    for number in range(2):
        system = (
            system.add(f"mass{number}", block(SecondOrder), **mass(1.0, 0.02))
            .add(f"spring{number}", block(Factor), k=-STIFFNESS)
            .connect(f"mass{number}.y", f"spring{number}.u")
            .connect(f"spring{number}.y", f"mass{number}.u")
        )
    found = certify(system, ["ecos"], step="4 ms")
    assert len(found.margins) == 1
    assert "margins are those of 1 of 2 loops" in found.limits
    assert len(found.masters[1].loops) == 2


def test_a_master_that_nobody_knows_is_refused_with_those_that_are_known(wording):
    with wording.raises(UnknownNameError):
        master_rules(["ecos", "fmipy"])


@pytest.fixture
def recorded(mass, tmp_path):
    """Write a run of the sprung mass as a recording, with names as other tools write them."""

    def make(algorithm, **options):
        result = simulate(
            sprung(mass, kick=0.1), step="4 ms", stop="10 s", algorithm=algorithm, delay="plain"
        )
        path = tmp_path / "recorded.csv"
        write_csv(result, path)
        text = path.read_text()
        for old, new in options.items():
            text = text.replace(f"{old}.", new)
        path.write_text(text)
        return path

    return make


def test_a_recording_is_told_by_whose_rule_it_grows(mass, recorded):
    found = certify(sprung(mass), ["ecos", "omsimulator"], step="4 ms")
    comparison = compare(found, recorded("jacobi", mass="mass::", spring="spring::"))
    assert comparison.predicted[0].master == "ecos"
    assert comparison.predicted[0].share < 1e-5
    assert comparison.verdict().endswith("as under ecos")


def test_a_recording_at_another_step_agrees_with_none(mass, recorded):
    found = certify(sprung(mass), ["ecos"], step="8 ms")
    comparison = compare(found, recorded("jacobi"))
    assert "as under none: the nearest, softdock, would show" in comparison.verdict()


def test_a_recording_of_another_system_is_refused_by_its_columns(mass, recorded, wording):
    found = certify(sprung(mass), ["ecos"], step="4 ms")
    with wording.raises(DescriptionError):
        compare(found, recorded("jacobi", mass="other.", spring="others."))


def test_each_master_gets_one_sentence_and_says_what_it_cannot_run(mass):
    found = certify(sprung(mass), ["fmpy", "omsimulator"], step="4 ms")
    own, fmpy, again = found.verdicts()
    assert own.startswith("softdock: ")
    for sentence, account in zip((own, fmpy, again), found.masters, strict=True):
        mode = account.loops[0].modes[0]
        right = mode.growth * mode.exact.real > 0.0
        assert ("the wrong stability" in sentence) != right
        assert sentence.count(". ") == 0
    assert "its tool cannot run the system as it is" not in own
    blocks = [name for name, one in sprung(mass).components.items() if one.source.kind != "fmu"]
    for sentence in (fmpy, again):
        assert all(name in sentence for name in blocks)
        assert ("cannot run the system" in sentence) == bool(blocks)
    assert found.as_json()["verdicts"] == [own, fmpy, again]
    heading, *lines = repr(found).splitlines()
    assert heading.startswith("Certificate of ")
    assert "step 4 ms, at the start" in heading
    assert lines[:3] == [f"  {sentence}" for sentence in (own, fmpy, again)]
    assert max(map(len, lines)) < 500
    assert "<td>omsimulator</td>" in found._repr_html_()
