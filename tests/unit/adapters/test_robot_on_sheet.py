"""Emulated robot and sensor, linked as on a rig, seen through both adapters."""

import csv

import pytest

from hw_adapters.ati_net_ft.adapter import AtiNetFt, AtiNetFtSettings
from hw_adapters.kuka_rsi.adapter import KukaRsi, KukaRsiSettings
from orchestrator.devices.conformance import EmulatorProcess, free_tcp_port, free_udp_port

STEP = 0.001  # m
STIFFNESS = 2000.0  # N/m
DELAY = 4  # cycles, 16 ms


@pytest.fixture
def rig(tmp_path):
    sensor_port, pages, robot_port = free_udp_port(), free_tcp_port(), free_udp_port()
    sheet = ("--stiffness", f"{STIFFNESS:g}", "--rate", "1000")
    ports = ("--port", f"{sensor_port}", "--http-port", f"{pages}")
    sensor = AtiNetFt(
        AtiNetFtSettings(
            device_host="127.0.0.1", device_port=sensor_port, http_port=pages, rate=1000.0
        )
    )
    robot = KukaRsi(KukaRsiSettings(port=robot_port, measured="displacement", speed_limit=1.0))
    with EmulatorProcess("hw_adapters.ati_net_ft.emulator", (*ports, *sheet)) as felt:
        link = "{}:{}".format(*felt.places["link"])
        told = ("--peer", f"127.0.0.1:{robot_port}", "--delay", "16", "--link", link)
        log = ("--log", str(tmp_path / "robot.csv"))
        with EmulatorProcess("hw_adapters.kuka_rsi.emulator", (*told, *log)) as moved:
            try:
                sensor.open()
                robot.open()
                yield robot, sensor, moved, tmp_path / "robot.csv"
            finally:
                robot.close()
                sensor.close()


def cycles_until(robot, x, most=200):
    """Command x, and count the frames until it is measured, and the late answers meanwhile."""
    late, count = None, 0
    while count < most:
        found = robot.receive(3.0)
        late = found.status if late is None else late
        if abs(found.values[0] - x) < 1e-9:
            robot.send((x, 0.0, 0.0, 0.0, 0.0, 0.0))
            return count, found.status - late
        robot.send((x, 0.0, 0.0, 0.0, 0.0, 0.0))
        count += 1
    pytest.fail(f"{x} m was not reached in {most} cycles")


def force_once(sensor, expected):
    for _ in range(3000):
        found = sensor.receive(3.0).values[0]
        if found == pytest.approx(expected, abs=2e-6):
            return
    pytest.fail(f"expected {expected} N, found {found} N")


def test_the_delay_is_the_declared_one_and_the_sheet_answers(rig):
    robot, sensor, moved, log = rig
    cycles_until(robot, 0.0)
    measured = []
    for n in range(20):
        x = STEP if n % 2 == 0 else 0.0
        count, late = cycles_until(robot, x)
        force_once(sensor, -STIFFNESS * x)
        # Frames wait meanwhile; they are answered too late, and what is in force stays.
        while (found := robot.receive(0.0)) is not None:
            robot.send((x, 0.0, 0.0, 0.0, 0.0, 0.0))
        if late == 0:
            measured.append(count)
    assert measured, "no step without a late answer: the machine is too busy to tell"
    assert set(measured) == {DELAY}
    robot.close()
    assert moved.stop() == 0
    rows = list(csv.DictReader(log.read_text().splitlines()))
    assert {row["event"] for row in rows} >= {"cycle", "answer"}
    assert max(float(row["commanded_1"]) for row in rows) == 1000.0 * STEP
