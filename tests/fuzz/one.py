"""One damaged file, and what its reader makes of it."""

import contextlib
import resource
import signal
import traceback
import warnings
from pathlib import Path
from random import Random

from fuzz.mutations import damaged
from fuzz.readers import READERS
from orchestrator.core.diagnostics import SoftdockError

#: Seconds of computing that one file may take.
LIMIT = 10.0
#: Bytes that reading one small file may need beyond what the process had.
MEMORY = 1 << 30


class TooLong(BaseException):
    """A reader did not come to an end."""


def content_of(name: str, number: int) -> bytes:
    """Return the damaged file of a number."""
    reader = READERS[name]
    chance = Random(f"{name} {number}")  # noqa: S311 - of a test
    try:
        return reader.damage(reader.seed(), chance)
    except Exception:  # noqa: BLE001 - what cannot be packed again is damaged as bytes
        return damaged(reader.seed(), chance)


def _too_long(_signal: object, _frame: object) -> None:
    raise TooLong


@contextlib.contextmanager
def bounded():
    """Bound time and memory of what is read inside."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    size = pages * resource.getpagesize() + MEMORY
    before = resource.getrlimit(resource.RLIMIT_AS)
    earlier = signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (size, before[1]))
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, earlier)


def try_one(name: str, number: int, folder: Path) -> str:
    """Read a damaged file; returns what was wrong with how it was read, or nothing.

    Parameters
    ----------
    name, number
        Of the reader, and of the damage.
    folder
        Where the file is written; no two files there have one name, since readers keep what they
        read by name and time.
    """
    reader = READERS[name]
    path = folder / f"{number}{reader.suffix}"
    path.write_bytes(content_of(name, number))
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("error")
            reader.read(path)
    except SoftdockError as error:
        return "" if str(error).strip() else f"a {type(error).__name__} without words"
    except (Exception, TooLong) as error:  # noqa: BLE001 - that is what is looked for
        trace = traceback.extract_tb(error.__traceback__)
        ours = [
            f"{Path(f.filename).name}:{f.lineno}"
            for f in trace
            if "orchestrator" in f.filename or "hw_adapters" in f.filename
        ]
        return f"{type(error).__name__} at {ours[-1] if ours else '?'}: {str(error)[:150]!r}"
    finally:
        path.unlink()
    return ""
