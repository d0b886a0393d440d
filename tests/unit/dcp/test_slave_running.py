"""The machine of a slave while it runs: time, failures, data, silence, and ends."""

import struct
from dataclasses import replace

import pytest
from dcp_slaves import GAIN, INPUT, OUTPUT, Integrator
from dcp_talk import MASTER, OTHER, UUID, Talk

from orchestrator.dcp import pdus
from orchestrator.dcp.description import PduSteps, SlaveCapabilities
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.pdus import decode
from orchestrator.dcp.slave import StepPacing, time_ns
from orchestrator.dcp.states import ErrorCode, SlaveState, error_text


def test_a_start_in_the_past_is_refused_in_real_time_only():
    talk = Talk()
    talk.configure(OpMode.SRT)
    talk.ask(pdus.Prepare, 1)
    talk.ask(pdus.Configure, 3)
    assert talk.error(pdus.Run, 5, 1_600_000_000).name == "INVALID_START_TIME"
    assert talk.error(pdus.Run, 5, -1).name == "INVALID_START_TIME"
    answers = talk.ask(pdus.Run, 5, 1_700_000_002)
    assert [a.state for a in answers[1:]] == [SlaveState.SYNCHRONIZING]  # until the time has come
    assert talk.slave.due_ns == 2 * 10**9
    talk.clock.ns = 2 * 10**9
    talk.slave.tick()
    assert talk.slave.state is SlaveState.SYNCHRONIZED


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
    assert talk.slave.state is (SlaveState.ERRORRESOLVED if is_hard else SlaveState.SYNCHRONIZED)
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
    assert states == [SlaveState.COMPUTING, SlaveState.ERRORHANDLING, SlaveState.ERRORRESOLVED]
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
        SlaveState.ERRORRESOLVED,
        "network: Permission denied",
    )


@pytest.mark.parametrize(
    ("pdu", "state"),
    [
        (pdus.Data(1, 1, struct.pack("<d", 1.0)), SlaveState.SYNCHRONIZED),
        (pdus.Data(1, 9, struct.pack("<d", 1.0)), SlaveState.SYNCHRONIZED),
        (pdus.Data(1, 1, b"1234567"), SlaveState.SYNCHRONIZED),
        (pdus.Data(1, 1, struct.pack("<d", float("inf"))), SlaveState.SYNCHRONIZED),
        (pdus.Data(0, 1, struct.pack("<d", 999.0)), SlaveState.SYNCHRONIZED),  # an old one
        (pdus.Data(1, 1, struct.pack("<d", 999.0)), SlaveState.ERRORRESOLVED),
    ],
)
def test_data_that_cannot_be_used_are_dropped_and_limits_are_kept(pdu, state):
    talk = Talk()
    talk.start()
    talk.data(1.0, 0)
    talk.tell(pdu)
    assert talk.slave.state is state
    if state is SlaveState.ERRORRESOLVED:
        assert talk.slave.error is ErrorCode.PROTOCOL_ERROR_PROPERTY_VIOLATED
        assert "a: 999.0 is beyond its limits" in talk.slave.reason


def test_more_lost_data_than_an_input_can_miss():
    talk = Talk(variables=(OUTPUT, replace(INPUT, max_missed=2), GAIN))
    talk.start()
    for number in (65534, 1, 2):  # two are missed where the counter begins again
        talk.data(1.0, number)
        assert talk.slave.state is SlaveState.SYNCHRONIZED
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
    can = SlaveCapabilities(True, True, True, True)
    return Talk(capabilities=can, heartbeat=(1, 2), **changes)


def test_a_master_that_is_silent_is_noticed():
    talk = beating()
    assert talk.slave.due_ns is None  # nobody is listened for yet
    talk.start()
    for _ in range(4):
        talk.clock.ns += 400_000_000
        talk.ask(pdus.AskState)
        talk.slave.tick()
    assert talk.slave.state is SlaveState.SYNCHRONIZED
    talk.clock.ns = talk.slave.due_ns + 1
    talk.slave.tick()
    assert talk.slave.state is SlaveState.ERRORRESOLVED
    assert talk.slave.error is ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED
    assert talk.slave.due_ns is not None
    talk.clock.ns = talk.slave.due_ns + 1
    talk.slave.tick()
    assert talk.slave.state is SlaveState.ALIVE  # another master may take it


@pytest.mark.parametrize("kind", [pdus.AskState, pdus.Register])
def test_a_master_that_vanished_loses_the_slave_to_the_next(kind):
    """It has no heartbeat; data are a sign of life, too."""
    talk = Talk()
    talk.start()
    fields = (0, UUID, 2) if kind is pdus.Register else ()
    talk.clock.ns += 50 * 10**9
    talk.data(1.0)
    for _ in range(2):
        talk.clock.ns += 30 * 10**9
        assert talk.tell(kind(900, 7, *fields), OTHER) == []  # not the master's
        assert talk.slave.state is SlaveState.SYNCHRONIZED
    talk.clock.ns += 1
    (*_, answer) = talk.tell(kind(900, 7, *fields), OTHER)
    assert (answer.sender, talk.slave.error) == (7, ErrorCode.NONE)
    assert talk.slave.master == (OTHER if fields else None)


def test_data_of_others_than_the_master_are_dropped_and_told_once(caplog):
    talk = Talk()
    talk.start()
    for number in (1, 2):
        talk.tell(pdus.Data(number, 1, struct.pack("<d", 5.0)), OTHER)
    talk.data(1.0)
    talk.ask(pdus.DoStep, 10, 1)
    talk.ask(pdus.SendOutputs, 13)
    assert talk.outputs[-1] == pytest.approx(10.01)  # 5.0 would give 10.05
    assert caplog.text.count("only those of the master are taken") == 1


def test_a_master_that_hangs_up_leaves_the_slave_free():
    talk = Talk()
    talk.start()
    talk.slave.lose(OTHER)
    assert talk.slave.state is SlaveState.SYNCHRONIZED
    talk.slave.lose(MASTER)
    assert (talk.slave.state, talk.slave.master) == (SlaveState.ALIVE, None)
    talk.wire.take()
    assert isinstance(talk.ask(pdus.Register, 0, UUID, 2, origin=OTHER)[0], pdus.Ack)


def test_a_slave_that_is_switched_off_says_that_it_stopped():
    talk = Talk()
    talk.start()
    talk.slave.exit()
    states = [decode(bytes.fromhex(each)).state for each in talk.wire.take()]
    assert states == [SlaveState.STOPPING, SlaveState.STOPPED]


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
    assert (talk.slave.state, talk.slave.runs) == (SlaveState.STOPPED, 1)
    talk.data(1.0)  # received, and not considered
    talk.ask(pdus.Deregister, 16)
    assert talk.slave.state is SlaveState.ALIVE


def test_steps_in_time_do_not_drift():
    pacing = StepPacing((1, 3), (4, 6), 100, done=2_999_999)
    assert pacing.stride == 2
    assert pacing.due_ns == 100 + 2_000_000 * 10**9
    assert time_ns((1, 3), 1) == 333_333_333
    assert StepPacing((1, 1000), (), 0).stride == 1


def test_error_codes_have_words():
    assert error_text(0x2011).startswith("INVALID_UUID (0x2011): its description is of another")
    assert error_text(0x5002) == "error 0x5002 (of the transport protocol)"
    assert error_text(0x0666) == "error 0x0666 (unknown)"
    assert PduSteps(3).takes(3)
    assert not PduSteps(3).takes(1)
