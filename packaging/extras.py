"""What an installation takes, with each extra: packages, MB, time to import and for `--help`.

    python packaging/extras.py DIST [EXTRA ..]

makes an environment with the wheel of DIST for this Python, adds each extra to a copy of it, and
prints the table of docs/reference/install.md. Times are seconds of a processor, the least of some
runs that take turns with `import fmpy`, so that they can be compared on a busy machine, too.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 7


def installed(environment: Path, *requirements: str | Path) -> Path:
    """Install into an environment; return its Python."""
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *requirements], check=True)
    return python


def size(python: Path) -> tuple[int, float]:
    """Return packages but pip, and MB of their files, with the bytecode that pip makes."""
    listed = subprocess.check_output([python, "-m", "pip", "list", "--format=freeze"], text=True)
    names = [line for line in listed.splitlines() if not line.startswith(("pip=", "setuptools="))]
    (folder,) = python.parents[1].glob("lib/python*/site-packages")
    own = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}
    files = [
        file
        for top in folder.iterdir()
        if top.name not in own and not top.name.startswith(("pip-", "setuptools-"))
        for file in ([top] if top.is_file() else top.rglob("*"))
    ]
    return len(names), sum(file.stat().st_blocks for file in files if file.is_file()) * 512 / 1e6


def processor_seconds(python: Path, *words: str) -> float:
    """Return what a program takes of a processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def row(name: str, python: Path) -> str:
    """Return a row of the table."""
    packages, megabytes = size(python)
    words = (["-c", "import fmpy"], ["-c", "import orchestrator"], ["-m", "orchestrator", "--help"])
    turns = [[processor_seconds(python, *each) for each in words] for _ in range(RUNS)]
    peer, own, help_ = (min(times) for times in zip(*turns, strict=True))
    return f"| `{name}` | {packages} | {megabytes:.0f} | {own:.2f} | {help_:.2f} | {peer:.2f} |"


def main() -> None:
    """Print the table."""
    dist = Path(sys.argv[1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    leave_out = {"peers", "docs", "test"}
    known = [each for each in project["optional-dependencies"] if each not in leave_out]
    head = "| installed | packages | MB | `import orchestrator` [s] | `--help` [s] |"
    print(f"{head} `import fmpy` [s] |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        base = Path(folder) / "softdock"
        subprocess.run([sys.executable, "-m", "venv", base], check=True)
        installed(base, "--no-index", "--no-deps", "--find-links", dist, "softdock")
        print(row("softdock", installed(base, "softdock")), flush=True)
        for extra in sys.argv[2:] or known:
            copy = base.with_name(extra)
            subprocess.run(["cp", "--archive", "--link", base, copy], check=True)
            python = installed(copy, f"softdock[{extra}]")
            print(row(f"softdock[{extra}]", python), flush=True)
            shutil.rmtree(copy)


if __name__ == "__main__":
    main()
