"""A headless Chromium that tests look at pages with, by its DevTools protocol on two pipes."""

import base64
import itertools
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from fcntl import F_DUPFD, fcntl
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe",
)  # fmt: skip


class Page:
    """A tab: what its scripts say, which addresses it asks for, what is in it."""

    def __init__(self, reading, writing):
        self._reading, self._writing = reading, writing
        self._numbers, self._session = itertools.count(1), None
        self._is_loaded = False
        self.errors, self.requests = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._writing.write(json.dumps(message).encode() + b"\0")
        self._writing.flush()
        while (answer := self._next()).get("id") != number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self):
        content = bytearray()
        while (byte := self._reading.read(1)) != b"\0":
            assert byte, "chromium has ended"
            content += byte
        message = json.loads(content)
        said, of = message.get("method"), message.get("params", {})
        if said == "Page.loadEventFired":
            self._is_loaded = True
        elif said == "Runtime.exceptionThrown":
            self.errors.append(of["exceptionDetails"].get("exception", {}).get("description"))
        elif said == "Log.entryAdded" and of["entry"]["level"] == "error":
            self.errors.append(of["entry"]["text"])
        elif said == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        return message

    def show(self, path, width=1280, height=2000, *, dark=False):
        """Open a file or an address, and wait until it is loaded and drawn."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._is_loaded = False
        is_served = str(path).startswith("http:")
        address = str(path) if is_served else Path(path).absolute().as_uri()
        self.call("Page.navigate", url=address)
        while not self._is_loaded:
            self._next()
        self.frame()

    def frame(self):
        """Wait until what was asked for is drawn."""
        self.run(
            "new Promise((done) =>"
            " requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        )

    def until(self, condition):
        """Wait until a condition of the page holds; looked at before each picture."""
        self.run(
            f"new Promise((done, fail) => {{ setTimeout(() => fail({condition!r}), 30000);"
            f" const look = () => {{ if ({condition}) done(); else requestAnimationFrame(look); }};"
            " look(); })"
        )

    def press(self, key):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if key == " " else "")

    def run(self, expression):
        """Return what an expression of the page gives, once it is there."""
        given = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    def picture(self, path):
        """Write what is seen as PNG."""
        shown = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shown["data"]))


#: Pairs of texts, buttons and cells that lie on each other, by what they say.
OVERLAPS = """(() => {
  const all = [...document.querySelectorAll(
    "h1, h2, h3, header .status > *, header .tools > *, header .time > *, .legend .entry, .bar > *,"
    + " .picture text, figcaption, th, td, summary, li")];
  const seen = all.map((node) => [node, node.getBoundingClientRect()])
    .filter(([node, r]) => r.width && r.height && node.checkVisibility());
  const found = [];
  seen.forEach(([one, a], i) => seen.slice(i + 1).forEach(([other, b]) => {
    if (one.contains(other) || other.contains(one)) return;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 1) found.push([one.textContent.trim(), other.textContent.trim()]);
  }));
  return found;
})()"""


@contextmanager
def browser(folder):
    """Give a page of a browser whose profile is in a folder."""
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    theirs = [fcntl(fd, F_DUPFD, 10) for fd in (command_read, answer_write)]  # 3 and 4 are free
    os.close(command_read)
    os.close(answer_write)
    script = f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
    process = subprocess.Popen(  # noqa: S603
        ["/bin/bash", "-c", script, "bash", CHROMIUM, *OPTIONS, f"--user-data-dir={folder}"],
        pass_fds=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for fd in theirs:
        os.close(fd)
    with os.fdopen(command_write, "wb") as writing, os.fdopen(answer_read, "rb") as reading:
        try:
            yield Page(reading, writing)
        finally:
            process.kill()
            process.wait()
