"""Who may command: each door of a run, tried by another account of this machine."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from dcp_slaves import Integrator, description
from live_pages import state_of

from hw_adapters.datagram_socket import DatagramSocket
from hw_adapters.shm.adapter import ShmDevice, ShmSettings, ShmSignal
from hw_adapters.stream_socket import StreamSocket
from orchestrator.core import accounts
from orchestrator.core.accounts import NamedSocket, connect_to_name, own_folder
from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.files.mcap import channel_plans
from orchestrator.dcp import pdus
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.link import TcpLink
from orchestrator.dcp.pdus import encode
from orchestrator.dcp.server import SlaveServer
from orchestrator.pictures.live.extension import Viewing
from orchestrator.pictures.live.messages import Begun
from orchestrator.pictures.live.streams import Foxglove, Udp
from orchestrator.rig.runs.supervision import SupervisorClient
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.wire import Operator, connect_to, take_rig

OTHER = 65534
another_account = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can start programs of another account"
)
#: Python itself may lie where only root finds it, so a program becomes another's after its imports.
LEAVE = f"""
import encodings.idna, http.client, json, mmap, os, socket, sys
os.setgroups([]); os.setresgid({OTHER}, {OTHER}, {OTHER}); os.setresuid({OTHER}, {OTHER}, {OTHER})
"""
#: Ends as soon as its standard input is closed.
WAIT = "\nprint('ready', flush=True); sys.stdin.read()"


@contextmanager
def as_other(program, *arguments):
    """Run a program of another account until the block ends; it says when it is ready."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", LEAVE + program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    ) as child:
        yield child


def told_to_other(program, *arguments):
    """Run a program of another account to its end; return what it prints."""
    with as_other(program, *arguments) as child:
        return child.communicate(timeout=60)[0].strip()


@pytest.fixture
def state(monkeypatch):
    """A folder of sockets in a place that others can reach, as a home folder may be."""
    folder = Path(tempfile.mkdtemp(prefix="sd-"))
    folder.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    yield folder
    shutil.rmtree(folder)


# --- Names and the supervisor of a rig -----------------------------------------------------------


def test_a_name_is_taken_once_and_free_again(state):
    with NamedSocket("page-1", socket.SOCK_STREAM) as door:
        with pytest.raises(accounts.NameTakenError):
            NamedSocket("page-1", socket.SOCK_STREAM)
        with connect_to_name("page-1", socket.SOCK_STREAM, 5.0) as channel:
            assert accounts.peer_of(channel) == (os.getpid(), os.geteuid())
        door.close()
    assert list(own_folder().iterdir()) == []
    with pytest.raises(OSError, match="No such file"):
        connect_to_name("page-1", socket.SOCK_STREAM, 5.0)
    assert own_folder() == state / "softdock"
    assert own_folder().stat().st_mode & 0o777 == 0o700


def test_what_a_killed_process_left_is_in_nobodys_way(state, wording):
    program = (
        "import os, signal, socket; from orchestrator.core.accounts import NamedSocket\n"
        "kept = NamedSocket('rig-a', socket.SOCK_SEQPACKET); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", program], check=False)  # noqa: S603 - our own
    assert killed.returncode == -9
    assert (state / "softdock").is_dir()
    assert len(list(own_folder().iterdir())) == 2
    with wording.raises(DeviceError):
        connect_to("a")
    with take_rig("a"), connect_to("a"):
        pass


def test_a_folder_that_is_open_to_others_is_closed_or_passed_over(state, monkeypatch):
    folder = own_folder()
    folder.chmod(0o777)
    assert own_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()
    elsewhere = state / "elsewhere"
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    places = iter([folder, state / "next"])
    monkeypatch.setattr(accounts, "_folders", lambda: places)
    assert own_folder() == state / "next"
    monkeypatch.setattr(accounts, "_folders", lambda: iter([folder]))
    with pytest.raises(DeviceError, match=r"no folder for sockets that other accounts"):
        own_folder()


SQUAT = """
for name in ("softdock.0.exam", "softdock.0.rig-exam"):
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    taken.bind("\\0" + name); taken.listen(); globals()[name] = taken
try:
    os.mkdir("/tmp/softdock-0")
except FileExistsError:
    pass
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])
    print("bound", flush=True)
except PermissionError:
    print("refused", flush=True)
"""


@another_account
def test_another_account_takes_no_name_of_a_rig(state):
    place = own_folder() / accounts._file("rig-exam")
    with as_other(SQUAT + WAIT, place) as child:
        assert [child.stdout.readline().strip() for _ in range(2)] == ["refused", "ready"]
        try:
            with take_rig("exam") as door, connect_to("exam") as channel:
                door.settimeout(10.0)
                assert accounts.peer_of(channel)[1] == 0
        finally:
            shutil.rmtree("/tmp/softdock-0", ignore_errors=True)  # noqa: S108 - of the child


IMPOSTOR = """
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); door.bind(sys.argv[1]); door.listen()
"""


@another_account
def test_an_impostor_is_no_supervisor_even_where_it_could_take_the_name(state):
    folder = own_folder()
    folder.chmod(0o777)
    with as_other(IMPOSTOR + WAIT, folder / accounts._file("rig-exam")) as child:
        assert child.stdout.readline() == "ready\n"
        said = rf"'rig-exam' is held by 'nobody' \(uid {OTHER}\); expected a program of 'root'"
        with pytest.raises(DeviceError, match=said):
            Operator("exam")


COMMAND = """
channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); channel.settimeout(20)
try:
    channel.connect(sys.argv[1])
    channel.send(json.dumps({"hello": "operator", "wish": sys.argv[2]}).encode())
    print(channel.recv(1 << 18).decode() or "closed")
except OSError as error:
    print(type(error).__name__)
"""


@another_account
def test_another_account_commands_no_supervisor(state, tmp_path):
    settings = SupervisorSettings(rig="exam", priority=0)
    with SupervisorClient(settings, ["robot"], tmp_path), Operator("exam") as operator:
        place = own_folder() / accounts._file("rig-exam")
        assert told_to_other(COMMAND, place, "stop") == "PermissionError"
        own_folder().chmod(0o755)  # as if the folder did not hold
        place.chmod(0o777)
        for wish in ("status", "arm", "stop", "reset"):
            assert told_to_other(COMMAND, place, wish) in {
                "closed",
                "BrokenPipeError",
                "ConnectionResetError",
            }
        status = operator.wish("status")
        assert status["wished"] is None
        assert json.loads(json.dumps(status))["state"] == "OFF"


# --- The page of a run ---------------------------------------------------------------------------

ASK = """
host, port, token, path, method, local = sys.argv[1:]
connection = http.client.HTTPConnection(host, int(port), timeout=30)
if local:
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    if local:
        connection.sock.connect(local)
    own = {"Origin": f"http://{host}:{port}"}
    connection.request(method, f"/{path}&token={token}" if token else f"/{path}", headers=own)
    print(connection.getresponse().status)
except (OSError, http.client.HTTPException) as error:
    print(type(error).__name__)
"""


@pytest.fixture
def viewing(state):
    """The page of a run, served by its own process."""
    shown = Viewing("0", "secret title")
    shown.say(Begun("one", "One", None, ""))
    while not state_of(shown.url)["cases"]:
        pass
    yield shown
    shown.end("over", 0.0)


@another_account
def test_another_account_neither_looks_at_a_page_nor_commands_by_it(viewing):
    place = urlsplit(viewing.url)
    where, token = (place.hostname, place.port), place.query.removeprefix("token=")
    looks = ["?", "state?", "case?case=0", "samples?case=0&columns=&at_ns=0&most=9"]
    wishes = ["operate?wish=arm", "operate?wish=stop", "set?name=a.k&value=1", "mark?text=x"]
    for method, paths in (("GET", looks), ("POST", [*wishes, "wish?wish=stop"])):
        for path in paths:
            for wrong in ("", "x", token[:-1]):
                assert told_to_other(ASK, *where, wrong, path, method, "") == "403"
    # whoever was given the address may come
    assert told_to_other(ASK, *where, token, "state?", "GET", "") == "200"


@another_account
def test_another_account_reaches_no_socket_of_a_page(viewing):
    where = urlsplit(viewing.url)
    door = own_folder() / accounts._file(accounts.page_name(where.hostname, where.port))
    ask = where.hostname, where.port, "", "mark?text=x", "POST", door
    assert told_to_other(ASK, *ask) == "PermissionError"
    own_folder().chmod(0o755)  # as if the folder did not hold
    door.chmod(0o777)
    assert told_to_other(ASK, *ask) in {
        "RemoteDisconnected",
        "ConnectionResetError",
        "BrokenPipeError",
    }


def test_no_token_is_among_the_arguments_of_a_process(viewing):
    token = urlsplit(viewing.url).query.removeprefix("token=").encode()
    content = Path(f"/proc/{viewing._process.pid}/cmdline").read_bytes()
    assert b"live.server" in content
    assert token not in content
    assert b"secret title" not in content


# --- Units in processes of their own, and memory that is shared ----------------------------------

LOOK = """
found = set()
for name in ("fd", "environ", "mem"):
    place = f"/proc/{sys.argv[1]}/{name}"
    try:
        os.listdir(place) if name == "fd" else open(place).read(1)
        found.add(place)
    except PermissionError:
        pass
print(len(found))
"""


@another_account
def test_another_account_finds_no_memory_or_channel_of_a_process(viewing):
    """Memory of runs, devices and isolated units has no name: a descriptor alone leads to it."""
    assert told_to_other(LOOK, viewing._process.pid) == "0"
    assert told_to_other(LOOK, os.getpid()) == "0"
    assert not [file for file in Path("/dev/shm").iterdir() if "softdock" in file.name]  # noqa: S108


# --- Devices on this machine ---------------------------------------------------------------------

SEND = """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sender.bind(("127.0.0.1", 0))
sender.settimeout(1.0)
sender.sendto(bytes.fromhex(sys.argv[2]), ("127.0.0.1", int(sys.argv[1])))
try:
    print(sender.recv(4096).hex(), flush=True)
except OSError as error:
    print(type(error).__name__, flush=True)
"""
LISTEN = """
door = socket.create_server(("127.0.0.1", 0)); print(door.getsockname()[1], flush=True)
"""


@another_account
def test_a_datagram_of_another_account_is_not_heard(monkeypatch, caplog, wording):
    device = DatagramSocket("127.0.0.1", 0, None)
    try:
        with as_other(SEND + WAIT, device.address[1], b"forged".hex()) as child:
            assert child.stdout.readline() == "TimeoutError\n"
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.sendto(b"true", device.address)
                assert device.receive(30.0)[0] == b"true"
            assert f"its port is of 'nobody' (uid {OTHER})" in caplog.text
            monkeypatch.setenv(accounts.DEVICE_ACCOUNTS, f"root, {OTHER}")
        with as_other(SEND + WAIT, device.address[1], b"named".hex()) as child:
            assert device.receive(30.0)[0] == b"named"
            monkeypatch.setenv(accounts.DEVICE_ACCOUNTS, "no such account")
            with wording.raises(DeviceError):
                accounts.may_be_device(OTHER)
    finally:
        device.close()


@another_account
def test_a_tcp_device_of_another_account_is_refused():
    with as_other(LISTEN + WAIT) as child:
        port = int(child.stdout.readline())
        with pytest.raises(DeviceError, match=rf"the port is of 'nobody' \(uid {OTHER}\)"):
            StreamSocket("127.0.0.1", port, 10.0)
        with pytest.raises(DeviceError, match=r"the port is of 'nobody'"):
            TcpLink(("127.0.0.1", port), 10.0)
    with socket.create_server(("127.0.0.1", 0)) as own:
        StreamSocket("127.0.0.1", own.getsockname()[1], 10.0).close()


BLOCK = """
file = os.open(f"/dev/shm/{sys.argv[1]}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
os.fchmod(file, 0o666); os.write(file, bytes(4096))
"""


@another_account
def test_a_block_of_shared_memory_that_others_made_or_may_write_is_refused(monkeypatch):
    name = f"sd-test-{os.getpid()}"
    path = Path("/dev/shm") / name  # noqa: S108 - where it is
    settings = ShmSettings(name=name, rate=100.0, measurements=(ShmSignal(name="x"),))
    device = ShmDevice(settings)
    try:
        with as_other(BLOCK + WAIT, name) as child:
            assert child.stdout.readline() == "ready\n"
            with pytest.raises(DeviceError, match=rf"it belongs to 'nobody' \(uid {OTHER}\)"):
                device.open()
            device.close()
            monkeypatch.setenv(accounts.DEVICE_ACCOUNTS, "nobody")
            with pytest.raises(DeviceError, match=r"other accounts may write to it \(mode 666\)"):
                device.open()
            device.close()
        path.unlink()
        path.write_bytes(bytes(4096))
        for mode in (0o660, 0o602):
            path.chmod(mode)
            with pytest.raises(DeviceError, match=r"other accounts may write to it"):
                device.open()
            device.close()
        path.chmod(0o600)
        with pytest.raises(DeviceError, match="expected the mark"):  # it is ours
            device.open()
    finally:
        device.close()
        path.unlink(missing_ok=True)


@another_account
def test_another_account_registers_at_no_dcp_slave():
    """The same register PDU has an answer for the owner, and none for another account."""
    server = SlaveServer(description(), Integrator(), Transport.UDP_IPV4, "127.0.0.1", 0)
    serving = threading.Thread(target=server.serve, daemon=True)
    serving.start()
    register = encode(pdus.Register(1, 1, 0, description().uuid.bytes, OpMode.NRT))
    try:
        port = server.address[1]
        with as_other(SEND + WAIT, port, register.hex()) as child:
            assert child.stdout.readline() == "TimeoutError\n"
        assert server.slave.master is None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.settimeout(30.0)
            own.sendto(register, ("127.0.0.1", port))
            assert own.recv(4096)
        assert server.slave.master is not None
    finally:
        server.stop()
        serving.join()
        server.close()


# --- Streams -------------------------------------------------------------------------------------

TAKE = """
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); door.bind(("127.0.0.1", 0))
door.settimeout(30.0)
print(door.getsockname()[1], flush=True)
text, sender = door.recvfrom(65536)
door.sendto(b'{"set": {"a.k": 1.0}}', sender)
print(text.decode(), flush=True)
"""
UPGRADE = """
door = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30.0)
door.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n"
    b"Upgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nSec-WebSocket-Version: 13\\r\\n"
    b"Sec-WebSocket-Protocol: foxglove.sdk.v1\\r\\n\\r\\n")
seen = b""
while b"capabilities" not in seen or b"}" not in seen.partition(b"capabilities")[2]:
    seen += door.recv(65536)
print(json.loads(seen[seen.index(b"{") : seen.rindex(b"}") + 1])["capabilities"], flush=True)
"""


@another_account
def test_another_account_sees_the_rows_of_a_stream_and_what_it_answers_is_not_read():
    with as_other(TAKE + WAIT) as child:
        sink = Udp("127.0.0.1", int(child.stdout.readline()))
        sink.begin("c", channel_plans(("a.y",), {"a.y": {}}))
        sink.send(np.array([1_000_000]), np.array([[2.5]]))
        assert json.loads(child.stdout.readline()) == {"timestamp": 0.001, "c": {"a": {"y": 2.5}}}
        assert child.stdout.readline() == "ready\n"  # the answer lies in the socket
        sink.send(np.array([2_000_000]), np.array([[3.5]]))
        assert sink._socket.recv(4096) == b'{"set": {"a.k": 1.0}}'  # as it came: nobody took it
        sink.close()


@another_account
def test_foxglove_offers_another_account_nothing_that_commands():
    """Neither parameters nor services, nor channels of a client."""
    pytest.importorskip("foxglove", reason="needs the extra foxglove")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    sink = Foxglove("127.0.0.1", port)
    try:
        assert told_to_other(UPGRADE, port) == "[]"
    finally:
        sink.close()
