"""The emulated controller with clients that others wrote, and with what they ask."""

import importlib.util
import random
import struct
import subprocess
import sys

import numpy as np
import pytest

from hw_adapters.ur_rtde.robot import Robot, Setup
from orchestrator.rig.devices.conformance import EmulatorProcess, free_tcp_port

EMULATOR = "hw_adapters.ur_rtde.emulator"
#: Recipes of UR's example of a control loop (control_loop_configuration.xml).
STATE = {"target_TCP_pose": "VECTOR6D", "target_qd": "VECTOR6D", "output_int_register_0": "INT32"}
GOAL = {f"input_double_register_{i}": "DOUBLE" for i in range(6)}
GO = {"input_int_register_0": "INT32"}


def test_the_program_moves_to_each_point_and_says_so():
    robot = Robot(Setup(program="move", delay_ms=2.0, start=(0.0,) * 6))
    assert robot.next_cycle() == ""
    assert robot.said == 1
    robot.registers |= dict.fromkeys(GOAL, 0.1) | {"input_int_register_0": 1}
    happened = [robot.next_cycle() for _ in range(60)]
    assert happened.index("arrived") == pytest.approx(0.1 * 500, abs=2)  # 1 rad/s
    assert robot.said == 0
    assert robot.position == pytest.approx(np.full(6, 0.1), abs=1e-6)
    robot.registers["input_int_register_0"] = 0
    robot.next_cycle()
    assert robot.said == 1
    assert robot.next_cycle() == ""


class Wire:
    """A client in bytes."""

    def __init__(self, port):
        import socket

        self.socket = socket.create_connection(("127.0.0.1", port), 3.0)
        self.file = self.socket.makefile("rb")

    def send(self, kind, content=b""):
        self.socket.sendall(struct.pack(">HB", 3 + len(content), ord(kind)) + content)

    def package(self, kind):
        while True:
            size, found = struct.unpack(">HB", self.file.read(3))
            content = self.file.read(size - 3)
            if found == ord(kind):
                return content

    def ask(self, kind, content=b""):
        self.send(kind, content)
        return self.package(kind)

    def state_when(self, wanted):
        """Return the state in which the program says what is wanted, within 20 s of its time."""
        for _ in range(2500):
            _, *state, said = struct.unpack(">B12di", self.package("U"))
            if said == wanted:
                return state
        raise AssertionError(f"the program never said {wanted}")

    def close(self):
        self.file.close()
        self.socket.close()


@pytest.fixture(scope="module")
def port():
    """Of an emulated controller on which the program of UR's example runs."""
    found = free_tcp_port()
    options = ["--port", str(found), "--program", "move", "--watchdog", "0"]
    with EmulatorProcess(EMULATOR, options):
        yield found


def test_the_loop_of_the_example_runs_byte_by_byte(port):
    wire = Wire(port)
    assert wire.ask("V", b"\0\2") == b"\1"
    assert struct.unpack(">4I", wire.ask("v")) == (5, 11, 0, 0)
    names = ",".join(STATE) + ","  # as some clients end it
    types = ",".join(STATE.values()).encode()
    assert wire.ask("O", struct.pack(">d", 125.0) + names.encode()) == b"\1" + types
    assert wire.ask("I", ",".join(GOAL).encode()) == b"\1" + ",".join(GOAL.values()).encode()
    assert wire.ask("I", ",".join(GO).encode()) == b"\2INT32"
    assert wire.ask("I", ",".join(GO).encode()) == b"\0IN_USE"
    assert wire.ask("I", b"input_int_register_48") == b"\0NOT_FOUND"
    assert wire.ask("S") == b"\1"
    wire.state_when(1)
    wire.send("U", struct.pack(">B6d", 1, *[0.05] * 6))
    wire.send("U", struct.pack(">Bi", 2, 1))
    pose = wire.state_when(0)
    assert pose == pytest.approx([0.05] * 6 + [0.0] * 6, abs=1e-9)
    wire.send("U", struct.pack(">Bi", 2, 0))
    wire.state_when(1)
    assert wire.ask("P") == b"\1"
    wire.close()


def test_the_loop_of_the_example_runs_with_the_client_of_universal_robots(port):
    reason = "its RTDE client is on GitHub only: UniversalRobots/RTDE_Python_Client_Library"
    rtde = pytest.importorskip("rtde.rtde", reason=reason)
    client = rtde.RTDE("127.0.0.1", port)
    client.connect()
    assert client.get_controller_version() == (5, 11, 0, 0)
    assert client.send_output_setup(list(STATE), list(STATE.values()))
    goal = client.send_input_setup(list(GOAL), list(GOAL.values()))
    go = client.send_input_setup(list(GO), list(GO.values()))
    assert client.send_start()
    reached, moves, go.input_int_register_0 = [], False, 0
    for _ in range(2500):  # 20 s of its time
        state = client.receive()
        if not moves and state.output_int_register_0 == 1:
            for name in GOAL:
                setattr(goal, name, 0.02 * (1 + len(reached)))
            client.send(goal)
            moves, go.input_int_register_0 = True, 1
        elif moves and state.output_int_register_0 == 0:
            reached.append(state.target_TCP_pose)
            moves, go.input_int_register_0 = False, 0
        client.send(go)
        if len(reached) == 3:
            break
    expected = [[0.02 * k] * 6 for k in (1, 2, 3)]
    assert np.array(reached) == pytest.approx(np.array(expected), abs=1e-9)
    assert client.send_pause()
    client.disconnect()


#: In a process of its own: its native thread would take an interpreter with it that ends first.
SDU = """
import sys, time
from rtde_receive import RTDEReceiveInterface
client = RTDEReceiveInterface(sys.argv[1], 500.0)
first = client.getTimestamp()
while client.getTimestamp() <= first:
    time.sleep(1e-3)
print(client.getActualQ(), client.getRobotMode(), client.getSafetyMode())
client.disconnect()
"""


@pytest.mark.skipif(
    importlib.util.find_spec("rtde_receive") is None,
    reason="ur-rtde has no wheel for this Python, or machine",
)
def test_the_client_of_sdu_robotics_asks_for_all_its_variables_and_has_them():
    # it knows no other port than 30004: an address for each test
    host = f"127.{random.randrange(1, 255)}.{random.randrange(1, 255)}.2"  # noqa: S311
    with EmulatorProcess(EMULATOR, ["--host", host, "--port", "30004"]):
        completed = subprocess.run(  # noqa: S603
            [sys.executable, "-c", SDU, host],
            capture_output=True,
            text=True,
            timeout=60.0,
            check=False,
        )
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == "[0.0, -1.5707963, 1.5707963, 0.0, 1.5707963, 0.0] 7 1\n"
