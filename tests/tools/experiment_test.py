#!/usr/bin/env python3
"""YAML as all tools read it, and experiments: what kasen experiment runs, keeps and tells.

Usage: experiment_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import CONFIG, PAGERANK, ToolTest  # noqa: E402


class Yaml(ToolTest):
    # Of a configuration of kasen go: the text, where the fault is, what is said.
    FAULTS = [
        ("workres: 4\n", "1:1", ["unknown key 'workres'", "did you mean 'workers'?"]),
        ("workers: 4\nranks: 2\nworkers: 2\n", "3:1", ["'workers' stands twice"]),
        ("workers: 4\ndefine: {k: 1, k: 2}\n", "2:16", ["'k' stands twice"]),
        ("workers: four\n", "1:10", ["'workers' is a whole number", "'four'"]),
        ("workers: 4.5\n", "1:10", ["'workers' is a whole number", "'4.5'"]),
        ('workers: "4"\n', "1:10", ["'workers' is a whole number", 'the text "4"']),
        ("workers: {a: 1}\n", "1:10", ["'workers' is a whole number", "a map"]),
        ("workers:\nranks: 2\n", "1:1", ["'workers' has no value"]),
        ("workers: [1, 2]\n", "1:10", ["'workers' takes one value", "kasen experiment"]),
        ("workers: 010\n", "1:10", ["'010' begins with 0", "octal"]),
        ("workers: 99999999999\n", "1:10", ["'workers' is 99999999999"]),
        ("workers: &x 1\n", "1:10", ["anchor"]),
        ("a: 1\nb: *a\n", "2:4", ["not YAML", "anchor"]),
        ("workers: !!int 4\n", "1:10", ["tag"]),
        ("workers: 1\n---\nworkers: 2\n", "2:1", ["second document"]),
        ("? [1, 2]\n: 3\n", "1:3", ["a key is one word"]),
        ("- a\n", "1:1", ["a configuration is a map"]),
        ("workers: [1\n", "2:1", ["not YAML"]),
        ("a: " + "[" * 40 + "]" * 40 + "\n", "1:35", ["32 levels"]),
        ("data: [" + "a, " * 100_000 + "]\n", "1:299999", ["more than 100000 values"]),
        ('"x\\e[31m": 1\n', "1:1", ["unknown key 'x?[31m'"]),
    ]

    def refuse(self, text, place, says, *command):
        (self.dir / "c.yaml").write_text(text)
        err = self.fault(*command, "c.yaml", status=CONFIG, says=[f"c.yaml:{place}: error: ", *says])
        self.assertNotIn("\x1b", err)
        lines, (line, column) = err.splitlines(), map(int, place.split(":"))
        if line <= len(text.splitlines()) and column <= 200:
            self.assertEqual(lines[1][2:202], text.splitlines()[line - 1][:200])
            self.assertEqual(lines[2], "  " + " " * (column - 1) + "^")

    def test_what_is_wrong_is_told_with_its_place(self):
        for text, place, says in self.FAULTS:
            with self.subTest(text[:40]):
                self.refuse(text, place, says, "go", PAGERANK, "--config")

    def test_a_text_that_is_no_yaml(self):
        for text, says in [("workers: 4\0\n", "byte 0"), ("#" * (1 << 20) + "\n", "more than 1 MiB")]:
            (self.dir / "c.yaml").write_text(text)
            self.fault("go", PAGERANK, "--config", "c.yaml", status=CONFIG, says=["c.yaml: error: ", says])

    def test_machine_profiles_are_read_alike(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        command = ["fuse", "plan.kir", "--sync", "auto", "--machine"]
        for text, place, says in [("exp: 1e-9\nlgo: 1e-9\n", "2:1", ["unknown key 'lgo'", "did you mean 'log'?"]),
                                  ("exp: 1e-9\nexp: 2e-9\n", "2:1", ["'exp' stands twice"]),
                                  ("exp: fast\n", "1:6", ["'exp' is a number", "'fast'"]),
                                  ("exp: -1\n", "1:6", ["'exp' is -1", "positive"]),
                                  ("exp: .inf\n", "1:6", ["'exp' is a number"]),
                                  ("network_latency: 007\n", "1:18", ["octal"])]:
            with self.subTest(text):
                self.refuse(text, place, says, *command)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
