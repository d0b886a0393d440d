"""The platforms that FMUs are built for, by the names that FMI 2.0 and FMI 3.0 give them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import FmuError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Platform:
    """Operating system and processor.

    Attributes
    ----------
    name
        As FMI 2.0.5 has it: six names of its own for x86, for all others those of FMI 3.0.
    long_name
        Platform tuple of FMI 3.0.
    target
        How Zig calls it, with the oldest C library or system that the FMU runs on.
    suffix
        Of shared libraries.
    machine
        System and processor as Python names them.
    """

    name: str
    long_name: str
    target: str
    suffix: str
    machine: tuple[str, str]

    def folder(self, fmi: str) -> str:
        """Folder of the binaries in an archive of a version of FMI."""
        return f"binaries/{self.name if fmi == '2.0' else self.long_name}"

    @property
    def is_here(self) -> bool:
        """Whether this machine is one."""
        return self.machine == (platform.system(), platform.machine())


PLATFORMS = (
    Platform("linux64", "x86_64-linux", "x86_64-linux-gnu.2.17", ".so", ("Linux", "x86_64")),
    Platform("win64", "x86_64-windows", "x86_64-windows-gnu", ".dll", ("Windows", "AMD64")),
    Platform("darwin64", "x86_64-darwin", "x86_64-macos.11.0", ".dylib", ("Darwin", "x86_64")),
    Platform(
        "aarch64-linux", "aarch64-linux", "aarch64-linux-gnu.2.17", ".so", ("Linux", "aarch64")
    ),
    Platform(
        "aarch64-darwin", "aarch64-darwin", "aarch64-macos.11.0", ".dylib", ("Darwin", "arm64")
    ),
)
_HERE = ("linux64",)  # hosts whose own compiler makes FMUs


def this_platform() -> Platform:
    """Platform of this machine."""
    for each in PLATFORMS:
        if each.is_here and each.name in _HERE:
            return each
    raise FmuError(
        f"FMUs are built on 64-bit Linux on x86; this is {platform.system()} on"
        f" {platform.machine()}, for which the exporter fills no folder"
    )


def platforms_of(names: Iterable[str]) -> tuple[Platform, ...]:
    """Platforms by their names in FMI 2.0 or FMI 3.0, each once; of none: that of this machine."""
    known = {name: each for each in PLATFORMS for name in (each.name, each.long_name)}
    listed = list(names)
    unknown = [name for name in listed if name not in known]
    if unknown:
        raise UnknownNameError(
            f"platform {', '.join(map(repr, unknown))}: expected one of {', '.join(known)}"
        )
    return tuple(dict.fromkeys(known[name] for name in listed)) or (this_platform(),)


def names_of(platforms: Sequence[Platform]) -> list[str]:
    """Names in FMI 2.0."""
    return [each.name for each in platforms]
