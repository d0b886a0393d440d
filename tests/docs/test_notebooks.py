"""The notebooks of the examples: all cells run, in one kernel, and what is to be seen is there."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("examples/notebooks/*.ipynb"))
#: What the outputs of each are, one after the other, but for text.
SHOWN = {
    "author_a_system": ["image/svg+xml", "text/html", "image/png", "text/html"],
    "delay_sweep": ["image/svg+xml", "text/html", "text/html"],
    "look_at_a_recording": ["text/html", "text/html", "text/html"],
}
#: A process of its own: sockets of a kernel's client are left to the collector of garbage.
RUN = """
import sys
from pathlib import Path
import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

kernel = KernelManager(transport="ipc")
kernel.start_kernel()
try:
    for path in Path(sys.argv[1]).glob("*.ipynb"):
        book = nbformat.read(path, 4)
        book.cells.insert(0, nbformat.v4.new_code_cell(f"%reset -f\\n%cd {path.parent}"))
        NotebookClient(book, timeout=120, km=kernel).execute()
        nbformat.write(book, path)
finally:
    kernel.shutdown_kernel(now=True)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, plants):
    """Examples and plants as they lie beside each other, and what came of the notebooks."""
    top = tmp_path_factory.mktemp("top")
    folder = top / "examples/notebooks"
    shutil.copytree(ROOT / "examples/notebooks", folder)
    (top / "examples/epos").symlink_to(ROOT / "examples/epos")
    (top / "fmus").mkdir()
    (top / "fmus/build").symlink_to(plants)
    command = [sys.executable, "-c", RUN, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return folder


def test_each_is_tested():
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_it_shows(name, run):
    kinds = []
    for cell in json.loads((run / f"{name}.ipynb").read_text())["cells"]:
        for output in cell.get("outputs", []):
            found = output.get("data", {})
            kinds += [kind for kind in found if kind != "text/plain" and found[kind]]
    assert kinds == SHOWN[name]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    cells = json.loads(path.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
