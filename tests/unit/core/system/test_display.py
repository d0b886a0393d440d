from orchestrator.core.system import Component, Source, SourceKind, System


def system(count):
    source = Source(SourceKind.FMU, "/a/long/way/to/" + "x" * 200 + ".fmu")
    made = System("rig", description="A rig.")
    for i in range(count):
        made = made.add(f"c{i}", Component("c", source))
    for i in range(count - 1):
        made = made.connect(f"c{i}.y", f"c{i + 1}.u", delay="16 ms")
    return made


def test_a_system_is_shown_in_a_few_lines():
    inner = System("inner", systems={"deep": system(3)})
    for made in (system(1), system(200), inner, System("empty")):
        lines = repr(made).splitlines()
        assert len(lines) <= 25
        assert max(map(len, lines)) <= 120
        assert lines[0].startswith(f"System '{made.name}': ")


def test_what_is_shown():
    text = repr(System("rig", systems={"arm": system(2)}))
    assert text == "System 'rig': 1 nested system\n  arm: 2 components, 1 connection"
    text = repr(system(2))
    assert text.startswith("System 'rig': 2 components, 1 connection\n  A rig.\n  c0 (xxx")
    assert text.endswith("\n  c0.y -> c1.u (16 ms)")
    assert "and 194 more components" in repr(system(200))
    assert "and 193 more connections" in repr(system(200))
