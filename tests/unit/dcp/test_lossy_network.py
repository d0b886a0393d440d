"""A network that loses, delays, doubles and replays PDUs: results are exact, or an error."""

import random
import socket

import pytest
from dcp_serving import Relay, only, serving
from dcp_slaves import INPUT, OUTPUT, description
from dcp_talk import Talk

from orchestrator.core.diagnostics import DescriptionError, DeviceError
from orchestrator.dcp import pdus
from orchestrator.dcp.controller import Controller
from orchestrator.dcp.description import Ipv4, PortRange, SlaveCapabilities
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.link import UdpLink
from orchestrator.dcp.pdus import encode
from orchestrator.dcp.plan import make_plan
from orchestrator.dcp.session import SlaveSession
from orchestrator.dcp.states import SlaveState

DO_STEP, SEND_OUTPUTS, STOP, DEREGISTER = 0x07, 0x08, 0x09, 0x02
DATA, ACK, STATE_ACK, CHANGED, LOG = 0xF0, 0xB0, 0xB2, 0xE0, 0xE1
LOST = []
NAMED = {
    "lost": lambda content: LOST,
    "3 ms late": lambda content: [(0.003, content)],
    "60 ms late": lambda content: [(0.06, content)],
    "twice": lambda content: [(0.0, content), (0.0, content)],
    "again 5 ms later": lambda content: [(0.0, content), (0.005, content)],
    "again 100 ms later": lambda content: [(0.0, content), (0.1, content)],
}
PATIENCE = 0.6


def trajectory(about, rule, steps=8, port=None):
    """Step a slave with inputs that change; return its outputs, and the controller, closed."""
    with Relay(port or about.transports[Transport.UDP_IPV4].port, rule) as relay:
        plan = make_plan(relay.towards(about), mode=OpMode.NRT, patience_s=PATIENCE)
        controller = Controller(plan)
        try:
            controller.connect()
            (command,) = (v.reference for v in plan.inputs if v.name == "position_command")
            (position,) = (v.reference for v in plan.outputs if v.name == "position")
            controller.initialise()
            controller.run()
            found = []
            for number in range(steps):
                controller.values[command] = (0.01 * (number + 1) ** 2,)
                controller.step(20)
                found.append(controller.values[position][0])
        except BaseException:
            controller.abandon()
            raise
        controller.close()
    return found, controller


@pytest.fixture(scope="module")
def slave(plants):
    with serving(plants / "PositionAxis.fmu") as (about, server):
        yield about, server, trajectory(about, lambda *facts: [(0.0, facts[3])])[0]


@pytest.mark.parametrize("disturbance", NAMED)
@pytest.mark.parametrize(
    ("way", "kind", "number"),
    [
        ("to", DATA, 4),
        ("to", DATA, 0),
        ("to", DO_STEP, 3),
        ("to", SEND_OUTPUTS, 4),
        ("to", STOP, 0),
        ("to", DEREGISTER, 0),
        ("to", 0x22, 0),
        ("to", 0x06, 1),
        ("from", ACK, 9),
        ("from", STATE_ACK, 0),
        ("from", CHANGED, 20),
        ("from", LOG, 4),
    ],
)
def test_one_disturbance_changes_no_result(slave, way, kind, number, disturbance):
    about, server, exact = slave
    found, _ = trajectory(about, only(way, kind, number, NAMED[disturbance]))
    assert found == exact
    assert server.slave.state is SlaveState.ALIVE


@pytest.mark.parametrize("disturbance", [name for name in NAMED if name != "lost"])
@pytest.mark.parametrize("kind", [DATA, CHANGED])
def test_every_output_disturbed_changes_no_result(slave, kind, disturbance):
    about, _, exact = slave
    found, controller = trajectory(about, only("from", kind, None, NAMED[disturbance]))
    assert found == exact
    if kind == DATA and disturbance == "twice":
        assert controller.stale_outputs >= 7


def test_outputs_of_the_step_before_are_not_taken_for_those_of_this_one(slave):
    about, _, exact = slave
    before = []

    def rule(way, kind, number, content):
        if (way, kind) != ("from", DATA):
            return [(0.0, content)]
        before.append(content)
        return [(0.0, each) for each in before[-2:-1]] + [(0.02, content)]

    found, controller = trajectory(about, rule)
    assert found == exact
    assert controller.stale_outputs == 8


def test_lost_outputs_are_an_error(slave, wording):
    about, server, _ = slave
    with wording.raises(DeviceError):
        trajectory(about, only("from", DATA, 4, lambda _: LOST))
    assert server.slave.state is SlaveState.ALIVE


@pytest.mark.parametrize("seed", range(3))
def test_losses_of_requests_and_inputs_are_made_good(slave, seed):
    about, _, exact = slave
    draw = random.Random(seed)  # noqa: S311 # repeats, is no secret

    def rule(way, kind, number, content):
        is_output = (way, kind) == ("from", DATA)
        return LOST if not is_output and draw.random() < 0.05 else [(0.0, content)]

    found, controller = trajectory(about, rule)
    assert found == exact
    assert controller.session.repeated > 0


def test_a_peer_that_answers_with_pdus_of_another_run_is_not_believed(slave, wording):
    about, _, _ = slave
    heard = []

    def remember(way, kind, number, content):
        heard.extend([content] if way == "from" and kind == ACK else [])
        return [(0.0, content)]

    trajectory(about, remember, steps=1)

    def rule(way, kind, number, content):
        return [(0.0, heard[-1])] if way == "from" else [(0.0, content)]

    with wording.raises(DeviceError):
        trajectory(about, rule, steps=1)


def test_a_slave_that_cannot_be_stopped_is_an_error(slave, wording):
    about, server, _ = slave
    stops = only("to", STOP, None, lambda _: LOST)
    with wording.raises(DeviceError):
        trajectory(about, stops, steps=1)
    server.slave.lose(server.slave.master)  # as it would be after 60 s


def test_inputs_that_nobody_confirms_are_refused(wording):
    about = description(transports={t: Ipv4("127.0.0.1", 8080) for t in Transport if t in {0, 4}})
    with wording.raises(DescriptionError):
        make_plan(about, mode=OpMode.NRT)
    make_plan(about, mode=OpMode.NRT, unconfirmed=True)
    make_plan(about, mode=OpMode.NRT, transport=Transport.TCP_IPV4)
    make_plan(about, mode=OpMode.SRT)
    ipv4 = Ipv4("127.0.0.1", 8080, data_ports=(PortRange(9000, 9001),))
    apart = description(transports={Transport.TCP_IPV4: ipv4})
    with wording.raises(DescriptionError):
        make_plan(apart, mode=OpMode.NRT)


def run_with(talk, numbers):
    """Send inputs with these numbers, one list for each step; return why the slave failed."""
    for step in numbers:
        for number in step:
            talk.data(1.0, number)
        if talk.slave.state is SlaveState.ERRORRESOLVED:
            return talk.slave.reason
        talk.ask(pdus.DoStep, int(talk.slave.state), 1)
        talk.ask(pdus.SendOutputs, int(talk.slave.state))
    return ""


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ([[0], [1], [2]], ""),
        ([[0], [2]], "a: 1 data PDUs were missed; at most 0"),
        ([[0], [1], [], [2, 3]], "data id 1: the inputs of the last step came after"),
        ([[0], [1, 1, 0], [2]], ""),  # again, and older
        ([[], [], [0, 1], [2]], ""),  # of a master that sends as it likes
        ([[0], [], [1], [], [2]], ""),  # in every other step
        ([[65535], [0], [1]], ""),
    ],
)
def test_a_slave_notices_inputs_that_do_not_arrive_in_time(numbers, reason):
    talk = Talk(variables=(OUTPUT, INPUT))
    talk.start()
    assert run_with(talk, numbers).startswith(reason)
    assert bool(talk.slave.reason) is bool(reason)


def test_in_real_time_a_slave_goes_on_without_inputs():
    talk = Talk(variables=(OUTPUT, INPUT))
    talk.start(OpMode.SRT)
    talk.data(1.0, 0)
    talk.data(2.0, 3)
    assert talk.slave.state is SlaveState.SYNCHRONIZED


class Wire:
    """A link of a session to a slave machine that loses the requests of some numbers."""

    peer = ("127.0.0.1", 8080)

    def __init__(self, talk):
        self.talk, self.lost, self.sent, self.found = talk, set(), 0, []

    def send(self, content):
        self.sent += 1
        if self.sent not in self.lost:
            self.found += [encode(each) for each in self.talk.tell(content)]

    def receive(self, timeout_s):
        return self.found.pop(0) if self.found else None

    def answered(self):
        pass

    def close(self):
        pass


def test_a_heartbeat_after_a_lost_one_counts():
    can = SlaveCapabilities(True, True, True, True)
    talk = Talk(capabilities=can, heartbeat=(1, 2))
    wire = Wire(talk)
    session = SlaveSession(talk.slave.about, wire, 1, 0.2)
    session.register(OpMode.SRT)
    for number in range(8):
        talk.clock.ns += 170_000_000
        if number == 2:
            wire.lost.add(wire.sent + 1)
        session.beat(at_once=True)
        while session.listen(1.0):
            continue
        session.beat()  # at once, if the slave did not count the one before
        while session.listen(1.0):
            continue
        talk.slave.tick()
        assert talk.slave.state is SlaveState.CONFIGURATION, number


def test_inputs_are_confirmed_in_real_time_as_well(slave):
    about, _, _ = slave
    controller = Controller(make_plan(about, mode=OpMode.SRT, patience_s=1.0))
    controller.connect()
    controller.initialise()
    assert controller.session.confirmed == {1: 0}
    controller.close()


def test_only_the_port_that_answered_is_the_slave():
    """A stranger on the same machine sent PDUs that the master took."""
    host = "127.0.0.1"
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as slave,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        slave.bind((host, 0))
        stranger.bind((host, 0))
        link = UdpLink(slave.getsockname(), 1.0)
        stranger.sendto(b"before anything was asked", link.address)
        assert link.receive(1.0) == b"before anything was asked"
        slave.sendto(b"answer", link.address)
        assert link.receive(1.0) == b"answer"
        link.answered()
        stranger.sendto(b"forged", link.address)
        slave.sendto(b"data", link.address)
        assert link.receive(1.0) == b"data"
        assert link.foreign == 1
        assert link.last_foreign == f"{host}:{stranger.getsockname()[1]}"
        link.close()
