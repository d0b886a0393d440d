"""Examples, recipes of FMUs and the Modelica library that come with Softdock, and copies of them.

A checkout has the folders ``examples``, ``fmus`` and ``modelica`` next to each other, a wheel has
them in ``orchestrator/shared``. A few FMUs are built already (``fmus/prebuilt``), so that first
examples need no compiler. Copies have them as ``fmus/build``, where the systems look for FMUs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from orchestrator.core.diagnostics import LoadError, UnknownNameError, choices_for

#: The folders that belong together: systems name FMUs of the recipes, and recipes name classes of
#: the Modelica library, by relative paths.
FOLDERS = ("examples", "fmus", "modelica")
_PREBUILT = Path("fmus", "prebuilt")
_BUILT = Path("fmus", "build")
_UNWANTED = shutil.ignore_patterns("build", "prebuilt", "results", "__pycache__", "*.py[cod]")
#: Files in which paths of other files stand.
_WITH_PATHS = {".toml", ".ssd", ".py"}
_PATH = re.compile(r"""(?:\.\./)+[\w./-]+""")
_FMU_NAME = re.compile(r"\b(\w+)(?:\.fmi3)?\.fmu\b")
_PYTHON_PATH = re.compile(r'\.parents\[1\] / "fmus"')


def shared_folder() -> Path:
    """Return where the folders are: ``orchestrator/shared`` of a wheel, or a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "shared", package.parent):
        if all((folder / name).is_dir() for name in FOLDERS):
            return folder
    raise LoadError(
        f"{package / 'shared'}: no examples are installed; take them from a checkout of Softdock"
    )


def example_fmu(name: str) -> Path:
    """Return the file of an FMU that comes with Softdock.

    These FMUs of FMI 2.0 have libraries for Linux on x86_64 and aarch64 and for Windows, and their
    C sources. They are the plants of the EPOS example.

    Parameters
    ----------
    name
        ``Chaser`` and ``Target`` (bodies on a line), ``Compliance`` (a metal sheet),
        ``SpringDashpot`` (a contact) or ``PositionAxis`` (a robot).

    Returns
    -------
    Path
        The file; copy it to change it.

    Raises
    ------
    UnknownNameError
        If no FMU of that name comes with Softdock.
    LoadError
        If the examples are not installed.
    """
    folder = shared_folder()
    file = folder / _PREBUILT / f"{name}.fmu"
    if file.is_file():
        return file
    names = sorted(path.stem for path in file.parent.glob("*.fmu"))
    recipe = folder / "fmus" / f"{name}.toml"
    advice = f"; to build it, run `softdock build {recipe}`" if recipe.is_file() else ""
    raise UnknownNameError(
        f"no FMU '{name}' comes with Softdock{choices_for(name, names, 'FMU')}{advice}"
    )


def example_names() -> dict[str, str]:
    """Names of the examples that can be copied, each with the title of its page."""
    pages = sorted(shared_folder().glob("examples/*/README.md"))
    return {
        page.parent.name: page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for page in pages
    }


def copy_examples(folder: Path) -> None:
    """Copy all examples, recipes and the Modelica library into a folder, which is made.

    Raises LoadError: if one of them is there already.
    """
    shared = shared_folder()
    for name in FOLDERS:
        if (folder / name).exists():
            raise LoadError(f"{folder / name}: exists already; name another folder")
    for name in FOLDERS:
        shutil.copytree(shared / name, folder / name, ignore=_UNWANTED)
    shutil.copytree(shared / _PREBUILT, folder / _BUILT, ignore=shutil.ignore_patterns("*.md"))


def copy_example(name: str, folder: Path) -> list[Path]:
    """Copy one example with all that its files name, so that the new folder is complete.

    The recipes and prebuilt FMUs of its systems, the Modelica library, schemas and parts of other
    examples become folders of the copy, and the paths in its files lead to them.

    Parameters
    ----------
    name
        One of :func:`example_names`.
    folder
        The new folder.

    Returns
    -------
    list[Path]
        Recipes in the copy of those FMUs that must be built before all of the example runs.

    Raises
    ------
    UnknownNameError
        If there is no such example.
    LoadError
        If the folder exists.
    """
    shared = shared_folder()
    if name not in (names := example_names()):
        raise UnknownNameError(f"no example '{name}'{choices_for(name, names, 'example')}")
    if folder.exists():
        raise LoadError(f"{folder}: exists already; name another folder")
    root = shared / "examples" / name
    shutil.copytree(root, folder, ignore=_UNWANTED)
    files = [path for path in folder.rglob("*") if path.suffix in _WITH_PATHS]
    for file in files:
        _bring_along(file, root, folder)
    shutil.copytree(shared / "modelica", folder / "modelica", ignore=_UNWANTED)
    return sorted(_bring_fmus(files, folder))


def _bring_along(file: Path, root: Path, folder: Path) -> None:
    """Copy what a file of the copy names outside of the example; let its paths lead there."""
    home = root / file.relative_to(folder).parent
    text = file.read_text(encoding="utf-8")

    def moved(match: re.Match[str]) -> str:
        source = Path(os.path.normpath(home / match[0]))
        if source.is_relative_to(root) or not source.is_relative_to(root.parents[1]):
            return match[0]
        top = root.parent if source.is_relative_to(root.parent) else root.parents[1]
        target = folder / source.relative_to(top)
        if source.is_file() and source.suffix != ".fmu" and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        up = "../" * (len(file.relative_to(folder).parts) - 1)
        return up + target.relative_to(folder).as_posix()

    text = _PYTHON_PATH.sub(' / "fmus"', _PATH.sub(moved, text))
    file.write_text(text, encoding="utf-8", newline="\n")


def _bring_fmus(files: list[Path], folder: Path) -> Iterator[Path]:
    """Copy prebuilt FMUs and recipes that files of an example name; yield those without an FMU."""
    shared = shared_folder()
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    yield from (file for file, text in texts.items() if text.find("\n[fmu]\n") >= 0)
    (folder / _BUILT).mkdir(parents=True)
    for name in {match[1] for text in texts.values() for match in _FMU_NAME.finditer(text)}:
        recipe = shared / "fmus" / f"{name}.toml"
        if not recipe.is_file():
            continue
        copied = shutil.copy2(recipe, folder / "fmus")
        if (prebuilt := shared / _PREBUILT / f"{name}.fmu").is_file():
            shutil.copy2(prebuilt, folder / _BUILT)
        else:
            yield Path(copied)
