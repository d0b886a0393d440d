"""One model of the corpus, and the pieces that many of them share."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """Declarations and equations of ``model M``, and what comes of it.

    Attributes
    ----------
    body, before
        Text of model M, and the classes before it.
    expected
        Values at the end time, in closed form.
    compare
        Variables that are compared with rumoca's own simulation instead, to 1e-4 since its default
        solver is asked for 1e-6 at each step.
    refused
        Pattern of the message of a build that must not succeed.
    fails
        Pattern of the message of every run that must not succeed.
    warns
        Pattern of the warning that the build gives; without one it must give none.
    start
        Values set before initialisation.
    rk4
        Also built with the fixed-step solver.
    tolerance
        Relative and absolute; the solvers are asked for a hundredth of it.
    """

    body: str
    expected: dict[str, float] = field(default_factory=dict)
    before: str = ""
    compare: tuple[str, ...] = ()
    refused: str = ""
    fails: str = ""
    warns: str = ""
    start: dict[str, float] = field(default_factory=dict)
    rk4: bool = False
    stop: float = 1.0
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        if not (self.expected or self.compare or self.refused or self.fails):
            raise ValueError(f"this model is only built, so its test cannot fail: {self.body}")

    @property
    def text(self) -> str:
        """The Modelica file."""
        return f"{self.before}\nmodel M\n{self.body}\nend M;"


X = "Real x(start=1, fixed=true);\n"
LAG = "equation\nder(x) = -x;\n"
FALL = "Real h(start=1, fixed=true), v(start=0, fixed=true);\nequation\nder(h) = v; der(v) = -2;\n"
COUNT = "Integer n(start=0);\nequation\n"
STEP = "Real x(start=0, fixed=true);\nequation\nder(x) = "
PARTS = (
    "connector P Real s; flow Real f; end P;\n"
    "model Ground P p; equation p.s = 0; end Ground;\n"
    "model Mass P p; parameter Real m = 1; Real v(start=1, fixed=true);"
    " equation v = der(p.s); m*der(v) = p.f; end Mass;\n"
    "model Spring P a; P b; parameter Real k = 1;"
    " equation a.f + b.f = 0; b.f = k*(b.s - a.s); end Spring;\n"
)
