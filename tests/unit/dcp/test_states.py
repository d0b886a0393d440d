"""The table of states: what the standard has, and what the page shows."""

from pathlib import Path

from orchestrator.dcp.identifiers import OpMode, PduType
from orchestrator.dcp.states import (
    NORMAL,
    TRANSITIONS,
    SlaveState,
    StateSignal,
    is_allowed,
    states_page,
    transition,
)

PAGE = Path(__file__).parents[3] / "docs/reference/dcp.md"


def test_the_page_has_the_table():
    assert states_page() in PAGE.read_text(encoding="utf-8")


def test_every_state_is_reached_and_left():
    assert {row.target for row in TRANSITIONS} - {None} == set(SlaveState)
    assert {row.source for row in TRANSITIONS} == set(SlaveState)
    assert len({(row.trigger, row.source) for row in TRANSITIONS}) == len(TRANSITIONS)


def test_an_error_is_possible_in_every_state_of_normal_operation():
    assert [s for s in SlaveState if transition(StateSignal.ERROR, s) is not None] == list(NORMAL)


def test_requests_are_allowed_where_table_63_has_them():
    allowed = {
        PduType.STC_STOP: set(range(0x02, 0x0F)),
        PduType.STC_DEREGISTER: {0x01, 0x10, 0x12},
        PduType.STC_SEND_OUTPUTS: {0x07, 0x0D},
        PduType.STC_DO_STEP: {0x09, 0x0A, 0x0B},  # section 3.2.5.15; the table has RUNNING only
        PduType.INF_STATE: set(SlaveState),
        PduType.INF_ERROR: {0x11, 0x12},
        PduType.INF_LOG: set(range(0x01, 0x13)),
        PduType.CFG_INPUT: {0x01},
        PduType.STC_RESET: {0x10, 0x12},
    }
    for kind, states in allowed.items():
        assert {s for s in SlaveState if is_allowed(kind, s, OpMode.NRT)} == states
    assert not is_allowed(PduType.STC_DO_STEP, SlaveState.RUNNING, OpMode.SRT)
    assert not is_allowed(PduType.STC_STOP, SlaveState.COMPUTED, OpMode.HRT)
