"""Sentences that tests expect are those of the files, and the files have no other."""

import tomllib
from pathlib import Path

import pytest
from wording import HEAD, NAME, Wording, WordingBook, function_of

from orchestrator import DescriptionError
from orchestrator.core.diagnostics import Diagnostic, Severity

TESTS = Path(__file__).parents[2]
BOOKS = sorted(TESTS.rglob(NAME))


class Node:
    """Stands in for a test of pytest: its file and its name."""

    def __init__(self, path, name):
        self.path = path
        self.name = name


def failing(message="k: expected > 0, found 0", **fields):
    raise DescriptionError(Diagnostic("VAL103", Severity.ERROR, message, **fields))


@pytest.fixture
def book(tmp_path):
    """A file with two tests, of which one has a sentence, and a book that reads it."""
    (tmp_path / "test_a.py").write_text("def test_k(k): ...\ndef test_m(): ...\n")
    (tmp_path / NAME).write_text(
        HEAD + '\n[test_a]\n"test_gone" = ["gone"]\n"test_k[0]" = ["k: expected > 0, found 0"]\n'
        '"test_m" = ["m"]\n'
    )
    return tmp_path / "test_a.py", tmp_path


def expecting(book, name, *, rewrites=False):
    path, folder = book
    return Wording(WordingBook(rewrites=rewrites, temporary=folder), Node(path, name))


def test_the_sentence_of_the_file_is_expected(book):
    with expecting(book, "test_k[0]").raises(DescriptionError, code="VAL103") as caught:
        failing()
    assert caught.value.diagnostics[0].code == "VAL103"


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("k: expected > 0, found 1", {}),
        ("k: expected > 0, found 0", {"code": "VAL104"}),
        ("k: expected > 0, found 0", {"place": "a.k"}),
    ],
)
def test_another_sentence_or_field_fails(book, message, fields):
    with (
        pytest.raises(AssertionError),
        expecting(book, "test_k[0]").raises(DescriptionError, **fields),
    ):
        failing(message)


def test_a_sentence_that_the_file_lacks_fails(book):
    with pytest.raises(AssertionError, match="has no sentence 1"):
        expecting(book, "test_k[1]").matches("k")


def test_an_error_of_another_class_passes_through(book):
    with pytest.raises(KeyError), expecting(book, "test_k[0]").raises(DescriptionError):
        raise KeyError


def test_rewriting_keeps_other_tests_and_drops_those_that_are_gone(book):
    test = expecting(book, "test_k[1]", rewrites=True)
    test.matches([f"{book[1]}/a.toml: k", f"{book[0].name}:12: m"])
    test.end()
    test._book.write()
    assert tomllib.loads((book[1] / NAME).read_text()) == {
        "test_a": {"test_k[1]": ["TMP: k\ntest_a.py:LINE: m"], "test_m": ["m"]}
    }


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.parent.name)
def test_every_sentence_belongs_to_a_test(path):
    for stem, tests in tomllib.loads(path.read_text("utf-8")).items():
        source = (path.parent / f"{stem}.py").read_text("utf-8")
        gone = [test for test in tests if f"def {function_of(test)}(" not in source]
        assert not gone, f"{stem}.py has no such tests; run pytest with --rewrite-wording"
