"""How large the code is, and how much of it one run carries along.

Usage: python benchmarks/house.py [--json FILE]

Needs the project installed and, for the run of EPOS, its FMUs (``softdock build fmus``). Files
called are those of the package in which a function ran, also while it was imported, by the profiler
of a process of its own; processor times are user and system time of whole processes, the least of
five turns taken in alternation, as a ratio to ``import fmpy``.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import networkx as nx
from runner import Benchmark, take_turns

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from import_graph import circles  # noqa: E402

CODE = ROOT / "orchestrator"
#: What is read in a day: the graph, its delays, its masters.
KERNEL = ("core/system", "core/coupling", "core/master")
WINGS = ("study", "author", "export", "loops", "rig", "dcp", "pictures", "checks", "cli")
TURNS = 5
CALLED = """
import json, os, sys
seen = set()
def look(frame, event, _arg):
    seen.add(frame.f_code) if event == "call" else None
before = set(sys.modules)
sys.setprofile(look)
try:
    {body}
except SystemExit:
    pass
sys.setprofile(None)
functions = [c for c in seen if c.co_flags & 1]  # not the bodies of modules and classes
ours = {{c.co_filename for c in functions if c.co_filename.startswith({root!r})}}
modules = [name for name in sys.modules if name.split(".")[0] == "orchestrator"]
print(json.dumps([len(ours), len(modules)]), file=sys.stderr)
"""
COMMAND = "import sys; sys.argv = {argv!r}; from orchestrator.__main__ import main; main()"
SIMULATE = (
    "from orchestrator import read_system, simulate;"
    " simulate(read_system({path!r}), stop='10 ms', step='1 ms')"
)
SSD = "examples/epos/ideal.ssd"
EPOS = "examples/epos"


def lines_of(room: str) -> tuple[int, int]:
    """Lines and modules of Python of a room."""
    files = list((CODE / room).rglob("*.py"))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files), len(files)


def imports() -> Iterator[tuple[str, str]]:
    """The part of the house that each file is in, and those that it imports, at any place."""
    for path in CODE.rglob("*.py"):
        part = path.relative_to(CODE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in dict.fromkeys(names):
                top, _, rest = name.partition(".")
                if top == "orchestrator" and rest:
                    yield part, rest.split(".")[0]


def names_of_classes() -> Counter[str]:
    """In how many files a class of a name stands."""
    found: Counter[str] = Counter()
    for path in CODE.rglob("*.py"):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found.update({node.name for node in tree if isinstance(node, ast.ClassDef)})
    return found


def kinds_of_values() -> dict[str, int]:
    """How many classes are values of each kind, by the names of their bases."""
    classes: nx.DiGraph = nx.DiGraph()
    decorated = 0
    for path in CODE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.add_edges_from((ast.unparse(base), node.name) for base in node.bases)
                names = (ast.unparse(d).partition("(")[0] for d in node.decorator_list)
                decorated += any(name.rpartition(".")[2] == "dataclass" for name in names)
    roots = {
        "structs": "Struct",
        "mutable structs": "MutableStruct",
        "named tuples": "NamedTuple",
        "tables of files (pydantic)": "BaseModel",
    }
    counts = {kind: len(nx.descendants(classes, root)) for kind, root in roots.items()}
    return {**counts, "dataclasses": decorated}


def calls_by_string() -> int:
    """Functions of the package that are looked up by a module and a name in a text."""
    texts = (path.read_text(encoding="utf-8") for path in CODE.rglob("*.py"))
    return sum(text.count("of_wing(") + text.count("getattr(import_module(") for text in texts)


def called(body: str) -> tuple[int, int]:
    """Files of the package that a piece of Python calls, and modules of it that are imported."""
    code = CALLED.format(body=body, root=str(CODE))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    try:
        files, modules = json.loads(done.stderr.splitlines()[-1])
    except (IndexError, ValueError):
        sys.exit(f"{body}\n{done.stdout}{done.stderr}")
    return files, modules


def processor_time(argv: list[str]) -> float:
    """User and system time of a whole process, its children included, in s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the first turn makes it
    subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratios(commands: dict[str, list[str]], turns: int) -> dict[str, float]:
    """Processor times of commands against the first of them."""
    ways = {name: partial(processor_time, argv) for name, argv in commands.items()}
    least = {name: min(taken) for name, taken in take_turns(ways, turns).items()}
    floor = next(iter(least.values()))
    return {name: round(taken / floor, 2) for name, taken in least.items()}


def measured(output: Path, turns: int) -> dict[str, dict[str, object]]:
    """All figures, by what they are of."""
    lines, modules = lines_of("")
    edges = Counter(imports())
    size: dict[str, object] = {
        "Python in orchestrator": f"{lines} lines, {modules} modules",
        "core": "{} lines, {} modules".format(*lines_of("core")),
        "kernel (system, coupling, master)": sum(lines_of(room)[0] for room in KERNEL),
        "imports from core to wings": sum(edges["core", wing] for wing in WINGS),
        "imports from study to rig, loops, pictures": sum(
            edges["study", wing] for wing in ("rig", "loops", "pictures")
        ),
        "names of classes in two files or more": sum(n > 1 for n in names_of_classes().values()),
    }
    size |= {
        "circles of imports, also within functions": len(circles(annotations=False)),
        "files in the circles that annotations make": [
            len(group) for group in circles(annotations=True)
        ],
        "calls by string (of lazy public names)": calls_by_string(),
    }
    size |= kinds_of_values()
    size |= {f"wing {wing}": "{} lines, {} modules".format(*lines_of(wing)) for wing in WINGS}
    run = ["softdock", "run", EPOS, "--case", "ideal", "--output", str(output / "epos")]
    one = ["softdock", "run", SSD, "--stop", "10 ms", "--output", str(output / "one")]
    carried: dict[str, object] = {
        "run examples/epos --case ideal": "{} files called, {} modules".format(
            *called(COMMAND.format(argv=run))
        ),
        "read_system and simulate": "{} files called, {} modules".format(
            *called(SIMULATE.format(path=SSD))
        ),
    }
    softdock = [sys.executable, "-m", "orchestrator"]
    times: dict[str, object] = dict(
        ratios(
            {
                "import fmpy": [sys.executable, "-c", "import fmpy"],
                "run of one .ssd": [*softdock, *one[1:]],
                "run examples/epos --case ideal": [*softdock, *run[1:]],
            },
            turns,
        )
    )
    return {"size": size, "one run": carried, "processor time / import fmpy": times}


def main() -> None:
    """Measure, and print a table."""
    benchmark = Benchmark(__doc__)
    turns = 1 if benchmark.options().quick else TURNS
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), turns)
    for title, figures in found.items():
        benchmark.table("", [title, ""], figures.items())
    benchmark.finish(**found)


if __name__ == "__main__":
    main()
