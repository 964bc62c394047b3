#!/usr/bin/env python3
"""The guide's commands, as a newcomer types them, and what they print.

Usage: guide_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]; `guide_test.py BUILD_FOLDER SOURCE_ROOT --write` puts what is
printed into the page where it differs from what is shown.
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import console  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
PAGE = ROOT / "docs" / "guide.md"
DEMO = "scripts/demo"  # minutes where nothing is built yet


def environment(home):
    """Slurm's commands are the stand-ins beside this file; Open MPI starts as root, too."""
    return {"PATH": f"{ROOT}/tests/docs/slurm:{BUILD}/tools:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "KASEN_BUILD": str(BUILD),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C.UTF-8"}


class Guide(unittest.TestCase):
    def test_every_command(self):
        with tempfile.TemporaryDirectory() as home:
            results = console.run(PAGE, ROOT, environment(home), {DEMO})
        self.assertGreater(len(results), 15)
        for command, shown, printed, status in results:
            with self.subTest(command):
                self.assertTrue(console.agrees(shown, printed), "\n".join(["printed:", *printed]))
                self.assertEqual(status != 0, any(": error: " in line for line in shown), f"exit status {status}")

    def test_what_is_compared_can_fail(self):
        self.assertTrue(console.agrees(["a ... c", "...", "d"], ["a b c", "x", "y", "d"]))
        for printed in (["a b", "d"], ["a b c"], ["a b c", "d", "e"], ["a b c", "x", "d "[:1] + "d"]):
            self.assertFalse(console.agrees(["a ... c", "...", "d"], printed), printed)
        self.assertFalse(console.agrees([], ["warning"]))


class Demo(unittest.TestCase):
    """The demo where everything is built: what the guide and the README show of it."""

    def test_demo(self):
        with tempfile.TemporaryDirectory() as home:
            page = pathlib.Path(home) / "page.md"
            page.write_text(f"```console\n$ {DEMO} {home}/demo.run\n...\nPredicted and counted agree to the byte.\n...\n```\n")
            ((_, shown, printed, status),) = console.run(page, ROOT, environment(home))
        self.assertEqual(status, 0, "\n".join(printed))
        self.assertTrue(console.agrees(shown, printed), "\n".join(printed))
        self.assertIn(DEMO, [c for block in console.BLOCK.findall(PAGE.read_text()) for c, _ in console.commands(block)])


if __name__ == "__main__":
    if sys.argv[3:] == ["--write"]:
        with tempfile.TemporaryDirectory() as home_folder:
            ran = console.run(PAGE, ROOT, environment(home_folder), {DEMO})
        PAGE.write_text(console.renewed(PAGE, [(DEMO, [], ["...", "Predicted and counted agree to the byte.", "..."], 0), *ran]))
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[3:])
