"""A headless browser that tests look at pages with: Debian's chromium, over a pipe, by the DevTools protocol.

One browser serves all tests of a process. What a page logs or throws is kept and belongs to the look at it.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

WHY_NOT = None if shutil.which("chromium") else "Debian's chromium is not installed: apt-get install chromium"
SECONDS = 60  # for an answer
COUNT = """(async () => {
  const bytes = Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
  const paper = new OffscreenCanvas(image.width, image.height).getContext("2d");
  paper.drawImage(image, 0, 0);
  const words = new Uint32Array(paper.getImageData(0, 0, image.width, image.height).data.buffer), found = new Map();
  for (const word of words) found.set(word, (found.get(word) || 0) + 1);
  return {colors: found.size, share: Math.max(...found.values()) / words.length, width: image.width, height: image.height};
})()"""


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kasen-browser-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        # The shell gives the two ends the numbers that the browser takes them by.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "sh", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=[to_read, to_write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.messages, self.session = b"", 0, [], None
        self.beside = self.new_tab()  # an empty page, for work on screenshots
        self.session = self.new_tab()
        for domain in ["Page", "Runtime", "Log"]:
            self.call(domain + ".enable")

    def new_tab(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def close(self):
        os.close(self.to)  # it ends when nobody can ask it any more
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        self.folder.cleanup()

    def next_message(self):
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], SECONDS)[0]:
                raise AssertionError("the browser does not answer")
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise AssertionError("the browser ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        text = json.dumps(asked).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            message = self.next_message()
            if message.get("id") == self.number:
                assert "error" not in message, (method, message)
                return message["result"]
            if "method" in message:
                self.messages.append(message)

    def open(self, path, width=1280, dark=False, script=True, height=844):
        """Opens a file at a width of the window; returns when it is loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.messages = []
        done = self.call("Page.navigate", url="file://" + os.fspath(path))
        assert "errorText" not in done, (path, done)
        while not any(m["method"] == "Page.loadEventFired" for m in self.messages):
            self.messages.append(self.next_message())

    def faults(self):
        """What the page threw or complained about since it was opened."""
        self.value("0")  # an answer behind all that was said before
        found = []
        for message in self.messages:
            about = message.get("params", {})
            if message["method"] == "Runtime.exceptionThrown":
                found.append(about["exceptionDetails"].get("exception", {}).get("description", about["exceptionDetails"]["text"]))
            elif message["method"] == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                found.append(about["entry"]["text"])
            elif message["method"] == "Runtime.consoleAPICalled":
                found.append(str([a.get("value") for a in about["args"]]))
        return found

    def value(self, expression):
        """What an expression of JavaScript gives in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key, text=""):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": text} if text and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def looks(self, png):
        """Of a screenshot: how many colours it has, and the share of the commonest one."""
        page, self.session = self.session, self.beside
        try:
            return self.value(COUNT % base64.b64encode(png).decode())
        finally:
            self.session = page

    def picture(self, highest=5000):
        """A screenshot as PNG, of the page from its beginning."""
        size = self.call("Page.getLayoutMetrics")
        width, height = size["cssVisualViewport"]["clientWidth"], max(size["cssContentSize"]["height"], size["cssVisualViewport"]["clientHeight"])
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, highest), "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"])
