"""All models of the corpus: each module of this folder holds a dictionary ``CASES``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from corpus.case import Case

CASES: dict[str, Case] = {}
for _module in pkgutil.iter_modules(__path__):
    for _name, _case in import_module(f"{__name__}.{_module.name}").CASES.items():
        if _name in CASES:
            raise ValueError(f"the corpus has two models named '{_name}'")
        CASES[_name] = _case
