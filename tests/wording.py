"""Sentences that tests expect, in one file for each folder: ``wording.toml``.

A test states what it is about, the class of an error and its fields; the whole sentence is in the
file, below the test's name. After a change of a sentence, ``pytest FOLDER --rewrite-wording``
writes the files again, and their difference is what a reviewer reads.
"""

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NAME = "wording.toml"
HEAD = "# Sentences that these tests expect, written by `pytest FOLDER --rewrite-wording`.\n"
ROOT = Path(__file__).parents[1]
#: Windows names other libraries, errors of the system and paths: sentences are those of Linux.
COMPARED = sys.platform == "linux"


class WordingBook:
    """The files of sentences, read once; written at the end where tests are to rewrite them."""

    def __init__(self, *, rewrites: bool, temporary: Path) -> None:
        self.rewrites = rewrites
        #: What differs between two runs, and what stands in its place.
        self.changing = [
            (re.compile(re.escape(str(temporary)) + r"/[\w.-]+"), "TMP"),
            (re.compile(re.escape(str(temporary))), "TMP"),
            (re.compile(re.escape(str(ROOT))), "ROOT"),
            (re.compile(re.escape(tempfile.gettempdir()) + r"/softdock-[\w.-]+"), "TMP"),
            (re.compile(r"(\b127\.0\.0\.1:)\d+"), r"\1PORT"),
            (re.compile(r"\bsoftdock-test-\d+"), "softdock-test-NUMBER"),
            (re.compile(r"\(rumoca [0-9.]+\)"), "(rumoca VERSION)"),
            (re.compile(r"(\b(?:test_\w+|sample_blocks)\.py[:, ]+(?:line )?)\d+"), r"\1LINE"),
            (re.compile(r"(\.\w+\.)[0-9a-f]{12}\.part\b"), r"\1HASH.part"),
            (re.compile(r"\b0x[0-9a-f]{9,}\b"), "ADDRESS"),
        ]
        self._read: dict[Path, dict[str, dict[str, list[str]]]] = {}
        self._met: dict[Path, dict[str, dict[str, list[str]]]] = {}

    def sentences(self, path: Path, test: str) -> list[str]:
        """Return what a test of a file expects, in order."""
        folder = path.parent
        if folder not in self._read:
            file = folder / NAME
            self._read[folder] = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
        return self._read[folder].get(path.stem, {}).get(test, [])

    def steady(self, text: str) -> str:
        """Return a text without what differs between two runs."""
        for pattern, replacement in self.changing:
            text = pattern.sub(replacement, text)
        return text

    def record(self, path: Path, test: str, sentences: list[str]) -> None:
        """Take the sentences of a test, which ended, for the file."""
        self._met.setdefault(path, {}).setdefault(path.stem, {})[test] = sentences

    def write(self) -> None:
        """Write the files of all tests that ran; other tests keep what they have."""
        for path, modules in self._met.items():
            self.sentences(path, "")
            book = self._read[path.parent]
            tests = modules[path.stem]
            ran = {function_of(test) for test in tests}
            source = path.read_text("utf-8")
            old = {
                test: sentences
                for test, sentences in book.get(path.stem, {}).items()
                if function_of(test) not in ran and f"def {function_of(test)}(" in source
            }
            book[path.stem] = old | {test: said for test, said in tests.items() if said}
            written = "".join(_section(stem, book[stem]) for stem in sorted(book) if book[stem])
            (path.parent / NAME).write_text(HEAD + written, "utf-8")


def function_of(test: str) -> str:
    """Return the name of the function of a test with or without parameters."""
    return test.partition("[")[0]


def _section(stem: str, tests: dict[str, list[str]]) -> str:
    lines = [f"\n[{stem}]"]
    for test in sorted(tests):
        texts = [json.dumps(text, ensure_ascii=False) for text in tests[test]]
        inner = f"[{texts[0]}]" if len(texts) == 1 else "[\n  " + ",\n  ".join(texts) + ",\n]"
        lines.append(f"{json.dumps(test, ensure_ascii=False)} = {inner}")
    return "\n".join(lines) + "\n"


class Wording:
    """What one test says of sentences."""

    def __init__(self, book: WordingBook, node: pytest.Item) -> None:
        self._book = book
        self._path = node.path
        self._test = node.name
        self.met: list[str] = []

    @contextmanager
    def raises(
        self, kind: type[BaseException] | tuple[type[BaseException], ...], **fields: object
    ) -> Iterator[pytest.ExceptionInfo]:
        """Expect an error with the sentence of the file.

        fields: Of one of its diagnostics, such as ``code="SSP203"`` or ``place="a.y"``.
        """
        with pytest.raises(kind) as caught:
            yield caught
        error = caught.value
        for name, value in fields.items():
            of_error = {getattr(diagnostic, name) for diagnostic in error.diagnostics}
            assert value in of_error, f"{name} is one of {of_error}, not {value!r}"
        self.matches(str(error))

    def matches(self, text: str | Iterable[object]) -> None:
        """Expect a sentence, or several, to be those of the file."""
        if not isinstance(text, str):
            text = "\n".join(map(str, text))
        sentence = self._book.steady(text)
        number = len(self.met)
        self.met.append(sentence)
        if self._book.rewrites or not COMPARED:
            return
        expected = self._book.sentences(self._path, self._test)
        assert number < len(expected), (
            f"{NAME} has no sentence {number + 1} of this test: {sentence}"
        )
        assert sentence == expected[number], "reworded? then run pytest with --rewrite-wording"

    def end(self) -> None:
        """Hand the sentences over to the file."""
        if self._book.rewrites:
            self._book.record(self._path, self._test, self.met)
