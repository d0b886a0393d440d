"""A parser that is made once for each grammar, and parses each text once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


def kept_parser(make: Callable[..., Any]) -> Callable[..., Any]:
    """Let a class of parsers, lark's, keep what it makes, and that what it has parsed.

    The trees are shared: for those who only ask whether a text is of the grammar.
    """

    @cache
    def parser(*arguments: Any, **options: Any) -> Any:
        made = make(*arguments, **options)
        made.parse = cache(made.parse)
        return made

    return parser
