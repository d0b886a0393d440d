"""Names of platforms: of folders in FMUs, of wheels, of compilers, and of this machine."""

from __future__ import annotations

import platform

from orchestrator.core.structs import Struct


class Platform(Struct):
    """Operating system and processor.

    name: As FMI 2.0.5 has it: six names of its own for x86, for all others those of FMI 3.0.
    long_name: Platform tuple of FMI 3.0.
    target: Zig's name, with the oldest C library or system that the FMU runs on.
    suffix: Of shared libraries.
    machine: System and processor as Python names them.
    wheel: Platform tag of wheels; empty: no wheels are made.
    """

    name: str
    long_name: str
    target: str
    suffix: str
    machine: tuple[str, str]
    wheel: str = ""

    def folder(self, fmi: str) -> str:
        """Return the folder of the binaries in an archive of a version of FMI."""
        return f"binaries/{self.long_name if fmi.startswith('3') else self.name}"

    @property
    def is_here(self) -> bool:
        """Whether this machine is one."""
        return self.machine == machine()


LINUX = Platform(
    "linux64",
    "x86_64-linux",
    "x86_64-linux-gnu.2.17",
    ".so",
    ("Linux", "x86_64"),
    "manylinux_2_17_x86_64",
)
WINDOWS = Platform(
    "win64", "x86_64-windows", "x86_64-windows-gnu", ".dll", ("Windows", "AMD64"), "win_amd64"
)
#: Platforms that FMUs are built for.
PLATFORMS = (
    LINUX,
    WINDOWS,
    Platform("darwin64", "x86_64-darwin", "x86_64-macos.11.0", ".dylib", ("Darwin", "x86_64")),
    Platform(
        "aarch64-linux",
        "aarch64-linux",
        "aarch64-linux-gnu.2.17",
        ".so",
        ("Linux", "aarch64"),
        "manylinux_2_17_aarch64",
    ),
    Platform(
        "aarch64-darwin", "aarch64-darwin", "aarch64-macos.11.0", ".dylib", ("Darwin", "arm64")
    ),
)
#: Platforms whose FMUs are run here, but not built.
_OTHERS = (
    Platform("linux32", "x86-linux", "x86-linux-gnu.2.17", ".so", ("Linux", "i686")),
    Platform("win32", "x86-windows", "x86-windows-gnu", ".dll", ("Windows", "x86")),
)
#: Names of the platforms whose libraries no 64-bit program can load.
OF_32_BITS = frozenset(name for other in _OTHERS for name in (other.name, other.long_name))


def machine() -> tuple[str, str]:
    """Return system and processor of this machine, as Python names them."""
    return platform.system(), platform.machine()


def here() -> Platform | None:
    """Return the platform of this machine; ``None``: FMI has no name for it."""
    return next((platform for platform in (*PLATFORMS, *_OTHERS) if platform.is_here), None)


def platform_named(name: str) -> Platform:
    """Return the platform of a name in FMI 2.0 or 3.0; KeyError: there is none."""
    by_name = {
        name: platform
        for platform in (*PLATFORMS, *_OTHERS)
        for name in (platform.name, platform.long_name)
    }
    return by_name[name]
