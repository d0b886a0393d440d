"""All that a release has: `make release`, of a commit that has the tag of the version.

sdist, wheels, their checksums, and a software bill of materials (CycloneDX) of what
`pip install softdock` brings along.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def expect_tag(version: str) -> None:
    """Expect that the commit has the tag of the version, and nothing else in the checkout."""
    asked = ["git", "-C", ROOT, "describe", "--tags", "--exact-match", "--dirty"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if found != f"v{version}":
        sys.exit(f"expected a clean checkout of the tag v{version}; found {found or 'no tag'}")


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
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    expect_tag(version)
    if DIST.exists() and any(DIST.iterdir()):
        sys.exit(f"{DIST}: expected an empty folder, or none")
    subprocess.run([sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT], check=True)
    wheels = [sys.executable, Path(__file__).with_name("wheels.py"), "--output", DIST]
    subprocess.run([*wheels, *sys.argv[1:]], check=True)
    here = f"cp{sys.version_info.major}{sys.version_info.minor}"
    own = [*DIST.glob(f"*-{here}-*x86_64.whl"), *DIST.glob("*-abi3-*x86_64.whl")]
    bill_of_materials(own[0], DIST / f"softdock-{version}.cdx.json")
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
