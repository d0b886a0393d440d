"""The process that runs rumoca: ``python -m ..child CHANNEL BYTES``.

It answers questions until its channel closes. A question and an answer are JSON. A class that
rumoca rejects is an answer, as is a panic of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import rumoca

from orchestrator.core import operating_system

Json = Any
#: How names of files that rumoca has completed on Windows begin in JSON, and how they did before.
_COMPLETED = ((r"\\\\?\\UNC\\", r"\\\\"), (r"\\\\?\\", ""))


class _Server:
    def __init__(self) -> None:
        self._number = -1
        self._session = rumoca.Session(roots=[])

    def answer(self, question: Mapping[str, Json]) -> str:
        """The answer, as JSON."""
        try:
            if "checked" in question:
                problems = rumoca.validate_source(question["checked"])[:1]
                return json.dumps({"found": [problem.message for problem in problems]})
            return _answer_text(self._loaded(question), is_complete=question["whole"])
        except rumoca.RumocaError as error:
            return json.dumps({"refused": str(error)})
        except BaseException as error:
            if type(error).__module__ != "pyo3_runtime":
                raise
            return json.dumps(
                {"panic": str(error)}
            )  # of the Rust code; it is not even an Exception

    def _loaded(self, question: Mapping[str, Json]) -> Any:
        if question["session"] != self._number:
            roots = list(map(operating_system.verbatim, question["roots"]))
            self._session = rumoca.Session(roots=roots)
            self._number = question["session"]
        if "file" in question:
            file = operating_system.verbatim(question["file"])
            return self._session.load(file, model=question["model"])
        return self._session.loads(question["text"], model=question["model"])


def _answer_text(model: Any, *, is_complete: bool) -> str:
    flat = model.to_json("flat")
    if not is_complete:
        return f'{{"flat": {flat}}}'
    files = json.dumps(model.to_dict("dae")["source_map"]["files"])
    suspected = json.dumps([info.name for info in model.parameters if info.kind == "structural"])
    return f'{{"flat": {flat}, "files": {files}, "suspected": {suspected}}}'


def _as_asked(answer: str) -> str:
    """Name files as the question did."""
    if operating_system.verbatim("/") != "/":
        for completed, plain in _COMPLETED:
            answer = answer.replace(completed, plain)
    return answer


def main(channel: str, memory: int) -> None:
    """Answer until the parent closes its end."""
    operating_system.limit_memory(memory)
    server = _Server()
    with Connection(operating_system.taken(channel).detach()) as connection:
        while True:
            try:
                question = json.loads(connection.recv_bytes())
            except EOFError:
                return
            connection.send_bytes(_as_asked(server.answer(question)).encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
