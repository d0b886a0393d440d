"""A source with a resistance, loaded by a resistor or a diode: loops of pure algebra.

The source gives a voltage for a current, the load a current for a voltage.
"""

from __future__ import annotations

import math

import numpy as np
from benchmark_problems.exact import Exact
from benchmark_problems.problem import Problem
from scipy.special import wrightomega

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

SATURATION, THERMAL = 1e-9, 0.025  # A, V


class Supply(Exact):
    """A voltage that rises by ``slope`` a second, behind a resistance."""

    current: float = Input(unit="A")
    voltage: float = Output(unit="V")
    resistance: float = Parameter(unit="Ohm", start=100.0)
    slope: float = Parameter(unit="V/s", start=5.0)
    open_start: float = Parameter(unit="V", start=5.0)
    open_voltage: float = Output(unit="V", depends_on=())

    def begin(self):
        self.open_voltage = self.open_start

    def move(self, h):
        self.open_voltage += self.slope * h
        self.voltage = self.open_voltage - self.resistance * self.current


class Resistor(Exact):
    """Ohm's law."""

    voltage: float = Input(unit="V")
    current: float = Output(unit="A")
    resistance: float = Parameter(unit="Ohm", start=400.0)

    def move(self, h):
        self.current = self.voltage / self.resistance


class Diode(Exact):
    """Shockley's law; above 17.7 V the exponential is beyond all doubles, and Python says so."""

    voltage: float = Input(unit="V")
    current: float = Output(unit="A")

    def move(self, h):
        self.current = SATURATION * math.expm1(self.voltage / THERMAL)


def make(kind=Resistor, **supply):
    """The load first: the loop is then solved for the voltage, in which the diode is tame."""
    return (
        System("resistors")
        .add("load", block(kind))
        .add("supply", block(Supply), **supply)
        .connect("supply.voltage", "load.voltage")
        .connect("load.current", "supply.current")
    )


def divided(times):
    opened = 5.0 + 5.0 * times
    return np.column_stack([opened * 400.0 / 500.0, opened / 500.0])


def lit(times, start=5.0, slope=5.0, resistance=100.0):
    """R i + nVt ln(1 + i / Is) = V, solved by Wright's omega, Lambert's W of an exponential."""
    opened = start + slope * times
    drop = resistance * SATURATION / THERMAL
    logarithm = np.log(drop) + (opened + resistance * SATURATION) / THERMAL
    w = wrightomega(logarithm).real  # w + ln w = logarithm
    current = THERMAL / resistance * w - SATURATION
    return np.column_stack([opened - resistance * current, current])


NAMES = ("supply.voltage", "load.current")
LINEAR = Problem(make, NAMES, divided, 1_000_000_000)
DIODE = Problem(lambda: make(Diode), NAMES, lit, 1_000_000_000)
