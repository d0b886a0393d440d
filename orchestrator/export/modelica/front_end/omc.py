"""Asks OpenModelica's compiler for the flat class, where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.core.diagnostics import ModelicaError

_SECONDS = 600.0


def instantiated(model: str, file: Path, roots: Sequence[Path]) -> str:
    """Let ``omc`` make a class flat.

    Raises ModelicaError: if it is not installed, takes too long or rejects the class.
    """
    compiler = shutil.which("omc")
    if compiler is None:
        raise ModelicaError(
            "--front-end omc needs OpenModelica's compiler, but there is no 'omc' on the PATH;"
            " install it (https://openmodelica.org), or leave --front-end out"
        )
    found = [each for root in roots for each in _libraries(root)]
    inside = any(file.is_relative_to(root) for root in roots)
    files = found if inside else [*found, file]
    with TemporaryDirectory(prefix="softdock-") as folder:
        script, flat = Path(folder) / "flatten.mos", Path(folder) / "flat.mo"
        lines = [f"loadFile({json.dumps(str(each.resolve()))});" for each in files]
        lines += [f'writeFile("{flat}", instantiateModel({model}));', "getErrorString();"]
        script.write_text("\n".join(lines), encoding="utf-8")
        try:
            ended = subprocess.run(  # noqa: S603 - found above
                [compiler, str(script)],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ModelicaError(f"omc has not made {model} flat within {_SECONDS:.0f} s") from error
        text = flat.read_text(encoding="utf-8") if flat.is_file() else ""
        if not text.strip():
            said = (ended.stdout + ended.stderr)[-2000:]
            raise ModelicaError(f"omc rejects {model}: {said}")
        return text


def _libraries(root: Path) -> list[Path]:
    """Packages in a folder, or the folder itself if it is one."""
    if (root / "package.mo").is_file():
        return [root / "package.mo"]
    return [*sorted(root.glob("*/package.mo")), *sorted(root.glob("*.mo"))]
