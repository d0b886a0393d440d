"""A hook of MkDocs: files of the repository that pages link to are pages of the site.

Pages are written for a reader of the repository, so they link to files that lie outside of
``docs/``: a README, a source, a folder. Each of them becomes a page below ``repository/``, at its
own path: Markdown as it is, a source as its text, a folder as the list of what git has in it.

The theme loads the script without which search does not work on a disk, iframe-worker 1.0.4, from
another host. The hook puts a copy of it into the site, so that reading the site needs no network.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[1]
#: Where in the site the files of the repository are.
PREFIX = "repository"
#: The script that the theme loads for search on a disk, our copy of it, and its path in the site.
SHIM_URL = "https://unpkg.com/iframe-worker/shim"
SHIM = ROOT / ".ci/vendor/iframe-worker/shim.js"
SHIM_PATH = "assets/javascripts/iframe-worker.js"
_FENCE = re.compile(r"(^(?P<fence>`{3,}).*?^(?P=fence)`*$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)#:\s]+)(?P<rest>#[^)\s]*)?(?=\))")
_LANGUAGES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".toml": "toml"}
_LANGUAGES |= {".mo": "modelica", ".yml": "yaml", ".sh": "sh", ".ssd": "xml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what the pages lead to, and what that leads to."""
    waiting = [path for file in files.documentation_pages() for path in _outside(file)]
    known: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in known:
            continue
        known.add(path)
        place = ROOT / path
        text = _page(place, path)
        if place.suffix == ".md":
            waiting += [found for _, found in _links(text, path) if not _in_docs(found)]
        files.append(_generated(config, _address(path), _rewritten(text, path, _address(path))))
    files.append(File.generated(config, SHIM_PATH, content=SHIM.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead links out of ``docs/`` to the pages that :func:`on_files` has made."""
    source = page.file.src_uri
    return markdown if source.startswith(PREFIX) else _rewritten(markdown, f"docs/{source}", source)


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Load the script for search on a disk from the site itself."""
    if SHIM_URL not in output:
        message = f"the theme no longer loads {SHIM_URL}: adapt SHIM_URL in .ci/site_hook.py"
        raise PluginError(message)
    return output.replace(SHIM_URL, get_relative_url(SHIM_PATH, page.url))


def _outside(file: File) -> Iterator[str]:
    for _, path in _links(file.content_string, f"docs/{file.src_uri}"):
        if not _in_docs(path):
            yield path


def _links(text: str, of: str) -> Iterator[tuple[str, str]]:
    """Yield the targets of a page's links, as written and from the root of the repository."""
    for part in _FENCE.split(text)[::3]:
        for match in _LINK.finditer(part):
            yield match["target"], _from_root(match["target"], of)


def _from_root(target: str, of: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(of), target))


def _in_docs(path: str) -> bool:
    return path.startswith("docs/")


def _address(path: str) -> str:
    """Return where in the site a file of the repository is."""
    if _in_docs(path):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"{PREFIX}/{path}/folder.md"
    return f"{PREFIX}/{path}" if path.endswith(".md") else f"{PREFIX}/{path}.md"


def _rewritten(text: str, of: str, source: str) -> str:
    """Return a page of the repository with the links that it has at ``source`` in the site."""

    def lead(match: re.Match[str]) -> str:
        there = _address(_from_root(match["target"], of))
        return posixpath.relpath(there, posixpath.dirname(source)) + (match["rest"] or "")

    parts = _FENCE.split(text)
    parts[::3] = [_LINK.sub(lead, part) for part in parts[::3]]
    del parts[2::3]  # the marks of the fences, which the split gives as well
    return "".join(parts)


def _page(place: Path, path: str) -> str:
    if place.is_dir():
        return f"# {path}/\n\n" + "".join(f"- `{name}`\n" for name in _tracked(path))
    text = place.read_text(encoding="utf-8")
    if place.suffix == ".md":
        return text
    return f"# {path}\n\n````{_LANGUAGES.get(place.suffix, 'text')}\n{text}````\n"


def _tracked(path: str) -> list[str]:
    listed = subprocess.run(  # noqa: S603 - git, of our own folder
        ["git", "ls-files", path],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.splitlines()


def _generated(config: MkDocsConfig, address: str, text: str) -> File:
    return File.generated(config, address, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
