"""Reading of a system from a system file: what its tables describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from orchestrator.author.tables import (
    CODE,
    Bytes,
    ComponentTable,
    ConnectionTable,
    ConnectorTable,
    Content,
    DelayTable,
    Element,
    NestedTable,
    PowerTable,
    Setting,
    parse,
    validated,
)
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, LoadError, Severity
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.plain_data import toml_file
from orchestrator.core.ssp import read_system
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Component,
    ComponentOptions,
    Connection,
    Connector,
    DefaultExperiment,
    Enumeration,
    PowerPort,
    Source,
    System,
    Value,
    nanoseconds,
)
from orchestrator.core.system.connecting import connection_of
from orchestrator.core.system.delay import delay_of_data
from orchestrator.core.system.experiment import tuning_limits
from orchestrator.core.system.line_attributes import LineSettings
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.time import step_length

#: Between the two ends of a connection.
ARROW = " -> "


def power_ports(
    tables: Mapping[str, PowerTable], connectors: Mapping[str, Connector], owner: str
) -> dict[str, PowerPort]:
    """Make the power ports of a component or system; connectors that are declared are checked."""
    ports = {}
    for name, table in tables.items():
        port = PowerPort.of(name, **dict(table))
        missing = [
            connector for connector in port.connectors if connectors and connector not in connectors
        ]
        if missing:
            raise unknown_name_error(
                f"power port '{name}': {owner}", "connector", missing[0], connectors
            )
        ports[name] = port
    return ports


def connectors_of(tables: Mapping[str, ConnectorTable]) -> dict[str, Connector]:
    """Make declared connectors."""
    return {name: _connector(name, table) for name, table in tables.items()}


def _connector(name: str, table: ConnectorTable) -> Connector:
    unit, enumeration = table.unit_definition, table.enumeration
    return Connector(
        name,
        table.causality,
        table.type,
        table.unit,
        table.shape,
        table.description,
        None if table.start is None else _value(table.start),
        table.variability,
        None if enumeration is None else Enumeration(enumeration.name, enumeration.items),
        None
        if unit is None
        else BaseUnit(
            {str(name): power for name, power in unit.exponents.items()}, unit.factor, unit.offset
        ),
    )


def values_of(settings: Mapping[str, Setting]) -> dict[str, Value]:
    """Make values of settings: of arrays tuples, of hexadecimal digits bytes."""
    return {name: _value(setting) for name, setting in settings.items()}


def _value(setting: Setting) -> Value:
    if isinstance(setting, tuple):
        return tuple(_element(element) for element in setting)  # type: ignore[return-value]
    return _element(setting)


def _element(element: Element) -> bool | int | float | str | bytes:
    if not isinstance(element, Bytes):
        return element
    try:
        return bytes.fromhex(element.hex)
    except ValueError:
        raise DescriptionError(f"hex: expected pairs of digits, found {element.hex!r}") from None


def _connection(key: str, table: ConnectionTable, folder: Path) -> Connection:
    """Make the connection of a key such as ``"a.out -> b.in"``."""
    source, arrow, target = key.partition(ARROW)
    if not arrow or ARROW in target:
        raise DescriptionError("expected 'component.connector -> component.connector'")
    settings = cast("LineSettings", dict(table))
    if isinstance(table.delay, DelayTable):
        settings["delay"] = delay_of_data(table.delay.model_dump(exclude_unset=True), folder)
    if table.mapping is not None:
        settings["mapping"] = dict(table.mapping)
    return connection_of(source.strip(), target.strip(), settings)


#: Included by one file, through others as well.
MOST_FILES = 1000
_USUAL = ComponentOptions()


@reads("expected a system file")
def read_toml(path: str | Path) -> System:
    """Read a system from a system file.

    Sources and included files are relative to the file's folder. Connectors need not be declared:
    they come from the sources, when the system is resolved.

    Raises
    ------
    LoadError
        If the file or an included one is missing or damaged.
    DescriptionError
        If keys are unknown or missing or values are wrong; all of a file together, each with file
        and key.
    """
    return _TomlReader(Path(path), (), []).system(toml_file(Path(path)))


def parse_toml(text: str, path: Path) -> System:
    """Read a system from the text of a system file that stands, or would, at some path."""
    return _TomlReader(path, (), []).system(parse(text, path))


class _TomlReader:
    def __init__(self, path: Path, above: tuple[Path, ...], every: list[Path]) -> None:
        self._path = path
        self._every = every
        every.append(path)
        self._above = (*above, path.resolve())
        self._problems: list[Diagnostic] = []
        self._sources: dict[str, Source] = {}

    def system(self, content: Mapping[str, Any]) -> System:
        file = validated(content, str(self._path))
        experiment = DefaultExperiment()
        with self._at("experiment"):
            table = file.experiment
            experiment = DefaultExperiment(
                nanoseconds(table.start, "start"),
                None if table.stop is None else nanoseconds(table.stop, "stop"),
                None if table.step is None else step_length(table.step, "step"),
                table.algorithm,
                table.algorithm_options,
                table.rates,
                table.early_return,
                {
                    n: tuning_limits(n, limits.minimum, limits.maximum)
                    for n, limits in file.tuning.items()
                },
            )
        system = System(
            file.system.name, description=file.system.description, experiment=experiment
        )
        system = self._filled(system, file, "")
        if self._problems:
            raise DescriptionError(*self._problems)
        return system

    @contextmanager
    def _at(self, key: str) -> Iterator[None]:
        try:
            yield
        except (DescriptionError, LoadError) as error:
            self._problems += (
                Diagnostic(
                    CODE,
                    Severity.ERROR,
                    f"'{key}': {diagnostic}",
                    str(self._path),
                    key=key,
                    hint=diagnostic.hint,
                )
                for diagnostic in error.diagnostics
            )

    def _filled(self, system: System, table: Content, prefix: str) -> System:
        components: dict[str, Component] = {}
        for name, component_table in table.component.items():
            with self._at(f"{prefix}{toml_key('component', name)}"):
                components[name] = self._component(name, component_table)
        nested: dict[str, System] = {}
        for name, inner in table.nested.items():
            with self._at(f"{prefix}{toml_key('nested', name)}"):
                nested[name] = self._nested(name, inner, f"{prefix}{toml_key('nested', name)}.")
        lines: list[Connection] = []
        for key, line in table.connections.items():
            with self._at(f"{prefix}{toml_key('connections', key)}"):
                lines.append(_connection(key, line, self._path.parent))
        connectors, power = connectors_of(table.connectors), {}
        with self._at(f"{prefix}power"):
            power = power_ports(table.power, connectors, f"system '{system.name}'")
        return replace(
            system,
            components=components,
            systems=nested,
            connections=tuple(lines),
            connectors=connectors,
            values=values_of(table.values),
            power_ports=power,
            buses={
                name: Bus(name, bus.dictionary, connectors_of(bus.connectors))
                for name, bus in table.bus.items()
            },
        )

    def _component(self, name: str, table: ComponentTable) -> Component:
        connectors = connectors_of(table.connectors)
        return Component(
            name,
            self._source(table.source),
            connectors,
            values=values_of(table.values),
            options=_USUAL.changed(table.options),
            power_ports=power_ports(table.power, connectors, f"component '{name}'"),
        )

    def _source(self, text: str) -> Source:
        if text not in self._sources:
            self._sources[text] = Source.parse(text).resolved(self._path.parent)
        return self._sources[text]

    def _nested(self, name: str, table: NestedTable, prefix: str) -> System:
        if table.include is None:
            if table.variant is not None or table.set:
                raise DescriptionError("'variant' and 'set' go with 'include', which is missing")
            return self._filled(System(name, description=table.description or ""), table, prefix)
        extra = table.model_fields_set - {"include", "variant", "set", "description"}
        if extra:
            raise DescriptionError(
                f"is included from '{table.include}', so it has no {', '.join(sorted(extra))} here;"
                " change that file, or set values by 'set'"
            )
        inner = self._included(self._path.parent / table.include, table.variant)
        inner = replace(inner, name=name, experiment=DefaultExperiment())
        if table.description is not None:
            inner = replace(inner, description=table.description)
        for path, value in values_of(table.set).items():
            inner = inner.set(path, value)
        return inner

    def _included(self, path: Path, variant: str | None) -> System:
        if path.resolve() in self._above:
            ring = [*self._above[self._above.index(path.resolve()) :], path.resolve()]
            raise DescriptionError(f"files include each other: {' -> '.join(map(str, ring))}")
        if len(self._every) > MOST_FILES:
            raise DescriptionError(f"expected at most {MOST_FILES} included files")
        if path.suffix != ".toml":
            return read_system(path, variant)
        if variant is not None:
            raise DescriptionError.in_file(path, "a .toml file has no variants")
        return _TomlReader(path, self._above, self._every).system(toml_file(path))
