"""A headless Chromium, driven through a pipe by its own protocol: nothing is needed but the browser itself."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
           "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe")


def find() -> str | None:
    """Path of the browser: LIESTEP_CHROMIUM, or the first of NAMES that is installed; None if there is none."""
    return os.environ.get("LIESTEP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. Everything that it asks the network for is blocked and recorded in `requests`, what its
    console says in `complaints`."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False):
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", find(), *OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._rest, self._session = 0, b"", None
        self._waiting: list[dict] = []
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._page: str | None = None
        self.folder: str | None = None  # address of a folder whose files a page may load
        target = next(item for item in self.call("Target.getTargets")["targetInfos"] if item["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Fetch.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def _send(self, method: str, **parameters: Any) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters,
                   **({"sessionId": self._session} if self._session else {})}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        return self._number

    def _receive(self) -> dict:
        """Next message of the browser; its events are recorded on the way."""
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        self._record(message.get("method"), message.get("params", {}))
        return message

    def _record(self, event: str | None, details: dict) -> None:
        if event == "Fetch.requestPaused":
            address = details["request"]["url"]
            if address == self._page or self._own(address):
                self._send("Fetch.continueRequest", requestId=details["requestId"])
            else:
                self.requests.append(address)
                self._send("Fetch.failRequest", requestId=details["requestId"], errorReason="BlockedByClient")
        elif event == "Network.requestWillBeSent":
            address = details["request"]["url"]
            if address != self._page and not address.startswith("data:") and not self._own(address):
                self.requests.append(address)
        elif event == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(item.get("value", item.get("description")))
                                            for item in details["args"]))
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"].get("exception", {}).get("description")
                                   or details["exceptionDetails"]["text"])
        elif event == "Log.entryAdded":
            self.complaints.append(details["entry"]["text"])

    def _own(self, address: str) -> bool:
        return self.folder is not None and address.startswith(self.folder)

    def call(self, method: str, **parameters: Any) -> dict:
        """Call a method of the protocol and wait for its result."""
        number = self._send(method, **parameters)
        while (message := self._receive()).get("id") != number:
            self._waiting.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until all of it is loaded."""
        self._page = path.resolve().as_uri()
        self._waiting.clear()
        problem = self.call("Page.navigate", url=self._page + fragment).get("errorText")
        if problem:
            raise RuntimeError(f"{path}: {problem}")
        while not any(message.get("method") == "Page.loadEventFired" for message in self._waiting):
            self._waiting.append(self._receive())

    def value(self, expression: str) -> Any:
        """Value of a JavaScript expression, which may be a promise."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description"))
        return found["result"].get("value")

    def picture(self, path: Path, whole: bool = False) -> None:
        """Write what the window shows, or the whole page, as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))
