"""Coupling elements: corrections of an undelayed input by what the coupling did before."""

from __future__ import annotations

from enum import StrEnum


class Compensation(StrEnum):
    """How an undelayed line makes up for what holding its signal did in the steps before.

    ``nepce``
        Nearly energy-preserving coupling element: the integral of the signal over a step that the
        target did not get is added to the input of the next step.
    ``corrector``
        As ``nepce``, and the outputs on which the input acts at once are corrected after the step
        by the directional derivatives of the target: a model-based corrector.
    ``energy``
        The energy that the coupling made at a power bond is taken back by this line, its effort or
        its flow.

    References
    ----------
    Benedikt, Watzenig, Hofer: Modelling and analysis of the non-iterative coupling process for
    co-simulation, Math. Comput. Model. Dyn. Syst. 19 (2013); the idea of a model-based corrector,
    Multibody Syst. Dyn. 2022, 10.1007/s11044-022-09822-3; Rodriguez et al.: Energy-based
    monitoring and correction to enhance the accuracy and stability of explicit co-simulation,
    Multibody Syst. Dyn. 55 (2022). What of it is Softdock's own: docs/explanation/compensations.md.
    """

    NEPCE = "nepce"
    CORRECTOR = "corrector"
    ENERGY = "energy"

    @property
    def makes_up_integral(self) -> bool:
        """Whether the mean of the input over a step is not late."""
        return self is not Compensation.ENERGY
