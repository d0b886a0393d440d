"""All that a release has: `make release`, of a commit that has a tag `vVERSION`.

sdist, wheels, their checksums, and a software bill of materials (CycloneDX) of what
`pip install softdock` brings along. The version is that of the tag.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
_TAG = re.compile(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)")
#: Where a checkout says the version, and how the line begins there.
_VERSIONS = {"pyproject.toml": 'version = "', "CITATION.cff": "version: "}


def tagged_version() -> str:
    """Return the version that the commit is tagged as; expect nothing else in the checkout."""
    asked = ["git", "-C", ROOT, "describe", "--tags", "--exact-match", "--dirty"]
    tag = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if (found := _TAG.fullmatch(tag)) is None:
        sys.exit(f"expected a clean checkout of a tag such as v1.2.3; found {tag or 'no tag'}")
    return found[1]


def write_sources(version: str, folder: Path) -> None:
    """Write what is committed, with the version of the tag, and no other file."""
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "-C", ROOT, "archive", "--output", archive, "HEAD"], check=True)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    for name, begin in _VERSIONS.items():
        line = rf"^({re.escape(begin)})[\w.]+"
        old = (folder / name).read_text()
        text, count = re.subn(line, rf"\g<1>{version}", old, flags=re.MULTILINE)
        if count != 1:
            sys.exit(f"{name}: expected one line that begins with {begin}; found {count}")
        (folder / name).write_text(text)


def bill_of_materials(wheel: Path, target: Path) -> None:
    """Write what an environment has in which nothing but a wheel was installed."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = Path(folder) / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel]
        subprocess.run(pip, check=True)
        subprocess.run(
            [sys.executable, "-m", "cyclonedx_py", "environment", python]
            + ["--output-format", "JSON", "--output-file", target],
            check=True,
        )


def main() -> None:
    """Make the files of a release in `dist`."""
    version = tagged_version()
    if DIST.exists() and any(DIST.iterdir()):
        sys.exit(f"{DIST}: expected an empty folder, or none")
    with tempfile.TemporaryDirectory() as temporary:
        sources = Path(temporary) / f"softdock-{version}"
        write_sources(version, sources)
        sdist = [sys.executable, "-m", "build", "--sdist", "--outdir", DIST, sources]
        subprocess.run(sdist, check=True)
        wheels = [sys.executable, Path(__file__).with_name("wheels.py"), "--output", DIST]
        subprocess.run([*wheels, "--source", sources, *sys.argv[1:]], check=True)
    here = f"cp{sys.version_info.major}{sys.version_info.minor}"
    own = [*DIST.glob(f"*-{here}-*x86_64.whl"), *DIST.glob("*-abi3-*x86_64.whl")]
    bill_of_materials(own[0], DIST / f"softdock-{version}.cdx.json")
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
