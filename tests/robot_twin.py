"""The file of a twin as a robot and its sensor would have it, for tests of what is done with it."""

from datetime import UTC, datetime

from orchestrator.rig.hardware.twin_file import (
    Dynamics,
    Estimate,
    SignalPair,
    TwinFile,
    Validation,
)


def about(value, half=0.0):
    return Estimate(value=value, low=value - half, high=value + half)


PAIR = SignalPair(
    command="dx",
    response="x",
    command_unit="m",
    response_unit="m",
    provenance="identified",
    delay=about(0.016, 1e-4),
    transit=about(0.004),
    dynamics=Dynamics(order=2, frequency=about(15.0, 0.5), damping=about(0.7, 0.1)),
    gain=about(1.0),
    offset=0.0,
    noise=about(1e-6, 1e-7),
    quantisation=1e-7,
    jitter=about(1e-4),
    sample_rate=about(250.0),
    excitation="prbs",
    samples=500,
    validation=Validation(excitation="step", samples=300, residual=1e-7, fit=0.99),
)
REST = SignalPair(
    response="fz",
    response_unit="N",
    provenance="measured",
    transit=about(0.0005),
    offset=0.1,
    noise=about(0.2),
    quantisation=0.0,
    jitter=about(1e-4),
    sample_rate=about(1000.0),
    samples=500,
)
TWIN = TwinFile(
    software="softdock 0",
    date=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    component="robot",
    device="kuka_rsi",
    settings={"port": 49152, "axes": ["x"], "host": 'a"b'},
    step=0.004,
    confidence=0.95,
    pair=(PAIR, REST),
)
