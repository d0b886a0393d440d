"""``python tests/fuzz``: many damaged files for everything that reads files.

What comes out must be a result or a SoftdockError, within seconds and a bounded memory. Each
process takes numbers; the same number gives the same file, so ``--only NAME --number N`` shows what
was found.
"""

import argparse
import logging
import os
import sys
import time
from collections import Counter
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.one import content_of, try_one
from fuzz.readers import READERS


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _work(names: list[str], numbers: range, pipe: Connection) -> None:
    logging.disable(logging.CRITICAL)
    with TemporaryDirectory(prefix="softdock-fuzz-") as directory:
        for reader in READERS.values():  # what is imported on first use is no part of any file
            path = Path(directory) / f"sound{reader.suffix}"
            path.write_bytes(reader.seed())
            reader.read(path)
        for number in numbers:
            name = names[number // numbers.step % len(names)]
            pipe.send((number, name, None))
            found = try_one(name, number, Path(directory))
            if found:
                pipe.send((number, name, found))
    pipe.send((numbers.stop, "", None))


def _start(names: list[str], numbers: range) -> tuple[Connection, Process]:
    ours, theirs = Pipe(duplex=False)
    process = Process(target=_work, args=(names, numbers, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def search(names: list[str], first: int, count: int, processes: int) -> tuple[int, dict[str, str]]:
    """Read damaged files; returns how many, and an example of each kind of failure."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    done, began = 0, time.monotonic()
    stop = first + count
    started = [_start(names, range(first + i, stop, processes)) for i in range(processes)]
    running = dict(started)
    last = dict.fromkeys(running, (first, ""))
    while running:
        for pipe in wait(list(running)):
            assert isinstance(pipe, Connection)
            try:
                number, name, told = pipe.recv()
            except EOFError:
                process, (number, name) = running.pop(pipe), last.pop(pipe)
                process.join()
                told = None
                if not name and number < stop:
                    sys.exit("a process ended before it read a file")
                if name:  # it died in the middle
                    told = f"the process died: exit code {process.exitcode}"
                    rest, again = _start(names, range(number + processes, stop, processes))
                    running[rest], last[rest] = again, (number, name)
            else:
                last[pipe] = number, name
                done += told is None and name != ""
                if told is None and done % 5_000 == 0 and name:
                    rate = done / (time.monotonic() - began)
                    _say(f"{done} files, {rate:.0f}/s, {len(found)} kinds of failure")
            if told:
                kind = f"{name}: {told.partition(': ')[0]}"
                seen[kind] += 1
                if kind not in found:
                    found[kind] = f"--only {name} --number {number}: {told}"
                    _say(f"{kind}: {found[kind]}")
    return done, {kind: f"{seen[kind]} times, as {text}" for kind, text in found.items()}


def main() -> int:
    """Read the command line and search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--only", action="append", choices=sorted(READERS))
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--number", type=int, help="write this damaged file to standard output")
    options = parser.parse_args()
    names = options.only or list(READERS)
    if options.number is not None:
        sys.stdout.buffer.write(content_of(names[0], options.number))
        return 0
    began = time.monotonic()
    done, found = search(names, options.first, options.inputs, options.processes)
    _say(f"{done} damaged files for {len(names)} readers in {time.monotonic() - began:.0f} s")
    for kind, text in sorted(found.items()):
        _say(f"{kind}: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
