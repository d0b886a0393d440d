"""The viewer: the script that MeshCat brings along, with three.js inside, and its licences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from orchestrator.core.diagnostics import LoadError

_SCRIPT = "meshcat/viewer/dist/main.min.js"
#: What a script must bring along to be taken for the viewer.
_SIGN = "MeshCat"


@dataclass(frozen=True, slots=True)
class Viewer:
    """What a page needs of the viewer.

    Parameters
    ----------
    script
        JavaScript that may stand in a page; it defines ``MeshCat`` with ``Viewer`` and ``THREE``.
    version
        Of the package.
    licences
        Texts of the licences of all that is in it.
    """

    script: str
    version: str
    licences: str


def expect_viewer() -> None:
    """Expect that the viewer is installed; reads nothing else.

    Raises
    ------
    LoadError
        If it is not.
    """
    _path(_SCRIPT)


def read_viewer() -> Viewer:
    """Read the viewer without importing its package, which would bring a server along.

    Raises
    ------
    LoadError
        If it is not installed, or is not what is expected.
    """
    path = _path(_SCRIPT)
    script = _text(path)
    if _SIGN not in script:
        raise LoadError(f"{path}: expected the viewer of MeshCat; install softdock[pictures] again")
    folder = path.parent
    texts = [_text(folder / "main.min.js.LICENSE.txt"), _text(folder.parent / "LICENSE")]
    others = json.loads(_text(folder / "main.min.js.THIRD_PARTY_LICENSES.json"))
    texts += [
        f"{one['name']} {one['version']} ({one['license']})\n\n{one['licenseText'] or ''}"
        for one in others
    ]
    # Nothing in a script may end the element that it stands in.
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return Viewer(script, distribution("meshcat").version, "\n\n\n".join(map(str.strip, texts)))


def _path(inside: str) -> Path:
    try:
        path = Path(str(distribution("meshcat").locate_file(inside)))
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise LoadError(
            "animations need the viewer of MeshCat, which is not installed: pip install"
            " 'softdock[pictures]', or run with --no-animation"
        )
    return path


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(
            f"{path}: cannot be read: {error}; install softdock[pictures] again"
        ) from None
