#!/usr/bin/env python3
"""The site that scripts/site makes: all pages are in its menu, all links lead somewhere, and nothing is loaded from elsewhere.

Usage: site_test.py SOURCE_ROOT [unittest arguments]
"""
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
LOADS = {"script": "src", "img": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if given.get(LOADS.get(tag)):
            self.loads.add(given[LOADS[tag]])


@unittest.skipUnless(shutil.which("mkdocs"), "Debian's mkdocs is missing")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name) / "site"
        done = subprocess.run([ROOT / "scripts" / "site", cls.site], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        cls.pages = {file: Page(file.read_text()) for file in cls.site.rglob("*.html")}

    def test_links_lead_somewhere(self):
        links = 0
        for file, page in self.pages.items():
            for link in page.links:
                url = urllib.parse.urlsplit(link)
                if url.scheme or file.name == "404.html":
                    continue
                to = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
                self.assertTrue(to.exists(), f"{file.name}: {link}")
                if url.fragment and to in self.pages:
                    self.assertIn(urllib.parse.unquote(url.fragment), self.pages[to].anchors, f"{file.name}: {link}")
                links += 1
        self.assertGreater(links, 1000)

    def test_nothing_comes_from_elsewhere(self):
        for file, page in self.pages.items():
            if file.name != "404.html":
                for load in page.loads:
                    self.assertTrue((file.parent / urllib.parse.urlsplit(load).path).exists(), f"{file.name} loads {load}")

    def test_every_document_is_in_the_menu(self):
        menu = {urllib.parse.urlsplit(link).path for link in self.pages[self.site / "index.html"].links}
        for page in (ROOT / "docs").glob("*.md"):
            self.assertIn(f"docs/{page.stem}.html", menu)

    def test_every_example_is_in_the_gallery(self):
        text = (self.site / "gallery.html").read_text()
        for program in (ROOT / "examples").rglob("*.ks"):
            self.assertIn(f">{program.stem}</h3>", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
