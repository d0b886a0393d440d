"""Words of messages: articles, plurals, lists of names, and the name that a user probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: A message has up to this many names in full; of a longer list, such as the variables of an FMU,
#: it has the few that are nearest or first.
MOST_LISTED, FEW_LISTED = 40, 8


def nearest_names(
    name: str, names: Iterable[str], limit: int = 3, cutoff: float = 0.6
) -> list[str]:
    """Return the names that are similar to a name, the nearest first.

    The cutoff is 1 for the same name, 0 for any.
    """
    from difflib import get_close_matches  # heavy, and seldom needed

    return get_close_matches(name, list(names), n=limit, cutoff=cutoff)


def by_nearness(name: str, names: Iterable[str]) -> list[str]:
    """Return all names, the nearest first."""
    from difflib import SequenceMatcher  # heavy, and seldom needed

    return sorted(names, key=lambda candidate: -SequenceMatcher(None, name, candidate).ratio())


def nearest_name(name: str, names: Iterable[str]) -> str:
    """Return the nearest of some names, or an empty text if no name is similar."""
    return next(iter(nearest_names(name, names, 1)), "")


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return the sentence that suggests the nearest name, or an empty text if no name is similar.

    It follows a message: ``no case 'onee'`` becomes ``no case 'onee'. Did you mean 'one'?``.
    """
    close = nearest_name(name, names)
    return f". Did you mean '{close}'?" if close else ""


def choices_for(name: str, names: Iterable[str], noun: str = "name", whose: str = "the") -> str:
    """Return the end of a message about an unknown name: the nearest name, and all that exist.

    It follows a message: ``no case 'onee'. Did you mean 'one'? The cases are one, two and three``.

    Parameters
    ----------
    name
        The unknown name.
    names
        The names that exist.
    noun
        What the names belong to, in the singular.
    whose
        The word before the noun: ``"the"`` or ``"its"``.
    """
    choices = list(names)
    hint = suggestion(name, choices)
    if not choices:
        text = f"there is no {noun}" if whose == "the" else f"it has no {noun}"
    elif len(choices) == 1:
        text = f"{whose} only {noun} is {_quoted(choices[0])}"
    elif len(choices) > MOST_LISTED and not hint:
        text = (
            f"there are {len(choices)} {plural(noun)}, such as"
            f" {enumerated(map(_quoted, choices[:3]))}"
        )
    elif len(choices) > MOST_LISTED:
        near = enumerated(map(_quoted, by_nearness(name, choices)[:FEW_LISTED]))
        text = f"{whose} nearest of {len(choices)} {plural(noun)} are {near}"
    else:
        text = f"{whose} {plural(noun)} are {enumerated(map(_quoted, choices))}"
    return f"{hint} {text[0].upper()}{text[1:]}" if hint else f"; {text}"


def enumerated(names: Iterable[str], conjunction: str = "and") -> str:
    """Write names as a list: ``a``, ``a and b``, ``a, b and c``; ``none`` if there are none."""
    words = list(names)
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def _quoted(name: str) -> str:
    """Put a name between quotes if it would not stand out as one name in a list."""
    return f"'{name}'" if re.search(r"[\s,]", name) or not name else name


def listed_names(names: Sequence[str], unknown_name: str = "") -> str:
    """Write names in a message; of very many the nearest to an unknown name, or the first."""
    if len(names) <= MOST_LISTED:
        return enumerated(names)
    if unknown_name:
        near = by_nearness(unknown_name, names)[:FEW_LISTED]
        return f"{', '.join(near)}, the nearest of {len(names)}"
    return first_of(names, FEW_LISTED)


def first_of(texts: Sequence[str], limit: int) -> str:
    """Write the first texts in a message, and how many more there are."""
    if len(texts) <= limit:
        return enumerated(texts)
    return f"{', '.join(texts[:limit])} and {len(texts) - limit} more"


#: Abbreviations that are spoken letter by letter, and begin with the sound of a vowel.
_LETTERS = re.compile(r"(?:FMU|FMI|SSP|SS[DVM]|XML|RSI|HTML|LFS|MCAP)")
#: Words that begin with the letter of a vowel and the sound of a consonant.
_CONSONANT = re.compile(r"(?:one|once|eu|uni|use|uint)", re.IGNORECASE)


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article: ``an Integer``, ``a Real``, ``an FMU``."""
    spoken = noun.lstrip("'\"`")
    vowel = spoken[:1].lower() in {*"aeiou"} and not _CONSONANT.match(spoken)
    vowel = vowel or _LETTERS.match(spoken) is not None
    return f"{'an' if vowel else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 row``, ``2 rows``, ``0 connections``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: ``rows``, ``entries``, ``axes``, ``rows of a table``.

    Of alternatives it is all: ``measure or signal`` gives ``measures and signals``.
    """
    if " or " in noun:
        return " and ".join(map(plural, noun.split(" or ")))
    head, gap, complement = noun.partition(" of ")
    if head.endswith("axis"):
        head = f"{head[:-2]}es"
    elif re.search(r"[^aeiou]y$", head):
        head = f"{head[:-1]}ies"
    elif re.search(r"(s|x|ch|sh)$", head):
        head = f"{head}es"
    else:
        head = f"{head}s"
    return f"{head}{gap}{complement}"
