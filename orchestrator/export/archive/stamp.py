"""What an FMU was built from: a text in its archive that tells whether it must be built again."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from orchestrator.core.archive import DAMAGE
from orchestrator.export.codegen.compiler import compiler_facts
from orchestrator.export.platforms import Platform

_EXPORT = Path(__file__).parents[1]
RUNTIME = _EXPORT / "runtime"
STAMP_FILE = "extra/softdock/build.json"


def stamp(
    model: str, source: str, settings: dict[str, Any], platforms: Sequence[Platform]
) -> dict[str, str]:
    """Facts about a build; ``key`` hashes everything that decides about the FMU's content."""
    facts = {
        "settings": json.dumps(settings, sort_keys=True),
        "compiler": "; ".join(map(compiler_facts, platforms)),
        "casadi": version("casadi"),
        "rumoca": version("rumoca"),
    }
    digest = hashlib.sha256(f"{_exporter()}\0{source}\0{json.dumps(facts)}".encode())
    return {**facts, "model": model, "key": digest.hexdigest()}


def hash_of(contents: list[tuple[str, bytes]]) -> str:
    """Hash of named contents; the same bytes under other names are something else."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def stored_key(target: Path) -> str | None:
    """Key inside an existing FMU; a damaged one counts as absent and is replaced."""
    try:
        with zipfile.ZipFile(target) as archive:
            return str(json.loads(archive.read(STAMP_FILE))["key"])
    except (KeyError, TypeError, *DAMAGE):
        return None


def runtime_files() -> list[Path]:
    """The C half of every FMU."""
    return sorted(path for path in RUNTIME.iterdir() if path.suffix in {".c", ".h"})


@cache
def _exporter() -> str:
    rooms = ("archive", "blocks", "codegen", "dae", "modelica")
    own = sorted([*_EXPORT.glob("*.py"), *(f for r in rooms for f in (_EXPORT / r).rglob("*.py"))])
    return hash_of(
        [(str(file.relative_to(_EXPORT)), file.read_bytes()) for file in (*own, *runtime_files())]
    )
