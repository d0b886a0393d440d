"""Help texts: a sentence for each command, and its exit codes as a list."""

import re

import pytest

from orchestrator.cli.main import _EXIT_CODES, HOMES

COMMANDS = {
    f"{name} {inner}".strip(): each
    for name, home in HOMES.items()
    for command in [home.load(name)]
    for inner, each in getattr(command, "commands", {"": command}).items()
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_begins_with_one_sentence_that_fits_its_line(name):
    first = COMMANDS[name].help.split("\n\n")[0].strip()
    assert re.fullmatch(r"[A-Z][^\n]*\.", first), first
    assert len(first) <= 100


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_a_text_without_a_full_stop(name):
    for parameter in COMMANDS[name].params:
        text = parameter.help
        assert text, parameter.name
        assert text[0].isupper() or re.match(r"[a-z.]+[.=\[]|0=3|\.ssd", text), text
        assert not text.endswith("."), text


@pytest.mark.parametrize("name", _EXIT_CODES)
def test_exit_codes_are_a_list_in_the_help(name, softdock):
    code, out, _ = softdock(*name.split(), "--help")
    assert code == 0
    listed = dict(re.findall(r"^ +(\d+) +(.*)$", out.split("Exit codes:")[1], re.MULTILINE))
    expected = {str(number): text for number, text in _EXIT_CODES[name].items()}
    assert listed.items() >= expected.items()
    assert {"0", "2", "130"} <= listed.keys()
