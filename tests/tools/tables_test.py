#!/usr/bin/env python3
"""Tables as people have them: what NumPy, SciPy, h5py and pandas write, and what they read of it.

Usage: tables_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ToolTest  # noqa: E402

TABLE = "dim N, F local\ninput X : f64[N, F]\noutput Y = X * 1.0\n"

try:
    import openpyxl  # noqa: F401
    import pandas
except ImportError:
    pandas = None


class TableTest(ToolTest):
    def plan(self, program):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def partition(self, *data, **how):
        """Messages of a bundle that is made of this data."""
        return self.kasen("partition", "--program", "p.kir", *data, "--workers", 2, "--replace", "-o", "b", **how)[1]

    def values(self, *data, name="X", stdin=None):
        """The input's values in the bundle."""
        if stdin is None:
            self.partition(*data)
        else:
            with stdin.open() as file:
                self.partition(*data, input_file=file)
        with h5py.File(self.dir / "b" / "arrays.h5") as file:
            return file[f"arrays/{name}/values"][()]

    def refused(self, *data, says, status=BAD):
        err = self.partition(*data, status=status)
        self.assertEqual(err.count("error:"), 1, err)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)
        return err


class Converted(TableTest):
    """Files that are refused with the line that converts them."""

    def line_of(self, name):
        """The line of Python in the message about a file."""
        err = self.refused(name, says=[f"{name}: error: the file is ", "convert it: python3 -c "])
        return re.search(r'python3 -c "(.*)"', err)[1]

    def test_columns_of_numbers(self):
        self.plan(TABLE)
        for name, begins, reads in [("x.parquet", b"PAR1\x15\x04\x15", "read_parquet"), ("x", b"PAR1\x15\x00\x15", "read_parquet"),
                                    ("short.parquet", b"PAR1", "read_parquet"), ("cells.parquet", b"PAR1,1\n", "read_parquet"),
                                    ("x.arrow", b"ARROW1\0\0\xff\xff", "read_feather"), ("x.feather", b"FEA1\0\0\0\0", "read_feather"),
                                    ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "read_excel")]:
            (self.dir / name).write_bytes(begins)
            line = self.line_of(name)
            self.assertEqual(line, f"import pandas; pandas.{reads}('{name}').to_csv('{name}.csv', index=False)")
            compile(line, name, "exec")

    def test_names_that_begin_so(self):
        self.plan(TABLE)
        (self.dir / "x.csv").write_text("PAR1,PAR2\n1,2\n3,4\n")
        np.testing.assert_array_equal(self.values("x.csv"), [[1, 2], [3, 4]])

    def test_a_name_that_no_line_can_hold(self):
        self.plan(TABLE)
        (self.dir / "it's.parquet").write_bytes(b"PAR1\x15")
        self.refused("it's.parquet", says="read_parquet('FILE')")

    @unittest.skipUnless(pandas, "no pandas with openpyxl")
    def test_the_line_converts(self):
        self.plan(TABLE)
        frame = pandas.DataFrame({"a": [1.5, 2.25], "b": [3.0, -4.0]})
        frame.to_excel(self.dir / "x.xlsx", index=False)
        subprocess.run([sys.executable, "-c", self.line_of("x.xlsx")], cwd=self.dir, check=True)
        np.testing.assert_array_equal(self.values("x.xlsx.csv"), frame.to_numpy())


@unittest.skipUnless(shutil.which("zstd"), "no zstd")
class Zstd(TableTest):
    """What the command zstd makes."""

    def packed(self, name, *options):
        subprocess.run(["zstd", "-q", "-f", *options, name, "-o", f"{name}.zst"], cwd=self.dir, check=True)
        return f"{name}.zst"

    def test_tables_and_graphs(self):
        numbers = np.random.default_rng(5).normal(size=(60000, 3))
        np.savetxt(self.dir / "x.csv", numbers, delimiter=",", fmt="%.17g")
        np.save(self.dir / "x.npy", numbers)
        self.plan(TABLE)
        for name in ["x.csv", "x.npy"]:
            for options in [["-1"], ["-19"], ["--long=27"], ["-T2"], ["--no-check"]]:
                np.testing.assert_array_equal(self.values(self.packed(name, *options)), numbers)
        subprocess.run("zstd -q -c x.csv > parts.zst; zstd -q -c x.csv >> parts.zst", shell=True, cwd=self.dir, check=True)
        np.testing.assert_array_equal(self.values("parts.zst"), np.vstack([numbers, numbers]))
        np.testing.assert_array_equal(self.values("-", stdin=self.dir / "parts.zst"), np.vstack([numbers, numbers]))
        self.plan("dim N\ninput G : null[N, N]\noutput d = G @ fill(1.0, N)\n")
        self.partition("graph.txt")
        want = {path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")}
        self.partition(self.packed("graph.txt"))
        self.assertEqual({path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")}, want)

    def test_endings_of_names(self):
        """The ending before .zst counts: one column of integers would be no table else."""
        self.plan(TABLE)
        (self.dir / "x.csv").write_text("1 2\n3 4\n")
        (self.dir / "x.csv.zst").write_bytes((self.dir / self.packed("x.csv")).read_bytes())
        np.testing.assert_array_equal(self.values("x.csv.zst"), [[1, 2], [3, 4]])

    def test_damage(self):
        self.plan(TABLE)
        (self.dir / "x.csv").write_text("".join(f"{k},{k * 7 % 1000}\n" for k in range(20000)))
        whole = (self.dir / self.packed("x.csv")).read_bytes()
        for content, says in [(whole[:-1], "it ends in the middle"), (whole[:99], "it ends in the middle"), (whole + b"more", "other bytes follow"),
                              (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "its stream or checksum is not valid")]:
            (self.dir / "cut.zst").write_bytes(content)
            self.refused("cut.zst", says=["cut.zst: error: the zstd file is damaged", says])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
