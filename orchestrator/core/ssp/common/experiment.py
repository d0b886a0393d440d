"""The default experiment, and the annotation that says how the master steps.

::

    <ssc:Annotation type="io.softdock.master">
      <sd:Master algorithm="gauss-seidel" step="0.001" earlyReturn="true">
        <sd:Option name="tolerance" value="1e-06"/>
        <sd:Rate component="thermal" every="10"/>
      </sd:Master>
    </ssc:Annotation>

The value of an option is JSON: a number, ``true``, ``false`` or a text in quotes.
"""

from __future__ import annotations

import json
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.annotations import (
    MASTER_TYPE,
    annotate,
    empty,
    only,
    own,
    seconds_text,
)
from orchestrator.core.ssp.common.lexical import attribute, boolean, boolean_text, integer
from orchestrator.core.ssp.common.names import add, children, tag
from orchestrator.core.system import DefaultExperiment, nanoseconds
from orchestrator.core.system.step_length import StepLength, step_length, step_text

_MOST_STEPS: Final = 10**9


def add_experiment(root: etree._Element, experiment: DefaultExperiment) -> None:
    """Append an ssd:DefaultExperiment, unless it says nothing."""
    if experiment == DefaultExperiment():
        return
    element = add(root, "ssd:DefaultExperiment", startTime=seconds_text(experiment.start_ns))
    if experiment.stop_ns is not None:
        element.set("stopTime", seconds_text(experiment.stop_ns))
    attributes = {}
    if experiment.algorithm is not None:
        attributes["algorithm"] = experiment.algorithm
    if experiment.step_ns is not None:
        is_whole = not isinstance(experiment.step_ns, StepLength)
        text = seconds_text if is_whole else step_text
        attributes["step"] = text(experiment.step_ns)
    if experiment.early_return is not None:
        attributes["earlyReturn"] = boolean_text(experiment.early_return)
    if not (attributes or experiment.algorithm_options or experiment.rates):
        return
    master = add(annotate(element, MASTER_TYPE), "sd:Master", **attributes)
    for name, value in experiment.algorithm_options.items():
        add(master, "sd:Option", name=name, value=json.dumps(value, ensure_ascii=False))
    for name, every in experiment.rates.items():
        add(master, "sd:Rate", component=name, every=str(every))


def read_experiment(element: etree._Element) -> DefaultExperiment:
    """Read an ssd:DefaultExperiment.

    Raises
    ------
    SspError, DescriptionError
        If a time is not a whole number of nanoseconds, or the annotation is not as it is written.
    """
    stop = element.get("stopTime")
    start_ns = nanoseconds(element.get("startTime", "0"), "startTime")
    stop_ns = None if stop is None else nanoseconds(stop, "stopTime")
    master = own(element, MASTER_TYPE, "sd:Master")
    if master is None:
        return DefaultExperiment(start_ns, stop_ns)
    only(master, ("algorithm", "step", "earlyReturn"))
    step = master.get("step")
    options: dict[str, float | bool | str] = {}
    rates: dict[str, int] = {}
    for inner in children(master):
        empty(inner)
        if tag(inner) == "sd:Option":
            only(inner, ("name", "value"))
            _once(options, inner, "name")
            options[inner.get("name", "")] = _option(inner.get("value", ""))
        elif tag(inner) == "sd:Rate":
            only(inner, ("component", "every"))
            _once(rates, inner, "component")
            every = attribute(inner, "every", integer, 0)
            if not 1 <= every <= _MOST_STEPS:
                raise SspError(f"sd:Rate: expected every as a whole number >= 1, found {every}")
            rates[inner.get("component", "")] = every
        else:
            raise SspError(f"sd:Master: expected sd:Option and sd:Rate in it, found {tag(inner)}")
    return DefaultExperiment(
        start_ns,
        stop_ns,
        None if step is None else step_length(step, "step"),
        master.get("algorithm"),
        options,
        rates,
        attribute(master, "earlyReturn", boolean, default=False)
        if "earlyReturn" in master.attrib
        else None,
    )


def _once(known: object, element: etree._Element, name: str) -> None:
    said = element.get(name)
    if not said or said in known:  # type: ignore[operator] # a dictionary
        raise SspError(f"{tag(element)}: expected every {name} once, found '{said or ''}'")


def _option(text: str) -> float | bool | str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise SspError(
            f"sd:Option: expected a number, true, false or a text in quotes, found '{text[:60]}'"
        ) from None
    if not isinstance(value, (int, float, bool, str)):
        raise SspError(f"sd:Option: expected a number, truth value or text, found '{text[:60]}'")
    return value
