"""Calls of the hooks of extensions: an error names the extension, and results are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.core.diagnostics import (
    PluginError,
    Problem,
    SoftdockError,
    StepError,
    exits_are_errors,
)
from orchestrator.core.plugins import failure, plugin_errors
from orchestrator.core.simulation import RunStop
from orchestrator.core.structs import Struct
from orchestrator.study.extension import (
    Extension,
    Run,
    Steps,
    foreign_package,
    named,
    of_tables,
    title_of,
)
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings, SystemReader

if TYPE_CHECKING:
    from orchestrator.core.recording import Result
    from orchestrator.study.experiment import Experiment

_LOG = logging.getLogger(__name__)
_Found = TypeVar("_Found")


def table_problems(
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    recorded: Mapping[str, Collection[str]],
) -> Iterator[tuple[tuple[str, ...], list[Problem]]]:
    """Yield the key of each table that an extension reads, and the problems that it finds there."""
    for extension in of_tables(experiment):
        name = extension.name
        key = ("extension", name) if name in experiment.extension else (name,)

        def hook(extension: Extension = extension) -> list[Problem]:
            return list(extension.check(experiment, cases, recorded))

        yield key, before(extension, hook)


def before(extension: Extension, hook: Callable[[], Any]) -> Any:
    """Call a hook before the steps: any error names the extension of another package."""
    title = title_of(extension.name)
    try:
        with plugin_errors(title):
            return hook()
    except PluginError:
        raise
    except SoftdockError as error:
        if not foreign_package(extension.name):
            raise
        raise named(error, title) from error


def behind(
    run: Run,
    extension: Extension,
    hook: Callable[[], Any],
    otherwise: Any = None,
    *,
    ends: tuple[type[Exception], ...] = (SoftdockError,),
) -> Any:
    """Call a hook behind the steps: an error that does not end the run is a problem of it."""
    title = title_of(extension.name)
    try:
        with exits_are_errors():
            return hook()
    except ends as error:
        if isinstance(error, SoftdockError) and foreign_package(extension.name):
            raise named(error, title) from error
        raise
    except Exception as error:  # noqa: BLE001 - what is computed is kept
        run.outcome.problems.append(f"{title}: {failure(error)}")
        return otherwise


class _GuardedHook(Struct):
    """A hook of steps. If it raises or exits, the step fails and the run keeps its results.

    title: Of the extension in messages.
    key: Name of the hook in :class:`Steps`.
    hook: As the extension has put it into :class:`Steps`.
    """

    title: str
    key: str
    hook: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Call the hook."""
        try:
            with exits_are_errors():
                answer = self.hook(*arguments)
                kind, expected = _ANSWERS.get(self.key, (object, ""))
                is_right = answer is None or isinstance(answer, kind)
                if not is_right or (isinstance(answer, int) and answer < 0):
                    raise TypeError(f"{self.key} returned {answer!r}; expected {expected} or None")
                return answer
        except SoftdockError:
            raise
        except Exception as error:
            last = extract_tb(error.__traceback__)[-1]
            raise StepError(
                f"{self.title}: {failure(error)} ({last.filename}, line {last.lineno})"
            ) from error


#: The hooks of :class:`Steps`.
_STEP_HOOKS = ("begin", "end", "watch", "share", "steer", "status")
#: What hooks of steps may return: a kind, in words.
_ANSWERS: Mapping[str, tuple[type, str]] = {
    "end": (RunStop, "a RunStop"),
    "watch": (str, "a sentence"),
    "steer": (int, "a number of steps"),
    "status": (str, "a text"),
}


def _guarded(extension: Extension, steps: Steps, earlier: Steps) -> Steps:
    """Return steps in which the hooks that an extension has changed name it when they fail."""
    title = title_of(extension.name)
    hooks: dict[str, Any] = {
        key: _GuardedHook(title, key, hook)
        for key in _STEP_HOOKS
        if (hook := getattr(steps, key)) is not None and hook is not getattr(earlier, key)
    }
    return replace(steps, **hooks) if hooks else steps


def begun(run: Run, extension: Extension) -> None:
    """Let an extension begin; what it changes of the run must be of the same kind."""
    names = list(run.cases)

    def hook() -> None:
        extension.begin(run)
        _expect_sound(run, names)

    before(extension, hook)


def ended(run: Run, extension: Extension) -> None:
    """Let an extension do what needs all cases."""

    def hook() -> None:
        extension.end(run)
        _expect_texts(run)

    behind(run, extension, hook)


def _expect_sound(run: Run, names: Sequence[str]) -> None:
    """Expect the cases of a run, and settings of their kinds."""
    are_cases = all(isinstance(case, PreparedCase) for case in run.cases.values())
    if not are_cases or list(run.cases) != names:
        expected, found = ", ".join(names), ", ".join(map(repr, run.cases.values()))
        raise TypeError(f"run.cases: expected {expected}, found {found or 'none'}")
    kinds: list[tuple[str, type]] = [("settings", RunSettings), ("reader", SystemReader)]
    if run.realtime is not None:
        from orchestrator.core.realtime import RealTime

        kinds.append(("realtime", RealTime))
    for name, kind in kinds:
        if not isinstance(getattr(run, name), kind):
            raise TypeError(f"run.{name}: expected {kind.__name__}, found {getattr(run, name)!r}")
    _expect_texts(run)


def _expect_texts(run: Run) -> None:
    """Expect sentences where an extension adds some; what is none is taken away."""
    problems = {"": run.outcome.problems}
    by_name = {"notes": run.notes, "remarks": run.remarks, "outcome.problems": problems}
    for name, lists in by_name.items():
        for key, texts in lists.items():
            listed = texts if isinstance(texts, list) else [texts, None]
            right = [text for text in listed if isinstance(text, str)]
            if len(right) < len(listed):
                lists[key] = right
                run.outcome.problems = problems[""]
                raise TypeError(f"run.{name}: expected a list of sentences, found {texts!r}")


def prepared(run: Run, extension: Extension, case: PreparedCase) -> PreparedCase:
    """Return a case as an extension prepares it."""

    def hook() -> PreparedCase:
        changed = _require(PreparedCase, extension.prepare(run, case), "prepare", "a case")
        if changed.name != case.name:
            raise TypeError(f"prepare returned case '{changed.name}'; expected '{case.name}'")
        return changed

    changed_case: PreparedCase = before(extension, hook)
    return changed_case


def finished(run: Run, extension: Extension, case: PreparedCase, result: Result) -> Result:
    """Return the result of a case with what an extension says of it."""

    def hook() -> Result:
        changed = _require(type(result), extension.after(run, case, result), "after", "a result")
        _expect_texts(run)
        return changed

    final_result: Result = behind(run, extension, hook, result, ends=())
    return final_result


def _require(kind: type[_Found], found: object, hook: str, expected: str) -> _Found:
    if not isinstance(found, kind):
        raise TypeError(f"{hook} returned {type(found).__name__}; expected {expected}")
    return found


@contextmanager
def entered(run: Run, extension: Extension, steps: Steps) -> Iterator[Steps]:
    """Enter what an extension has around the steps of a case."""

    def around() -> AbstractContextManager[Steps]:
        manager: type[Any] = AbstractContextManager
        return _require(manager, extension.around(run, steps), "around", "a context manager")

    context = before(extension, around)
    inner = before(extension, context.__enter__)
    try:
        own = before(extension, lambda: _require(Steps, inner, "around", "one that gives steps"))
        yield _guarded(extension, own, steps)
    except BaseException as error:
        failed = type(error), error, error.__traceback__
        problem_count = len(run.outcome.problems)
        behind(run, extension, lambda: context.__exit__(*failed))
        for text in run.outcome.problems[problem_count:]:  # the run says only why it failed
            _LOG.warning("%s", text)
        raise  # also where the extension suppresses the error: there is no result
    else:
        behind(run, extension, lambda: context.__exit__(None, None, None))
