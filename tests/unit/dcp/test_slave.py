"""The machine of a slave: the golden trace, and refusals in the order of the standard."""

import struct

import pytest
from dcp_slaves import machine
from dcp_talk import MASTER, OTHER, SOURCE, TARGET, UUID, Talk

from orchestrator.dcp import pdus
from orchestrator.dcp.description import Resolution, SlaveCapabilities
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.states import ErrorCode, SlaveState

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
    assert slave.state is SlaveState.ALIVE
    # In SENDING_I and at the first step in real time: data id 2, the first two PDUs of each pass.
    assert [d.hex() for _, d in wire.data[:2]] == [
        "f000000200" + struct.pack("<d", 10.0).hex(),
        "f001000200" + struct.pack("<d", 10.0).hex(),
    ]
    assert {address for address, _ in wire.data} == {("127.0.0.1", 8090)}


def test_steps_outside_of_real_time_are_those_that_were_asked_for():
    talk = Talk()
    talk.start()
    for number, value in enumerate((1.0, 2.0)):
        talk.data(value, number)
        states = [a.state for a in talk.ask(pdus.DoStep, 10, 3)[1:]]
        assert states == [SlaveState.COMPUTING, SlaveState.COMPUTED]
        states = [a.state for a in talk.ask(pdus.SendOutputs, 13)[1:]]
        assert states == [SlaveState.SENDING_D, SlaveState.SYNCHRONIZED]  # from where it came
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
    assert found == pdus.StateAck(9, 44, SlaveState.ALIVE)
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
    assert talk.slave.state is SlaveState.ALIVE


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
    few = SlaveCapabilities(accept_config_pdus=True)
    talk = Talk(capabilities=few, templates=())
    talk.register(OpMode.SRT)
    short = [(0x07, "NOT_SUPPORTED_PDU"), (0x0A, "NOT_SUPPORTED_PDU"), (0x2A, "NOT_SUPPORTED_PDU")]
    for kind, name in (*short, (0x82, "NOT_SUPPORTED_PDU"), (0x05, "INVALID_LENGTH")):
        talk.sequence += 1
        (answer,) = talk.tell(struct.pack("<BHB", kind, talk.sequence, 1))
        assert ErrorCode(answer.error).name == name
    talk = Talk(capabilities=SlaveCapabilities())
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
    talk = Talk(capabilities=SlaveCapabilities(True, True, False))
    talk.start()
    assert talk.error(pdus.DoStep, 10, 0).name == "INVALID_STEPS"
    assert talk.error(pdus.DoStep, 10, 11).name == "INVALID_STEPS"
    talk.ask(pdus.DoStep, 10, 2)
    talk.ask(pdus.SendOutputs, 13)
    assert talk.error(pdus.DoStep, 10, 3).name == "NOT_SUPPORTED_VARIABLE_STEPS"
