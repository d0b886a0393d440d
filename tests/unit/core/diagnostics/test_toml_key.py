"""Keys of TOML are written and read."""

import pytest

from orchestrator.core.diagnostics.errors import parts_of, toml_key


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("case", "a"), "case.a"),
        (("connections", "a.y -> b.u"), 'connections."a.y -> b.u"'),
        (("case", 'a "b"\\', 3, "x\ny"), 'case."a \\"b\\"\\\\".3."x\\ny"'),
    ],
)
def test_a_key_is_written_and_read(parts, text):
    assert toml_key(*parts) == text
    assert parts_of(text) == tuple(map(str, parts))


@pytest.mark.parametrize("text", ["", "a b", "figure.x.x, y", "a = 1\nb"])
def test_what_is_no_key_has_no_parts(text):
    assert parts_of(text) == ()
