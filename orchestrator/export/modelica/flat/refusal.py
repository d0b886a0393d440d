"""The exporter's inner signal that a construct is outside the supported subset."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - it never leaves the room: readers turn it into ModelicaError
    """A Modelica construct that cannot be exported; the reader adds model, equation and line.

    Parameters
    ----------
    construct
        What was met, such as ``delay()``.
    hint
        What the author of the model can do instead.
    """

    def __init__(self, construct: str, hint: str = "") -> None:
        self.construct = construct
        self.hint = hint
        super().__init__(f"{construct}; {hint}" if hint else construct)
