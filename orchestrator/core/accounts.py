"""Who may command: accounts of this machine, and sockets whose names only their owner can take.

A run and its rig obey the account that started them, and root. Both ends of a socket ask the kernel
who the other one is. A socket lies in a folder that nobody else can enter, so no other account can
take its name first; abstract names and open folders do not have that.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import math
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DeviceError

_LOG = logging.getLogger(__name__)
#: Of SO_PEERCRED: process, user, group.
_CREDENTIALS = struct.Struct("3i")
#: Names further accounts, by commas, whose programs may be devices of runs of this one.
DEVICE_ACCOUNTS = "SOFTDOCK_DEVICE_ACCOUNTS"


def is_trusted(user: int) -> bool:
    """Whether an account may command runs of this one: itself, and root."""
    return user in {0, operating_system.user()}


def may_be_device(user: int) -> bool:
    """Whether programs of an account may be devices of runs of this one.

    Raises DeviceError: if :data:`DEVICE_ACCOUNTS` names an account that there is not.
    """
    return is_trusted(user) or user in set(_device_accounts())


def _device_accounts() -> Iterator[int]:
    for name in filter(None, map(str.strip, os.environ.get(DEVICE_ACCOUNTS, "").split(","))):
        if name.isdecimal():
            yield int(name)
            continue
        try:
            yield operating_system.account_number(name)
        except KeyError:
            raise DeviceError(
                f"{DEVICE_ACCOUNTS}: no account '{name}' on this machine; expected names or"
                " numbers of accounts, separated by commas"
            ) from None


def account_name(user: int) -> str:
    """Return how an account is called in messages."""
    try:
        return f"'{operating_system.account(user)[0]}' (uid {user})"
    except KeyError:
        return f"uid {user}"


def peer_of(channel: socket.socket) -> tuple[int, int]:
    """Return process and account at the other end of a Unix socket, as the kernel knows them."""
    data = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(data)
    return process, user


# --- Names ---------------------------------------------------------------------------------------


def own_folder() -> Path:
    """Return the folder of this account's sockets, which no other account can enter; it is made.

    Raises DeviceError: if there is none.
    """
    reasons = []
    for path in _folders():
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != operating_system.user():
                reasons.append(f"{path} belongs to {account_name(status.st_uid)}")
                continue
            if status.st_mode & 0o077:
                path.chmod(0o700)
        except OSError as error:
            reasons.append(f"{path}: {error.strerror or error}")
            continue
        return path
    raise DeviceError(
        "no folder for sockets that other accounts cannot enter:"
        f" {'; '.join(reasons)}; expected one of them to be yours alone"
    )


def _folders() -> Iterator[Path]:
    """Return where sockets may lie: the same for all programs of an account, so not in TMPDIR."""
    user = operating_system.user()
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if state.is_absolute():
        yield state / "softdock"
    try:
        home = Path(operating_system.account(user)[1])
        if home.is_dir():
            yield home / ".local" / "state" / "softdock"
    except KeyError:  # of a container
        pass
    yield Path(f"/run/user/{user}/softdock")
    yield Path(f"/tmp/softdock-{user}")  # noqa: S108 - it is looked at whose it is


def _file(name: str) -> str:
    """Return the file of a name: a home folder may be on several machines, and outlives a boot."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    return f"{name}@{boot}"


def page_name(host: str, port: int) -> str:
    """Return the name of the socket by which commands of an account reach the page of its run."""
    return f"page-{host}-{port}"


#: Whether sockets may have names that belong to an account.
HAS_NAMES = hasattr(socket, "AF_UNIX")


class NameTakenError(Exception):
    """Another process of this account has a name."""


class NamedSocket(socket.socket):
    """A listening Unix socket; its name is free again when this process closes it, or ends.

    name: Of letters, digits, ``.``, ``_``, ``-``.
    kind: Such as ``SOCK_STREAM``.
    Raises NameTakenError: if another process of this account has the name.
    Raises DeviceError: if there is no folder for it.
    """

    def __init__(self, name: str, kind: socket.SocketKind) -> None:
        folder, file = own_folder(), _file(name)
        self._path, self._held = folder / file, folder / f"{file}.lock"
        try:
            self._lock = _locked(self._held)
        except BlockingIOError:
            raise NameTakenError(name) from None
        super().__init__(socket.AF_UNIX, kind)
        try:
            self._path.unlink(missing_ok=True)  # of a process that was killed
            with _within(folder) as address:
                self.bind(f"{address}/{file}")
            self.listen(128)
        except OSError as error:
            self._release()
            raise DeviceError(f"{self._path}: {error.strerror or error}") from None

    def _release(self) -> None:
        super().close()
        self._held.unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1

    def close(self) -> None:
        """Close it, and free its name."""
        if self._lock >= 0:
            self._path.unlink(missing_ok=True)
            self._release()


def _locked(path: Path) -> int:
    """Open and lock a file; BlockingIOError: another process has locked it."""
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            operating_system.lock(file)
            if os.path.samestat(os.fstat(file), path.lstat()):
                return file
        except FileNotFoundError:  # whoever had it has removed it since it was opened
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)


@contextmanager
def _within(folder: Path) -> Iterator[str]:
    """Give a short path of a folder: addresses of Unix sockets have 107 bytes at most."""
    file = os.open(folder, os.O_DIRECTORY | os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def connect_to_name(name: str, kind: socket.SocketKind, seconds: float) -> socket.socket:
    """Connect to a :class:`NamedSocket` of this account.

    seconds: In which it answers.
    Raises OSError: if nobody has the name, or this system has no such sockets.
    Raises DeviceError: if there is no folder, or another account is at the other end.
    """
    if not HAS_NAMES:
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    folder = own_folder()
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.settimeout(seconds)
    try:
        with _within(folder) as address:
            connection.connect(f"{address}/{_file(name)}")
        user = peer_of(connection)[1]
        if not is_trusted(user):
            raise DeviceError(
                f"'{name}' is held by {account_name(user)}; expected a program of"
                f" {account_name(operating_system.user())}"
            )
    except BaseException:
        connection.close()
        raise
    return connection


# --- Ports of this machine -----------------------------------------------------------------------

#: States of TCP that say whose a socket is: established, listening. Others are nobody's any more.
_HELD = {"01", "0A"}


def is_loopback(host: str) -> bool:
    """Whether an address is only of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def owners_of_port(kind: socket.SocketKind, host: str, port: int) -> set[int]:
    """Return the accounts that have an IPv4 port of this machine; none: nobody has it.

    A socket that is bound to this address comes before one that is bound to all.
    """
    table = "tcp" if kind is socket.SOCK_STREAM else "udp"
    address = socket.inet_aton(socket.gethostbyname(host))[::-1].hex().upper()
    addresses = {f"{address}:{port:04X}", f"0000000000000000FFFF0000{address}:{port:04X}"}
    every = {f"{0:08X}:{port:04X}", f"{0:032X}:{port:04X}"}
    owners: set[int] = set()
    others: set[int] = set()
    for name in (table, f"{table}6"):
        try:
            lines = Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:  # a kernel without IPv6
            continue
        for line in lines:
            _, local, _, state, _, _, _, user, *_ = line.split()
            if table == "udp" or state in _HELD:
                owners |= {int(user)} if local in addresses else set()
                others |= {int(user)} if local in every else set()
    return owners or others


def foreign_owner(kind: socket.SocketKind, host: str, port: int) -> str:
    """Say whose a port of this machine is, if its program may be no device of ours.

    Empty: it may be one, or the port is of another machine, whose accounts nobody knows here.
    """
    if not is_loopback(host):
        return ""
    users = owners_of_port(kind, host, port)
    if not users:
        return "nobody any more"
    return next((account_name(user) for user in sorted(users) if not may_be_device(user)), "")


Address = tuple[str, int]
#: s of silence, after which another program may have taken the port of a peer.
_SILENCE = 1.0
_MOST_PEERS = 64


class Peers:
    """Those who may be heard on a socket: programs of this machine by their account, and others.

    kind: Of the socket.
    what: It is, for what is logged.
    """

    def __init__(self, kind: socket.SocketKind, description: str) -> None:
        self._kind, self._what = kind, description
        self._heard: dict[Address, float] = {}
        self._told: set[str] = set()

    def may_come(self, address: Address) -> bool:
        """Whether what comes from an address is heard; else who it is of is logged once."""
        now = time.monotonic()
        if now - self._heard.get(address, -math.inf) > _SILENCE:
            if whose := foreign_owner(self._kind, *address[:2]):
                self._heard.pop(address, None)
                self._tell(address, whose)
                return False
            if len(self._heard) >= _MOST_PEERS:
                self._heard.clear()
        self._heard[address] = now
        return True

    def _tell(self, address: Address, whose: str) -> None:
        if whose not in self._told and len(self._told) < _MOST_PEERS:
            self._told.add(whose)
            _LOG.warning(
                "%s: what comes from %s:%s is not heard: its port is of %s; expected a program of"
                " %s, or of an account that %s names",
                self._what,
                *address[:2],
                whose,
                account_name(operating_system.user()),
                DEVICE_ACCOUNTS,
            )
