"""A tab of a browser for the pages of a run."""

import pytest
from browser import browser


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def tab(opened):
    opened.call("Page.navigate", url="about:blank")  # the last page asks nothing any more
    opened.frame()
    opened.errors.clear()
    opened.requests.clear()
    return opened
