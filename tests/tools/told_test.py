#!/usr/bin/env python3
"""What messages tell of tables and their cells: the place, the file's own text, the reason, what to do.

Usage: told_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ToolTest  # noqa: E402

TABLE = "dim N, F local\ninput X : f64[N, F]\noutput w = sum(X, over N)\n"


class ToldTest(ToolTest):
    def write(self, name, text):
        (self.dir / name).write_text(text)

    def plan(self, program=TABLE):
        self.write("p.ks", program)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def partition(self, *args, **how):
        return self.kasen("partition", "--program", "p.kir", *args, "--workers", 2, "--replace", "-o", "b", **how)[1]

    def told(self, *args, says, status=BAD, lacks=()):
        """One error that says all of this; returned without line breaks of notes."""
        err = self.partition(*args, status=status)
        self.assertEqual(err.count("error:"), 1, err)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)
        for word in lacks:
            self.assertNotIn(word, err)
        return err

    def notes(self, *args):
        return " ".join(self.partition(*args).split())


class ToldCells(ToldTest):
    """A cell is quoted as the file has it, and what is wrong with it is named."""

    def test_the_caret_stands_under_the_character(self):
        self.plan()
        for text, width in [("1;Köln;181,7", 7), ("1;北京;x", 7), ("1;e\u0301;x", 4), ("1\t;\tgrün;x", None)]:
            self.write("x.csv", "a;b;c\n2;Ulm;3\n" + text + "\n")
            lines = self.told("x.csv", "--words", "X=b", says="x.csv:3:").splitlines()
            at = next(k for k, line in enumerate(lines) if line.strip() == "^")
            if width is None:
                self.assertEqual(lines[at], "  " + " \t \t" + " " * 5 + "^")
            else:
                self.assertEqual(lines[at], "  " + " " * width + "^")
        self.write("q.ks", "dim N\ninput x : f64[N]\n# grün\noutput größe = x + unbekannt\n")
        err = self.kasen("plan", "q.ks", status=BAD)[1]
        self.assertIn("q.ks:4:", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
