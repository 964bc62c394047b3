#!/usr/bin/env python3
"""Files, paths and options as users bring them.

Usage: brought_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import bz2
import json
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CREATE, TOOLS, USAGE, ToolTest  # noqa: E402

TABLE = "dim N, F local\ninput X : f64[N, F]\noutput s = sum(X, over F)\n"
DEGREES = "dim N\ninput G : null[N, N]\noutput d = G @ fill(1.0, N)\n"


def little():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


class Brought(ToolTest):
    def plan(self, text):
        (self.dir / "p.ks").write_text(text)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def partition(self, data, options=(), **how):
        return self.kasen("partition", "--program", "p.kir", data, "--workers", 2, "--replace", "-o", "b", *options, **how)[1]

    def result(self, name):
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "b", "-o", "r.h5", "--kernels", "interpreter")
        with h5py.File(self.dir / "r.h5") as results:
            return results[name][()]

    def test_line_ends_in_paths(self):
        folder = self.dir / "d\u00e9 \n x"
        folder.mkdir()
        (folder / "p.ks").write_text(DEGREES)
        (folder / "g.txt").write_text("0 1\n1 0\n")
        self.kasen("go", folder / "p.ks", f"G={folder}/g.txt", "--workers", 2)
        plan = self.kasen("plan", folder / "p.ks")[0]
        self.assertIn("/p.ks", plan.splitlines()[1])

    def test_the_ending_of_a_result_names_its_format(self):
        self.plan(DEGREES)
        (self.dir / "g.txt").write_text("0 1\n1 0\n")
        self.partition("g.txt")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        for name, begins, format in [("r.csv", b"N,d\n", []), ("r.npy", b"\x93NUMPY", []), ("r.h5", b"\x89HDF", []), ("r", b"\x89HDF", []),
                                     ("s.csv", b"\x89HDF", ["--format", "hdf5"])]:
            self.kasen("run", "f.kir", "--bundle", "b", "-o", name, "--kernels", "interpreter", *format)
            self.assertTrue((self.dir / name).read_bytes().startswith(begins), name)

    def test_columns_of_words_are_told(self):
        self.plan(TABLE)
        (self.dir / "x.csv").write_text("1;2,5;b\n3;4,5;a\n")
        err = self.partition("x.csv", status=BAD)
        self.assertIn("x.csv:1:3: error: '2,5' is not a number; if the comma is a decimal point, say so: --decimal ,", err)
        (self.dir / "x.csv").write_text("1;2.5;b\n3;4.5;a\n")
        self.assertIn("x.csv:1:7: error: 'b' is not a value of type f64; write a number, with a decimal point and nothing else; if column 3 holds words, "
                      "say so: --words X=3", self.partition("x.csv", status=BAD))
        self.assertEqual(self.partition("x.csv", options=["--words", "X=3"]),
                         "kasen-partition: note: X: words have codes from 0 on, in the order of their letters: column 3 (2 words, the first is 'a')\n")
        self.assertIn("the first is 'a'", self.kasen("partition", "--stats", "b")[0])
        self.assertEqual(list(self.result("s")), [1 + 2.5 + 1, 3 + 4.5 + 0])
        (self.dir / "x.csv").write_text("1,2\n3,4\n")
        self.assertEqual(self.partition("x.csv"), "")
        for words, status, says in [("Y=1", USAGE, "--words: the program has no input 'Y'"), ("X=0", USAGE, "there is no column 0"),
                                    ("X=1..2", USAGE, "write 1-2"), ("X=kind", USAGE, "no line names the columns"), ("1", USAGE, "--words")]:
            self.assertIn(says, self.partition("x.csv", status=status, options=["--words", words]))

    def test_codes_of_words_are_those_of_the_model(self):
        """Made from one file and applied to others, whatever the order of their rows and columns."""
        self.plan(TABLE)
        (self.dir / "x.csv").write_text("kind,size\nelm,1\nash,2\noak,3\n")
        (self.dir / "other.csv").write_text("size,kind\n0,oak\n0,elm\n0,oak\n")
        names = ["--columns", "X=size,kind", "--words", "X=kind"]
        self.partition("x.csv", options=names)
        self.assertEqual(list(self.result("s")), [1 + 1, 2 + 0, 3 + 2])
        beside = json.loads((self.dir / "r.dictionary.json").read_text())
        self.assertEqual(beside, {"kasen_dictionary": 1, "inputs": {"X": [{"column": 1, "name": "kind", "over": ["N", "F"], "words": ["ash", "elm", "oak"]}]}})
        shutil.copytree(self.dir / "b", self.dir / "model")
        shutil.copy(self.dir / "r.dictionary.json", self.dir / "model.json")
        for given in [["--dictionary", "model.json"], ["--dictionary", "model"], ["--dictionary", "model.json", *names]]:
            note = self.partition("other.csv", options=given)
            self.assertIn(f"words have codes from 0 on, those of '{given[1]}': column 2 'kind' (3 words, the first is 'ash')", note)
            self.assertEqual(list(self.result("s")), [2, 1, 2])
            self.assertEqual((self.dir / "r.dictionary.json").read_text().replace('"column": 2', '"column": 1'),
                             (self.dir / "model.json").read_text())
        (self.dir / "other.csv").write_text("size,kind\n0,oak\n0,yew\n")
        self.assertIn("other.csv:3:3: error: 'yew' is no word of the dictionary 'model.json'",
                      self.partition("other.csv", status=BAD, options=["--dictionary", "model.json"]))
        (self.dir / "q.ks").write_text(TABLE.replace("X", "Z"))
        self.kasen("plan", "q.ks", "-o", "q.kir")
        self.fault("partition", "--program", "q.kir", "other.csv", "-o", "c", "--dictionary", "model.json", status=BAD,
                   says="it has words of X; the program's inputs are Z")
        (self.dir / "other.csv").write_text("size,kind\n0,oak\n0,elm\n")
        self.kasen("go", "p.ks", "X=other.csv", "--dictionary", "model.json", "-o", "s.csv", "--format", "csv")
        self.assertEqual((self.dir / "s.csv").read_text(), "N,s\n0,2.0\n1,1.0\n".replace(".0", ""))
        self.assertTrue((self.dir / "s.dictionary.json").exists())
        self.fault("go", "p.ks", "X=other.csv", "--dictionary", "model.json", "-o", "model.json", status=USAGE, says="model.json")

    def test_labels_of_batches(self):
        """They are a vector's numbers, batch after batch."""
        (self.dir / "y.ks").write_text("dim T local = 2\ndim N\ninput y : f64[T, N]\noutput s = sum(y, over N)\n")
        (self.dir / "y.svm").write_text("1 1:0.5 2:3\n2 1:1\n4 7:1\n8 1:2\n")
        self.kasen("plan", "y.ks", "-o", "p.kir")
        self.partition("y.svm")
        self.assertEqual(list(self.result("s")), [3, 12])

    def test_a_file_without_end(self):
        self.plan(DEGREES)
        for program in (DEGREES, TABLE):
            self.plan(program)
            self.fault("partition", "--program", "p.kir", "/dev/zero", "-o", "c", status=BAD, preexec_fn=little,
                       says="/dev/zero:1: error: the line is longer than 67108864 bytes")

    def test_kinds_of_files_that_are_not_read(self):
        self.plan(TABLE)
        (self.dir / "bzip2").write_bytes(bz2.compress(b"1,2\n3,4\n"))
        (self.dir / "Parquet").write_bytes(b"PAR1\x15\x04 rest")
        for kind in ["bzip2", "Parquet"]:
            err = self.partition(kind, status=BAD)
            self.assertRegex(err.lower(), f"^{kind.lower()}: error: the file is [^\n]*{kind.lower()}.*; .+; .+\n$")

    def test_arrays_of_every_number(self):
        self.plan(TABLE)
        values = np.arange(12).reshape(4, 3)
        for order in "<>":
            for kind in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
                array = values.astype(order + kind)
                for stored in [array, np.asfortranarray(array)]:
                    np.save(self.dir / "x.npy", stored)
                    self.partition("x.npy")
                    with h5py.File(self.dir / "b" / "arrays.h5") as arrays:
                        np.testing.assert_array_equal(arrays["arrays/X/values"][:], values)
        self.plan(DEGREES)
        edges = np.argwhere(np.array([[0, 1, 1], [1, 0, 0], [0, 1, 0]]))
        self.assertTrue(edges.flags.f_contiguous)
        np.save(self.dir / "g.npy", edges)
        self.partition("g.npy")
        np.testing.assert_array_equal(self.result("d"), [2, 1, 1])

    def test_two_signals_at_a_time(self):
        """A terminal and who started a tool may both tell it: the second does not cut off what the first one takes away."""
        (self.dir / "p.ks").write_text(DEGREES)
        for attempt in range(40):
            job = subprocess.Popen([TOOLS / "kasen-plan", "p.ks", "-o", "p.kir"], cwd=self.dir, stderr=subprocess.DEVNULL)
            for _ in range(2000):
                if job.poll() is not None or list(self.dir.glob("p.kir.tmp-*")):
                    break
            for number in [signal.SIGHUP, signal.SIGTERM, signal.SIGINT]:
                job.send_signal(number)
            job.wait(timeout=60)
            self.assertEqual(list(self.dir.glob("p.kir.tmp-*")), [], attempt)

    def test_a_bundle_that_is_there(self):
        self.plan(DEGREES)
        (self.dir / "g.txt").write_text("0 1\n1 0\n")
        self.partition("g.txt")
        self.fault("partition", "g.txt", "-o", "b", status=CREATE, says="add --replace")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
