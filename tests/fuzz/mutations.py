"""Damage: bytes, texts, plain data and archives, changed at random but not beyond recognition."""

import io
import json
import re
import warnings
import zipfile
from random import Random

_TOKEN = re.compile(rb'[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"<>\n]*"|[A-Za-z_]\w*')
DEEP = 3000
WORDS = [
    *(b"", b"0", b"-0", b"-1", b"3", b"2147483648", b"9223372036854775808", b"35184372088832"),
    *(b"1e300", b"1e20", b"-1e309", b"nan", b"inf", b"true", b"null", b"1_0", b"0x10", b"'"),
    *(b"9" * 400, b"9" * 5000, b"x" * 3000, b"[" * DEEP, b'{"a":' * DEEP, b"(" * DEEP),
    *(
        b"../",
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\x1b[31m",
        b"\r\n",
        b"&#0;",
        b'""',
        b"=",
        b",",
    ),
    *("\u202e".encode(), "\U0001f680".encode(), b".", b"[]", b"{}", b"%s", b"{0}", b"1 parsec"),
]
VALUES = [
    *(None, True, False, 0, -1, 3, 2**31, 2**45, 2**63, 10**400, 1e300, 1e20, float("nan")),
    *(float("inf"), "", "x", "\x1b[31m", "\ud800", "9" * 400, "../x", [], {}, [[]], [1], {"a": 1}),
]


def damaged(content: bytes, chance: Random) -> bytes:
    """Change bytes, words or lines at one to three places."""
    for _ in range(chance.randint(1, 3)):
        content = chance.choice(_WAYS)(content, chance)
    return content


def _word(content: bytes, chance: Random) -> bytes:
    found = list(_TOKEN.finditer(content))
    if not found:
        return chance.choice(WORDS)
    old = chance.choice(found)
    others = (chance.choice(WORDS), b'"%s"' % chance.choice(WORDS), chance.choice(found)[0])
    return content[: old.start()] + chance.choice(others) + content[old.end() :]


def _byte(content: bytes, chance: Random) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(chance.choice((1, 1, 4, 16))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(content: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    length = chance.choice((1, 8, 64, len(content)))
    return content[:at] + chance.choice((b"", chance.choice(WORDS))) + content[at + length :]


def _line(content: bytes, chance: Random) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at : at + 1] = chance.choice(([], [lines[at]] * 2, [lines[at], chance.choice(lines)]))
    return b"\n".join(lines)


_WAYS = (_word, _word, _word, _byte, _cut, _line)


def changed_data(data: object, chance: Random) -> object:
    """Replace, drop or double a node of plain data."""
    if isinstance(data, dict) and data and chance.random() < 0.85:
        key = chance.choice(list(data))
        way = chance.random()
        if way < 0.1:
            return {name: value for name, value in data.items() if name != key}
        if way < 0.15:
            return {**data, chance.choice(("", "x", "lines")): chance.choice(VALUES)}
        return {**data, key: changed_data(data[key], chance)}
    if isinstance(data, list) and data and chance.random() < 0.85:
        at = chance.randrange(len(data))
        return [*data[:at], changed_data(data[at], chance), *data[at + 1 :]]
    return chance.choice(VALUES)


def damaged_json(content: bytes, chance: Random) -> bytes:
    """Change a value of a JSON text, or the text itself."""
    if chance.random() < 0.3:
        return damaged(content, chance)
    return json.dumps(changed_data(json.loads(content), chance)).encode()


def damaged_zip(content: bytes, chance: Random) -> bytes:
    """Change an entry of an archive, its name, or the archive's own bytes."""
    if chance.random() < 0.2:
        return _byte(content, chance) if chance.random() < 0.5 else _cut(content, chance)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    at = chance.randrange(len(entries))
    name, inside = entries[at]
    way = chance.random()
    if way < 0.05:
        name = chance.choice(("", "/", ".", "..", "a/../b", "x\x1b[31m", "c:", "x" * 300, "\u202e"))
    elif way < 0.1:
        entries.append(chance.choice(entries))
    elif way < 0.5 and name.endswith(".json"):
        inside = damaged_json(inside, chance)
    else:
        inside = damaged(inside, chance)
    entries[at] = name, inside
    return zipped(entries)


def zipped(entries: list[tuple[str, bytes]]) -> bytes:
    """Pack entries."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
        warnings.simplefilter("ignore")  # a name twice
        for name, inside in entries:
            archive.writestr(zipfile.ZipInfo(name), inside)
    return target.getvalue()
