"""The machine of a slave: the golden trace, refusals in the order of the standard, time, ends."""

import struct
from dataclasses import replace

import pytest
from dcp_slaves import GAIN, INPUT, OUTPUT, Integrator, description, machine

from orchestrator.dcp import pdus
from orchestrator.dcp.codec import decode, encode
from orchestrator.dcp.description import Capabilities, Resolution, StepChoice
from orchestrator.dcp.error_codes import ErrorCode, error_text
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.slave.pacing import Pacing, time_ns
from orchestrator.dcp.states import State

MASTER, OTHER = ("127.0.0.1", 5000), ("127.0.0.1", 5001)
UUID = description().uuid.bytes
TARGET = pdus.place_of("127.0.0.1", 8090)
SOURCE = pdus.place_of("127.0.0.1", 8080)
#: What was seen between a master and DCPLib's slave; what only DCPLib sends stands in no line.
TRACE = """
80000001 -> b200000100
0101000100b5279485720d45429f29bee4d9a75ef9010100 -> b0010001 e00101
2b020001010000 -> b0020001
2b030001020000 -> b0030001
2204000101000000020000000000000009 -> b0040001
23050001020000000100000000000000 -> b0050001
21060001010000000200 -> b0060001
200700010100000064000000 -> b0070001
26080001010000901f0100007f -> b0080001
250900010200009a1f0100007f -> b0090001
030a000101 -> b00a0001 e00102 e00103
040b000103 -> b00b0001 e00104 e00105
050c000105 -> b00c0001 e00106 e00107
080d000107 -> b00d0001 e00108 e00105
060e0001050000000000000000 -> b00e0001 e00109 e0010a
060f00010a0000000000000000 -> b00f0001 e0010b
80110001 -> b111000110001320
091000010b -> b0100001 e0010f e00110
0211000110 -> b0110001 e00100
"""
LINES = [line.split(" -> ") for line in TRACE.split("\n") if line]


@pytest.mark.parametrize("passes", [1, 2])
def test_the_golden_trace(passes):
    slave, wire, _ = machine()
    for _ in range(passes):  # a slave that was released can be registered again
        for sent, answers in LINES:
            slave.receive(bytes.fromhex(sent), MASTER)
            assert wire.take() == answers.split(), sent
    assert slave.state is State.ALIVE
    # In SENDING_I and at the first step in real time: data id 2, the first two PDUs of each pass.
    assert [d.hex() for _, d in wire.data[:2]] == [
        "f000000200" + struct.pack("<d", 10.0).hex(),
        "f001000200" + struct.pack("<d", 10.0).hex(),
    ]
    assert {address for address, _ in wire.data} == {("127.0.0.1", 8090)}


class Talk:
    """A master that counts its requests and reads the answers."""

    def __init__(self, model=None, **changes):
        self.slave, self.wire, self.clock = machine(model, **changes)
        self.sequence = 0

    def ask(self, kind, *fields, origin=MASTER):
        self.sequence += 1
        return self.tell(kind(self.sequence, 1, *fields), origin)

    def tell(self, pdu, origin=MASTER):
        self.slave.receive(pdu if isinstance(pdu, bytes) else encode(pdu), origin)
        return [decode(bytes.fromhex(each)) for each in self.wire.take()]

    def error(self, kind, *fields):
        (answer,) = self.ask(kind, *fields)
        assert isinstance(answer, pdus.Nack)
        return ErrorCode(answer.error)

    def register(self, mode=OpMode.NRT):
        return self.ask(pdus.Register, 0, UUID, mode)

    def configure(self, mode=OpMode.NRT, *, steps=1, more=()):
        self.register(mode)
        for kind, *fields in (
            (pdus.ConfigureScope, 1, 0),
            (pdus.ConfigureInput, 1, 0, 2, 9),
            (pdus.SourceNetworkInformation, 1, 0, SOURCE),
            (pdus.ConfigureScope, 2, 0),
            (pdus.ConfigureOutput, 2, 0, 1),
            (pdus.TargetNetworkInformation, 2, 0, TARGET),
            (pdus.Steps, steps, 2),
            (pdus.TimeRes, 1, 100),
            *more,
        ):
            assert isinstance(self.ask(kind, *fields)[0], pdus.Ack), kind

    def start(self, mode=OpMode.NRT, **how):
        self.configure(mode, **how)
        self.ask(pdus.Prepare, 1)
        self.ask(pdus.Configure, 3)
        self.ask(pdus.Initialize, 5)
        self.ask(pdus.SendOutputs, 7)
        self.ask(pdus.Run, 5, 0)

    def data(self, value, number=0):
        self.tell(pdus.Data(number, 1, struct.pack("<d", value)))

    @property
    def outputs(self):
        return [struct.unpack("<d", content[5:])[0] for _, content in self.wire.data]


def test_steps_outside_of_real_time_are_those_that_were_asked_for():
    talk = Talk()
    talk.start()
    for number, value in enumerate((1.0, 2.0)):
        talk.data(value, number)
        states = [a.state for a in talk.ask(pdus.DoStep, 10, 3)[1:]]
        assert states == [State.COMPUTING, State.COMPUTED]
        states = [a.state for a in talk.ask(pdus.SendOutputs, 13)[1:]]
        assert states == [State.SENDING_D, State.SYNCHRONIZED]  # from where it came
    assert talk.outputs == pytest.approx([10.0, 10.0 + 0.03, 10.0 + 0.09])


def test_an_initialisation_is_repeated_with_other_inputs():
    talk = Talk()
    talk.configure()
    talk.ask(pdus.Prepare, 1)
    talk.ask(pdus.Configure, 3)
    for number, value in enumerate((3.0, 4.0)):
        talk.data(value, number)
        talk.ask(pdus.Initialize, 5)
        talk.ask(pdus.SendOutputs, 7)
    assert talk.outputs == [3.0, 4.0]


def test_parameters_are_set_and_tuned():
    bias = struct.pack("<d", 5.0)
    talk = Talk()
    more = (
        (pdus.SetParameter, 3, 9, struct.pack("<d", 2.0)),
        (pdus.TunableParameter, 7, 0, 4, 9),
        (pdus.ParameterNetworkInformation, 7, 0, SOURCE),
    )
    talk.start(more=more)
    talk.data(0.0)
    talk.tell(pdus.ParameterData(0, 7, bias))
    talk.ask(pdus.DoStep, 10, 10)
    talk.ask(pdus.SendOutputs, 13)
    assert talk.outputs[-1] == pytest.approx(10.0 + 2.0 * 5.0 * 0.1)


def test_what_is_not_for_a_slave_is_dropped():
    talk = Talk()
    assert talk.tell(b"") == talk.tell(b"\x80\0") == talk.tell(bytes.fromhex("b0010001")) == []
    assert talk.tell(pdus.AskState(0, 0)) == []  # 0 is the master
    (found,) = talk.tell(pdus.AskState(9, 44))
    assert found == pdus.StateAck(9, 44, State.ALIVE)
    talk.register()
    assert talk.ask(pdus.AskState, origin=OTHER) == []
    talk.sequence -= 1
    assert talk.tell(pdus.AskState(talk.sequence + 1, 2)) == []


def test_a_wrong_sequence_is_refused_before_anything_else_and_counts_nothing():
    talk = Talk()
    talk.register()
    assert talk.tell(pdus.DoStep(7, 1, 99, 0)) == [pdus.Nack(7, 1, 2, 0x2013)]
    assert isinstance(talk.tell(pdus.AskState(2, 1))[0], pdus.StateAck)
    slave = talk.slave
    slave._last = 65535
    assert isinstance(talk.tell(pdus.AskState(0, 1))[0], pdus.StateAck)  # it begins again


REFUSALS = [
    ("register", (1, UUID, 2), "INVALID_STATE_ID"),
    ("register", (0, b"x" * 16, 2), "INVALID_UUID"),
    ("register", (0, b"x" * 16, 9), "INVALID_UUID"),
    ("register", (0, UUID, 9), "INVALID_OP_MODE"),
    ("register", (0, UUID, 2, 2, 7), "INVALID_MAJOR_VERSION"),
    ("register", (0, UUID, 2, 1, 1), "INVALID_MINOR_VERSION"),
]


@pytest.mark.parametrize(("_", "fields", "name"), REFUSALS)
def test_a_registration_is_refused(_, fields, name):
    talk = Talk()
    assert talk.error(pdus.Register, *fields).name == name
    assert talk.slave.state is State.ALIVE


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        (pdus.TimeRes, (1, 7), "INVALID_TIME_RESOLUTION"),
        (pdus.TimeRes, (0, 100), "INVALID_TIME_RESOLUTION"),
        (pdus.Steps, (0, 2), "INVALID_STEPS"),
        (pdus.ConfigureInput, (1, 0, 77, 99), "INVALID_VALUE_REFERENCE"),
        (pdus.ConfigureInput, (1, 0, 1, 9), "INVALID_VALUE_REFERENCE"),
        (pdus.ConfigureInput, (1, 0, 2, 7), "INVALID_SOURCE_DATA_TYPE"),
        (pdus.ConfigureInput, (1, 0, 2, 99), "INVALID_SOURCE_DATA_TYPE"),
        (pdus.ConfigureOutput, (1, 0, 2), "INVALID_VALUE_REFERENCE"),
        (pdus.TargetNetworkInformation, (2, 4, TARGET), "INVALID_TRANSPORT_PROTOCOL"),
        (pdus.TargetNetworkInformation, (2, 3, b""), "INVALID_TRANSPORT_PROTOCOL"),
        (
            pdus.SourceNetworkInformation,
            (2, 0, pdus.place_of("127.0.0.1", 0)),
            "INVALID_NETWORK_INFORMATION",
        ),
        (pdus.SetParameter, (2, 9, b""), "INVALID_VALUE_REFERENCE"),
        (pdus.SetParameter, (3, 10, b""), "INVALID_SOURCE_DATA_TYPE"),
        (pdus.SetParameter, (3, 9, b"1234"), "INVALID_PAYLOAD"),
        (pdus.SetParameter, (3, 9, struct.pack("<d", float("nan"))), "INVALID_PAYLOAD"),
        (pdus.SetParameter, (5, 10, b"\5\0\0\0abcde"), "INVALID_PAYLOAD"),
        (pdus.TunableParameter, (7, 0, 3, 9), "INVALID_VALUE_REFERENCE"),
        (pdus.Logging, (9, 0, 1), "INVALID_LOG_CATEGORY"),
        (pdus.Logging, (0, 5, 1), "INVALID_LOG_LEVEL"),
        (pdus.Logging, (0, 0, 3), "INVALID_LOG_MODE"),
        (pdus.ConfigureScope, (1, 3), "INVALID_SCOPE"),
        (pdus.AskLog, (9, 1), "INVALID_LOG_CATEGORY"),
        (pdus.AskError, (), "PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE"),
        (pdus.Register, (1, UUID, 2), "PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE"),
        (pdus.Initialize, (1,), "PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE"),
        (pdus.Prepare, (3,), "INVALID_STATE_ID"),
    ],
)
def test_a_request_is_refused_in_the_configuration(kind, fields, name):
    talk = Talk()
    talk.register()
    assert talk.error(kind, *fields).name == name
    assert isinstance(talk.ask(pdus.AskState)[0], pdus.StateAck)  # its number counts all the same


def test_support_comes_before_length_and_length_before_state():
    few = Capabilities(accept_config_pdus=True)
    talk = Talk(capabilities=few, templates=())
    talk.register(OpMode.SRT)
    short = [(0x07, "NOT_SUPPORTED_PDU"), (0x0A, "NOT_SUPPORTED_PDU"), (0x2A, "NOT_SUPPORTED_PDU")]
    for kind, name in (*short, (0x82, "NOT_SUPPORTED_PDU"), (0x05, "INVALID_LENGTH")):
        talk.sequence += 1
        (answer,) = talk.tell(struct.pack("<BHB", kind, talk.sequence, 1))
        assert ErrorCode(answer.error).name == name
    talk = Talk(capabilities=Capabilities())
    talk.register()
    assert talk.error(pdus.ConfigureScope, 1, 0).name == "NOT_SUPPORTED_PDU"


def test_what_is_missing_is_told_in_its_order():
    talk = Talk(resolutions=(Resolution(1, 100, False),))
    talk.register(OpMode.SRT)
    steps = [
        ("GAP_INPUT_POS", [(pdus.ConfigureInput, 1, 1, 2, 9), (pdus.ConfigureOutput, 2, 1, 1)]),
        ("GAP_OUTPUT_POS", [(pdus.ConfigureInput, 1, 0, 2, 9)]),
        (
            "GAP_TUNABLE_POS",
            [(pdus.ConfigureOutput, 2, 0, 1), (pdus.TunableParameter, 7, 1, 4, 9)],
        ),
        ("NW_INFO_INPUT", [(pdus.TunableParameter, 7, 0, 4, 9)]),
        ("NW_INFO_OUTPUT", [(pdus.SourceNetworkInformation, 1, 0, SOURCE)]),
        ("NW_INFO_TUNABLE", [(pdus.TargetNetworkInformation, 2, 0, TARGET)]),
        ("STEPS", [(pdus.ParameterNetworkInformation, 7, 0, SOURCE)]),
        ("TIME_RESOLUTION", [(pdus.Steps, 5, 2)]),
        ("SCOPE", [(pdus.TimeRes, 1, 100)]),
    ]
    for name, requests in steps:
        for kind, *fields in requests:
            assert isinstance(talk.ask(kind, *fields)[0], pdus.Ack)
        assert talk.error(pdus.Prepare, 1).name == f"INCOMPLETE_CONFIG_{name}"
    talk.ask(pdus.Clear)
    assert talk.error(pdus.Prepare, 1).name == "INCOMPLETE_CONFIG_TIME_RESOLUTION"  # again


def test_steps_that_are_not_allowed():
    talk = Talk(capabilities=Capabilities(True, True, False))
    talk.start()
    assert talk.error(pdus.DoStep, 10, 0).name == "INVALID_STEPS"
    assert talk.error(pdus.DoStep, 10, 11).name == "INVALID_STEPS"
    talk.ask(pdus.DoStep, 10, 2)
    talk.ask(pdus.SendOutputs, 13)
    assert talk.error(pdus.DoStep, 10, 3).name == "NOT_SUPPORTED_VARIABLE_STEPS"


def test_a_start_in_the_past_is_refused_in_real_time_only():
    talk = Talk()
    talk.configure(OpMode.SRT)
    talk.ask(pdus.Prepare, 1)
    talk.ask(pdus.Configure, 3)
    assert talk.error(pdus.Run, 5, 1_600_000_000).name == "INVALID_START_TIME"
    assert talk.error(pdus.Run, 5, -1).name == "INVALID_START_TIME"
    answers = talk.ask(pdus.Run, 5, 1_700_000_002)
    assert [a.state for a in answers[1:]] == [State.SYNCHRONIZING]  # until the time has come
    assert talk.slave.due_ns == 2 * 10**9
    talk.clock.ns = 2 * 10**9
    talk.slave.tick()
    assert talk.slave.state is State.SYNCHRONIZED


def test_outputs_leave_at_their_steps_with_inputs_held_over_each():
    talk = Talk()
    talk.start(OpMode.SRT, steps=2)  # of 10 ms each
    first = len(talk.outputs)
    for number in range(1, 4):
        talk.data(float(number), number)
        talk.clock.ns = talk.slave.due_ns
        talk.slave.tick()
    # The first step has the start value: the input came after it had begun.
    assert talk.outputs[first - 1 :] == pytest.approx([10.0, 10.2, 10.22, 10.26])
    assert talk.slave.late == 0


class Slow(Integrator):
    """Takes longer than it may in the third step."""

    def step(self, begin_ns, end_ns):
        super().step(begin_ns, end_ns)
        if begin_ns >= 20_000_000:
            self.clock.ns += 11_000_000


@pytest.mark.parametrize("mode", [OpMode.SRT, OpMode.HRT])
def test_a_step_that_is_late_ends_hard_real_time_only(mode):
    model = Slow()
    talk = Talk(model)
    model.clock = talk.clock
    talk.start(mode)
    for _ in range(4):
        if talk.slave.due_ns is not None:
            talk.clock.ns = max(talk.slave.due_ns, talk.clock.ns)
            talk.slave.tick()
    is_hard = mode is OpMode.HRT
    assert talk.slave.state is (State.ERRORRESOLVED if is_hard else State.SYNCHRONIZED)
    assert talk.slave.late >= 1
    if is_hard:
        assert "step 3 was computed 1 ms too late" in talk.slave.reason
        assert talk.slave.error is ErrorCode.PROTOCOL_ERROR_GENERIC  # there is none for time


def test_a_model_that_fails_leads_to_the_error_superstate_and_back():
    model = Integrator(fails_at_s=0.015)
    talk = Talk(model)
    talk.start(more=((pdus.Logging, 0, 4, 1),))
    talk.ask(pdus.DoStep, 10, 1)
    talk.ask(pdus.SendOutputs, 13)
    states = [a.state for a in talk.ask(pdus.DoStep, 10, 1)[1:]]
    assert states == [State.COMPUTING, State.ERRORHANDLING, State.ERRORRESOLVED]
    assert talk.ask(pdus.AskError)[0].error == ErrorCode.PROTOCOL_ERROR_GENERIC
    (entries,) = talk.ask(pdus.AskLog, 0, 5)
    assert entries.entries[9 + 4 :] == b"the integrator broke"
    assert talk.ask(pdus.AskLog, 0, 5)[0].entries == b""  # it was picked up
    assert model.log[-1] == "close"
    assert [type(a) for a in talk.ask(pdus.Reset, 18)] == [pdus.Ack, pdus.StateChanged]
    assert talk.slave.error is ErrorCode.NONE
    assert isinstance(talk.ask(pdus.TimeRes, 1, 100)[0], pdus.Ack)


def test_a_log_entry_is_told_at_once_where_that_was_chosen():
    talk = Talk(Integrator(fails_at_s=0.0))
    talk.start(more=((pdus.Logging, 1, 0, 2),))
    found = [a for a in talk.ask(pdus.DoStep, 10, 1) if isinstance(a, pdus.LogNotification)]
    assert [(each.template, each.arguments[4:]) for each in found] == [(1, b"the integrator broke")]


def test_a_port_that_cannot_be_opened_is_an_error_of_the_slave():
    talk = Talk()
    talk.configure(more=((pdus.SourceNetworkInformation, 1, 0, pdus.place_of("127.0.0.1", 1)),))
    talk.ask(pdus.Prepare, 1)
    assert (talk.slave.state, talk.slave.reason) == (
        State.ERRORRESOLVED,
        "network: Permission denied",
    )


@pytest.mark.parametrize(
    ("pdu", "state"),
    [
        (pdus.Data(1, 1, struct.pack("<d", 1.0)), State.SYNCHRONIZED),
        (pdus.Data(1, 9, struct.pack("<d", 1.0)), State.SYNCHRONIZED),
        (pdus.Data(1, 1, b"1234567"), State.SYNCHRONIZED),
        (pdus.Data(1, 1, struct.pack("<d", float("inf"))), State.SYNCHRONIZED),
        (pdus.Data(0, 1, struct.pack("<d", 999.0)), State.SYNCHRONIZED),  # an old one
        (pdus.Data(1, 1, struct.pack("<d", 999.0)), State.ERRORRESOLVED),
    ],
)
def test_data_that_cannot_be_used_are_dropped_and_limits_are_kept(pdu, state):
    talk = Talk()
    talk.start()
    talk.data(1.0, 0)
    talk.tell(pdu)
    assert talk.slave.state is state
    if state is State.ERRORRESOLVED:
        assert talk.slave.error is ErrorCode.PROTOCOL_ERROR_PROPERTY_VIOLATED
        assert "a: 999.0 is beyond its limits" in talk.slave.reason


def test_more_lost_data_than_an_input_can_miss():
    talk = Talk(variables=(OUTPUT, replace(INPUT, max_missed=2), GAIN))
    talk.start()
    for number in (65534, 1, 2):  # two are missed where the counter begins again
        talk.data(1.0, number)
        assert talk.slave.state is State.SYNCHRONIZED
    talk.data(1.0, 6)
    assert talk.slave.reason == "a: 3 data PDUs were missed; at most 2"


def test_scopes_are_kept():
    talk = Talk()
    talk.start(more=((pdus.ConfigureScope, 2, 2), (pdus.ConfigureScope, 1, 1)))
    assert talk.outputs == []  # not in the initialisation
    talk.data(5.0)
    talk.ask(pdus.DoStep, 10, 1)
    talk.ask(pdus.SendOutputs, 13)
    assert talk.outputs == pytest.approx([10.1])  # the input came when it was not of the scope


def beating(**changes):
    can = Capabilities(True, True, True, True)
    return Talk(capabilities=can, heartbeat=(1, 2), **changes)


def test_a_master_that_is_silent_is_noticed():
    talk = beating()
    assert talk.slave.due_ns is None  # nobody is listened for yet
    talk.start()
    for _ in range(4):
        talk.clock.ns += 400_000_000
        talk.ask(pdus.AskState)
        talk.slave.tick()
    assert talk.slave.state is State.SYNCHRONIZED
    talk.clock.ns = talk.slave.due_ns + 1
    talk.slave.tick()
    assert talk.slave.state is State.ERRORRESOLVED
    assert talk.slave.error is ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED
    assert talk.slave.due_ns is not None
    talk.clock.ns = talk.slave.due_ns + 1
    talk.slave.tick()
    assert talk.slave.state is State.ALIVE  # another master may take it


def test_a_master_that_hangs_up_leaves_the_slave_free():
    talk = Talk()
    talk.start()
    talk.slave.lose(OTHER)
    assert talk.slave.state is State.SYNCHRONIZED
    talk.slave.lose(MASTER)
    assert (talk.slave.state, talk.slave.master) == (State.ALIVE, None)
    talk.wire.take()
    assert isinstance(talk.ask(pdus.Register, 0, UUID, 2, origin=OTHER)[0], pdus.Ack)


def test_a_slave_that_is_switched_off_says_that_it_stopped():
    talk = Talk()
    talk.start()
    talk.slave.exit()
    states = [decode(bytes.fromhex(each)).state for each in talk.wire.take()]
    assert states == [State.STOPPING, State.STOPPED]


@pytest.mark.parametrize("state", ["configured", "synchronized"])
def test_a_run_is_stopped_from_anywhere(state):
    talk = Talk()
    if state == "configured":
        talk.configure()
        talk.ask(pdus.Prepare, 1)
        talk.ask(pdus.Configure, 3)
    else:
        talk.start()
    talk.ask(pdus.Stop, int(talk.slave.state))
    assert (talk.slave.state, talk.slave.runs) == (State.STOPPED, 1)
    talk.data(1.0)  # received, and not considered
    talk.ask(pdus.Deregister, 16)
    assert talk.slave.state is State.ALIVE


def test_steps_in_time_do_not_drift():
    pacing = Pacing((1, 3), (4, 6), 100, done=2_999_999)
    assert pacing.stride == 2
    assert pacing.due_ns == 100 + 2_000_000 * 10**9
    assert time_ns((1, 3), 1) == 333_333_333
    assert Pacing((1, 1000), (), 0).stride == 1


def test_error_codes_have_words():
    assert error_text(0x2011).startswith("INVALID_UUID (0x2011): its description is of another")
    assert error_text(0x5002) == "error 0x5002 (of the transport protocol)"
    assert error_text(0x0666) == "error 0x0666 (unknown)"
    assert StepChoice(3).takes(3)
    assert not StepChoice(3).takes(1)
