"""Emulated robot and sensor, linked as on a rig, seen through both adapters."""

import csv
import time

import pytest

from hw_adapters.ati_net_ft.adapter import AtiNetFt, AtiNetFtSettings
from hw_adapters.kuka_rsi.adapter import KukaRsi, KukaRsiSettings
from orchestrator.rig.devices.conformance import EmulatorProcess, free_tcp_port, free_udp_port

STEP = 0.001  # m
STIFFNESS = 2000.0  # N/m
DELAY = 4  # cycles, 16 ms


@pytest.fixture
def rig(tmp_path):
    sensor_port, pages, robot_port = free_udp_port(), free_tcp_port(), free_udp_port()
    sheet = ("--stiffness", f"{STIFFNESS:g}", "--rate", "250")
    ports = ("--port", f"{sensor_port}", "--http-port", f"{pages}")
    sensor = AtiNetFt(
        AtiNetFtSettings(
            device_host="127.0.0.1", device_port=sensor_port, http_port=pages, rate=250.0
        )
    )
    robot = KukaRsi(KukaRsiSettings(port=robot_port, measured="displacement", speed_limit=1.0))
    with EmulatorProcess("hw_adapters.ati_net_ft.emulator", (*ports, *sheet)) as emulated:
        link = "{}:{}".format(*emulated.places["link"])
        told = (
            "--peer",
            f"127.0.0.1:{robot_port}",
            "--delay",
            "16",
            "--link",
            link,
            "--timeout",
            "1000000",
        )
        log = ("--log", str(tmp_path / "robot.csv"))
        with EmulatorProcess("hw_adapters.kuka_rsi.emulator", (*told, *log)) as moved:
            try:
                sensor.open()
                robot.open()
                yield robot, sensor, moved, tmp_path / "robot.csv"
            finally:
                robot.close()
                sensor.close()


def move(robot, x):
    """Command x until it is measured: the frames that took, and the late answers meanwhile."""
    sent, late = 0, None
    while (found := robot.receive(10.0)) is not None:
        robot.send((x, 0.0, 0.0, 0.0, 0.0, 0.0))
        late = found.status if late is None else late
        if abs(found.values[0] - x) < 1e-9:
            return sent, found.status - late
        sent += 1
    pytest.fail("the robot is silent")


def felt(robot, sensor, x):
    """Hold x until the sensor feels what the sheet answers to it."""
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        while robot.receive(0.0) is not None:
            robot.send((x, 0.0, 0.0, 0.0, 0.0, 0.0))
        found = sensor.receive(10.0).values[0]
        if found == pytest.approx(-STIFFNESS * x, abs=2e-6):
            return True
    return False


@pytest.mark.alone
def test_the_delay_is_the_declared_one_and_the_sheet_answers(rig):
    robot, sensor, moved, log = rig
    move(robot, 0.0)
    measured = []
    for n in range(400):
        x = 0.0 if n % 2 else STEP
        count, late = move(robot, x)
        if n < 2:  # late answers count from the first one on that is taken
            assert felt(robot, sensor, x)
        elif late == 0:  # a busy machine answers late, and the delay is another one then
            measured.append(count)
        if len(measured) == 4:
            break
    assert measured == [DELAY] * 4
    robot.close()
    assert moved.stop() == 0
    rows = list(csv.DictReader(log.read_text().splitlines()))
    assert {row["event"] for row in rows} >= {"cycle", "answer"}
    assert max(float(row["commanded_1"]) for row in rows) == 1000.0 * STEP
