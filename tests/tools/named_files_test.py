#!/usr/bin/env python3
"""Inputs whose files the program names: `input X : f64[N, F] = "table.csv"`, `param limits : f64[F] = "limits.csv"`.

Usage: named_files_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

PROGRAM = """dim N, F local
input X : f64[N, F] = "data/table.csv", w : f64[N]
param limits : f64[F] = "limits.npy"
param by = 2.0
output sums = sum(if X > limits then by * X else 0.0, over N), weighted = sum(w * X, over N)
"""
MISSING = 66


class NamedFiles(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(3)
        self.x, self.limits, self.w = random.random((50, 3)), random.random(3), random.random(50)
        folder = self.dir / "study" / "data"
        folder.mkdir(parents=True)
        numpy.savetxt(folder / "table.csv", self.x, "%.17g", ",")
        numpy.save(folder.parent / "limits.npy", self.limits)
        numpy.savetxt(self.dir / "w.csv", self.w, "%.17g")
        (folder.parent / "p.ks").write_text(PROGRAM)

    def check(self, x=None, limits=None):
        x, limits = self.x if x is None else x, self.limits if limits is None else limits
        with h5py.File(self.dir / "r.h5") as file:
            numpy.testing.assert_allclose(file["sums"][()], (2 * x * (x > limits)).sum(0), rtol=1e-12)
            numpy.testing.assert_allclose(file["weighted"][()], self.w @ x, rtol=1e-12)

    def test_files_are_found_beside_the_program(self):
        self.kasen("go", "study/p.ks", "w=w.csv", "-o", "r.h5")
        self.check()
        self.assertIn("(as it was)", self.kasen("go", "study/p.ks", "w=w.csv", "-o", "r.h5")[1])
        changed = 1 - self.x
        numpy.savetxt(self.dir / "study" / "data" / "table.csv", changed, "%.17g", ",")
        self.kasen("go", "study/p.ks", "w.csv", "-o", "r.h5", "--workers", 2)  # the one input that is left
        self.check(changed)

    def test_data_of_the_command_goes_first(self):
        numpy.save(self.dir / "own.npy", self.limits / 2)
        self.kasen("go", "study/p.ks", "w=w.csv", "limits=own.npy", "-o", "r.h5")
        self.check(limits=self.limits / 2)

    def test_plans_carry_the_names(self):
        self.kasen("plan", "study/p.ks", "-o", "p.kir")
        text = (self.dir / "p.kir").read_text()
        self.assertIn('\n  file "X" "data/table.csv"\n  file "limits" "limits.npy"\n', text)
        self.kasen("partition", "--program", "p.kir", "w=w.csv", "--workers", 3, "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.assertIn('file "X" "data/table.csv"', (self.dir / "f.kir").read_text())
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "r.h5")
        self.check()

    def test_an_experiment_needs_no_data(self):
        numpy.savetxt(self.dir / "study" / "w.csv", self.w, "%.17g")
        (self.dir / "study" / "p.ks").write_text(PROGRAM.replace("w : f64[N]", 'w : f64[N] = "w.csv"'))
        (self.dir / "e.yaml").write_text("program: study/p.ks\nworkers: [1, 2]\n")
        self.kasen("experiment", "e.yaml", "-o", "rows")
        rows = [json.loads(line) for line in (self.dir / "rows" / "runs.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows) % 2, 0)
        self.assertTrue(rows and all(row["status"] == "done" for row in rows), rows)

    def test_wrong_uses(self):
        def message(text, status, *command):
            (self.dir / "bad.ks").write_text(text)
            return self.kasen(*(command or ("plan", "bad.ks")), status=status)[1]
        head = "dim N\n"
        for text, words in [('input x : f64[N] = "none.csv"', None), ('param a : f64 = "a.csv"', "2:17: error: a text for the single value 'a'"),
                            ('param a = "a.csv"', "2:11: error: a text for the single value 'a'"), ('input x : f64[N] = 3', "the name of a file in quotes"),
                            ('input x : f64[N] = ""', "an empty name for the file of 'x'"), ('x = "a.csv"', "\"' is not part of the language")]:
            if words:
                self.assertIn(words, message(f"{head}{text}\noutput z = 1\n", BAD))
            else:
                text = message(f"{head}{text}\noutput z = sum(x)\n", MISSING, "go", "bad.ks")
                self.assertIn("none.csv: error: cannot open the file", text)
        self.assertIn("no data for input 'w'", self.kasen("go", "study/p.ks", status=USAGE)[1])
        (self.dir / "twice.kir").write_text(self.kasen("plan", "study/p.ks")[0].replace('  file "X"', '  file "X" "a"\n  file "X"'))
        self.assertIn("input 'X' has two files", self.kasen("fuse", "twice.kir", status=BAD)[1])


    def test_values_for_arrays_are_refused(self):
        """A file, or a short list, as -D: the message says how the file is given, in every tool that takes values."""
        (self.dir / "p.ks").write_text('dim L local\nparam rates : f64[L] = "rates.csv"\noutput s = 2 * rates\n')
        (self.dir / "rates.csv").write_text("1\n2\n")
        self.kasen("go", "p.ks", "-o", "r.h5")
        experiment = "program: p.ks\n{}: {{rates: other.csv}}\n"
        for key in "define", "param":
            (self.dir / f"{key}.yaml").write_text(experiment.format(key))
        run = ("run", "p.run/fused.kir", "--bundle", "p.run/bundle")
        for command in [("plan", "p.ks", "-D"), ("go", "p.ks", "-D"), ("go", "p.ks", "--param"), (*run, "-D")]:
            told = self.kasen(*command, "rates=other.csv", status=USAGE)[1]
            self.assertIn(f"{command[-1]} rates=other.csv: 'rates' is an array, whose numbers a file gives; give the file as data: "
                          "rates=other.csv, without an option", " ".join(told.split()))
            told = " ".join(self.kasen(*command, "rates=0.1,0.2,5", status=USAGE)[1].split())
            self.assertIn("write the numbers into rates.csv, a row a line, and give the file as data: rates=rates.csv", told)
        for key in "define", "param":
            told = " ".join(self.kasen("experiment", f"{key}.yaml", "-o", "rows", status=78)[1].split())
            self.assertIn("data: {rates: other.csv}", told)
        told = self.kasen(*run, "-D", "other=1", status=USAGE)[1]
        self.assertIn("no param 'other'; leave it out: the program has no params", " ".join(told.split()))
        (self.dir / "bad.ks").write_text("dim L local\nparam rates : f64[L]\noutput s = 2 * rates\n")
        told = self.kasen("plan", "bad.ks", status=BAD)[1]
        self.assertIn('write = "rates.csv", or input rates : ... whose file the command names', told)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
