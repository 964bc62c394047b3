#!/usr/bin/env python3
"""Tables as people have them: what NumPy, SciPy, h5py and pandas write, and what they read of it.

Usage: tables_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import random
import re
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy as np
import scipy.io
import scipy.sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, MISSING, PAGERANK, TOOLS, USAGE, ToolTest  # noqa: E402

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


class Archives(TableTest):
    """NumPy's and SciPy's archives."""

    def test_arrays_by_name(self):
        self.plan(TABLE)
        numbers = np.random.default_rng(3).normal(size=(5000, 4))
        other = np.arange(12, dtype=np.int32).reshape(4, 3)
        for save in [np.savez, np.savez_compressed]:
            save(self.dir / "x.npz", numbers)
            np.testing.assert_array_equal(self.values("x.npz"), numbers)
            save(self.dir / "x.npz", A=numbers, B=np.asfortranarray(other), t=np.array("text"))
            np.testing.assert_array_equal(self.values("X=x.npz:A"), numbers)
            np.testing.assert_array_equal(self.values("x.npz:B"), other)
            self.refused("x.npz", says=["x.npz: error: the file holds 3 arrays", "they are A, B, t", "name one of them: x.npz:A"])
            self.refused("x.npz:a", says=["the file holds no array 'a'", "it holds A, B, t"])
            self.refused("x.npz:t", says=["x.npz:t: error: not a .npy file that can be read", "its elements are '<U4'"])
        np.savez(self.dir / "none.npz")
        self.refused("none.npz", says="the file holds no array")
        np.save(self.dir / "x.npy", numbers)
        self.refused("x.npy:A", says="it is neither an archive (.npz) nor HDF5")
        self.refused("nothing.npz:A", says="cannot open the file", status=MISSING)
        np.save(self.dir / "a:b.npy", other)
        np.testing.assert_array_equal(self.values("a:b.npy"), other)

    def test_edges_of_an_archive(self):
        self.plan("dim N\ninput G : null[N, N]\noutput d = G @ fill(1.0, N)\n")
        np.savez(self.dir / "g.npz", edges=np.array(self.arcs), weights=np.ones(3))
        self.partition("graph.txt")
        want = {path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")}
        self.partition("g.npz:edges")
        self.assertEqual({path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")}, want)

    def stored(self, matrix, *data):
        """The bundle of a matrix in Matrix Market, and that of these data."""
        bundles = []
        scipy.io.mmwrite(str(self.dir / "m.mtx"), matrix.tocoo(), symmetry="general", precision=17)
        for source in [("m.mtx",), data]:
            self.partition(*source)
            bundles.append({path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")})
        return bundles

    def test_sparse_matrices(self):
        """The same bundle as of the matrix in Matrix Market."""
        self.plan("dim N, M\ninput A : sparse f64[N, M]\noutput r = sum(A, over M)\n")
        for seed, (rows, cols, share) in enumerate([(300, 200, 0.05), (1, 5, 0.5), (40, 3, 0.9)]):
            matrix = scipy.sparse.random(rows, cols, share, format="csr", random_state=seed)
            for layout in ["csr", "csc", "coo"]:
                for compressed in [True, False]:
                    scipy.sparse.save_npz(self.dir / "a.npz", matrix.asformat(layout), compressed=compressed)
                    market, archive = self.stored(matrix, "a.npz")
                    self.assertEqual(archive, market)
        scipy.sparse.save_npz(self.dir / "a.npz", matrix.tobsr())
        self.refused("a.npz", says=["its format is 'bsr'", "scipy.sparse.save_npz(name, matrix.tocsr())"])
        again = scipy.sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), (2, 2))
        scipy.sparse.save_npz(self.dir / "a.npz", again)
        self.refused("a.npz", says=["the entry is repeated", "row 0 and column 1 stand twice"])
        self.plan("dim N\ninput G : null[N, N]\noutput d = G @ fill(1.0, N)\n")
        self.refused("a.npz", says="element [1] is not 1")
        ones = scipy.sparse.csr_matrix((np.ones(3, bool), ([0, 1, 1], [1, 0, 1])), (3, 3))
        scipy.sparse.save_npz(self.dir / "a.npz", ones)
        (self.dir / "ones.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n2 2\n")
        self.partition("a.npz")
        archive = {path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")}
        self.partition("ones.mtx")
        self.assertEqual(archive, {path.name: path.read_bytes() for path in (self.dir / "b").glob("part-*")})
        self.plan(TABLE)
        self.refused("a.npz", says=["the file holds a sparse matrix, and the input is dense", "X.toarray()"])

    def test_entries_in_spill_files(self):
        """The same bundle in little memory."""
        self.plan("dim N, M\ninput A : sparse f64[N, M]\noutput r = sum(A, over M)\n")
        draw, size, count = np.random.default_rng(1), 200_000, 2_000_000
        entries = draw.random(count), (draw.integers(0, size, count), draw.integers(0, size, count))
        scipy.sparse.save_npz(self.dir / "a.npz", scipy.sparse.csr_matrix(entries, shape=(size, size)), compressed=False)
        bundles = []
        for options, spills in [([], False), (["--memory", "150M"], True)]:
            self.assertEqual("spill files" in self.partition("a.npz", *options), spills)
            bundles.append([path.read_bytes() for path in sorted((self.dir / "b").glob("part-*"))])
        self.assertEqual(*bundles)

    def test_hostile_matrices(self):
        self.plan("dim N, M\ninput A : sparse f64[N, M]\noutput r = sum(A, over M)\n")
        good = {"format": np.array("csr"), "shape": np.array([2, 3]), "data": np.ones(2), "indices": np.array([0, 2]), "indptr": np.array([0, 1, 2])}
        np.savez(self.dir / "a.npz", **good)
        self.partition("a.npz")
        for name, value, says in [("shape", [2, 2], "element 1 is 2, and the axis has 2 indices"), ("indices", [0, -1], "element 1 is -1"),
                                  ("indptr", [0, 2, 1], "element 1 is larger than the next"), ("indptr", [0, 1, 3], "it does not lead from 0 to the 2"),
                                  ("shape", [1 << 62, 3], "it has 3 elements, and the axis has 4611686018427387904"),
                                  ("indices", [0], "it has 1 elements, and there are 2"), ("shape", [2], "it is not two sizes"),
                                  ("indices", [0.0, 1.0], "indices are integers"), ("data", ["a", "b"], "floats, integers and bools")]:
            np.savez(self.dir / "a.npz", **{**good, name: np.array(value)})
            self.refused("a.npz", says=says)

    def test_damage(self):
        """A changed byte is seen, wherever it stands, or changes no number."""
        self.plan(TABLE)
        numbers = np.arange(40.0).reshape(8, 5)
        np.savez_compressed(self.dir / "x.npz", numbers)
        whole = (self.dir / "x.npz").read_bytes()
        draw = random.Random(7)
        for at in [*range(0, 40, 3), *range(len(whole) - 80, len(whole), 5), *draw.sample(range(len(whole)), 12)]:
            changed = bytearray(whole)
            changed[at] ^= 1 << draw.randrange(8)
            (self.dir / "y.npz").write_bytes(changed)
            done = subprocess.run([TOOLS / "kasen-partition", "--program", "p.kir", "y.npz", "-o", "b", "--replace"], cwd=self.dir,
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, [0, BAD, 69], (at, done.stderr))
            if done.returncode == 0:
                with h5py.File(self.dir / "b" / "arrays.h5") as file:
                    np.testing.assert_array_equal(file["arrays/X/values"][()], numbers)
        for size in [len(whole) - 1, len(whole) // 2, 30, 5]:
            (self.dir / "y.npz").write_bytes(whole[:size])
            self.refused("y.npz", says="the archive is damaged")


class Datasets(TableTest):
    """HDF5 of h5py, and Kasen's own results."""

    def test_datasets_by_name(self):
        self.plan(TABLE)
        numbers = np.random.default_rng(3).normal(size=(5000, 4))
        with h5py.File(self.dir / "x.h5", "w") as file:
            file["X"] = numbers
        np.testing.assert_array_equal(self.values("x.h5"), numbers)
        with h5py.File(self.dir / "x.h5", "a") as file:
            group = file.create_group("some group/deep")
            group.attrs["made by"] = "a test"
            for order in "<>":
                for kind in ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]:
                    group[f"{order}{kind}"] = np.arange(12).reshape(4, 3).astype(order + kind)
            group["flags"] = np.eye(3, dtype=bool)
            group["chunks"] = h5py.Empty("f8")
            file.create_dataset("packed", data=numbers, compression="gzip")
            file["words"] = ["a", "b"]
            file["scalar"] = 3.0
            file["link"] = h5py.SoftLink("/X")
        np.testing.assert_array_equal(self.values("X=x.h5:/X"), numbers)
        np.testing.assert_array_equal(self.values("x.h5:X"), numbers)
        for name in [f"{order}{kind}" for order in "<>" for kind in ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]]:
            np.testing.assert_array_equal(self.values(f"x.h5:/some group/deep/{name}"), np.arange(12).reshape(4, 3))
        np.testing.assert_array_equal(self.values("x.h5:/some group/deep/flags"), np.eye(3))
        err = self.refused("x.h5:/packed", says=["the dataset '/packed' is not read", "it is stored in chunks, or compressed", "python3 -c "])
        subprocess.run([sys.executable, "-c", re.search(r'python3 -c "(.*)"', err)[1]], cwd=self.dir, check=True)
        np.testing.assert_array_equal(self.values("data.npy"), numbers)
        self.refused("x.h5", says=["the file holds 26 arrays", "name one of them: x.h5:/"])
        self.refused("x.h5:/Y", says="the file holds no array '/Y'")
        self.refused("x.h5:/words", says="it holds strings")
        np.testing.assert_array_equal(self.values("x.h5:/scalar"), [[3.0]])  # as of an array without axes in .npy
        self.refused("x.h5:/some group/deep/chunks", says="it has no values")

    def test_single_values_by_name(self):
        """Of a file of others, and of a result: the number that a .npy file of no axes gives, too."""
        (self.dir / "r.ks").write_text("dim N\ninput x : f64[N]\noutput b = sum(x), c = max(x), x\n")
        (self.dir / "s.ks").write_text("dim One local = 1, N\ninput b : f64[One], k : f64[One], x : f64[N]\noutput s = b * k, t = sum(x)\n")
        (self.dir / "x.csv").write_text("1.5\n2\n")
        self.kasen("go", "r.ks", "x=x.csv", "-o", "r.h5", "--no-report")
        with h5py.File(self.dir / "k.h5", "w") as file:
            file["k"] = np.int16(4)
        np.save(self.dir / "b.npy", 3.5)
        for b in ("r.h5:/b", "b.npy"):
            self.kasen("go", "s.ks", f"b={b}", "k=k.h5", "x=x.csv", "-o", "s.h5", "--no-report")
            with h5py.File(self.dir / "s.h5") as file:
                self.assertEqual(file["s"][()].tolist(), [14.0])

    def test_results_keep_their_ids(self):
        """The ranks of a run, whose ids have gaps, are an input beside the same graph."""
        self.kasen("go", PAGERANK, "G=graph.txt", "-o", "r.h5", "--kernels", "interpreter", "--no-report")
        self.plan("dim N\ninput G : null[N, N], pr : f64[N]\noutput s = G @ pr\n")
        self.partition("G=graph.txt", "pr=r.h5:/pr")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "b", "-o", "s.h5", "--kernels", "interpreter")
        with h5py.File(self.dir / "r.h5") as ranks, h5py.File(self.dir / "s.h5") as sums:
            rank = dict(zip(ranks["N_ids"][()].tolist(), ranks["pr"][()].tolist()))
            np.testing.assert_array_equal(sums["N_ids"][()], ranks["N_ids"][()])
            want = {u: 0.0 for u in rank}
            for u, v in self.arcs:
                want[u] += rank[v]
            np.testing.assert_allclose(sums["s"][()], [want[u] for u in sorted(want)], rtol=1e-12)
        (self.dir / "more.txt").write_text((self.dir / "graph.txt").read_text() + "123456 1\n")
        self.refused("G=more.txt", "pr=r.h5:/pr", says=["the data name ", "which dimension N does not have", "the rows of input 'pr' are a result"])

    def test_damage(self):
        """A changed byte of the file is seen, or changes numbers alone: nothing ends a process."""
        self.plan(TABLE)
        with h5py.File(self.dir / "x.h5", "w") as file:
            file["g/X"] = np.arange(40.0).reshape(8, 5)
        whole = (self.dir / "x.h5").read_bytes()
        draw = random.Random(7)
        for at in [*range(8, 100, 7), *draw.sample(range(len(whole)), 30)]:
            changed = bytearray(whole)
            changed[at] ^= 1 << draw.randrange(8)
            (self.dir / "y.h5").write_bytes(changed)
            done = subprocess.run([TOOLS / "kasen-partition", "--program", "p.kir", "y.h5:/g/X", "-o", "b", "--replace"], cwd=self.dir,
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, [0, BAD, 69], (at, done.stderr))
        for size in [len(whole) - 1, len(whole) // 2, 100]:
            (self.dir / "y.h5").write_bytes(whole[:size])
            self.refused("y.h5:/g/X", says="y.h5")


class Cells(TableTest):
    """Missing values, and numbers as countries write them."""

    TEXT = "a,b,c\n1,2,3\n4,NA,6\n7,8,\n10,11,12\n?,14,nan\n"
    WANT = np.array([[1, 2, 3], [4, np.nan, 6], [7, 8, np.nan], [10, 11, 12], [np.nan, 14, np.nan]])

    def setUp(self):
        super().setUp()
        (self.dir / "x.csv").write_text(self.TEXT)

    def test_values_and_means(self):
        self.plan(TABLE)
        self.refused("x.csv", says="x.csv:3:3: error: 'NA' is not a value of type f64")
        self.refused("x.csv", says="leave such rows out: --missing X=drop (or put a number there: X=mean, X=0)")
        self.refused("x.csv", "--missing", "drop", says=["--missing drop names no input", "inputs are X", "write --missing X=drop"], status=USAGE)
        self.refused("x.csv", "--columns", "1-2", says=["--columns 1-2 names no input", "write --columns X=1-2"], status=USAGE)
        for text, place in (("1,,3\n", "1:3"), ("1;;3\n", "1:3"), ('1,"NA",3\n', "1:4"), ("1 ? 3\n", "1:3")):
            (self.dir / "w.csv").write_text(text)
            self.refused("w.csv", says=[f"w.csv:{place}: error: ", "--missing X=drop"])
        (self.dir / "w.csv").write_text("a,b\n1,x\n2,\n")
        self.refused("w.csv", "--words", "X=b", says=["w.csv:3:3: error: a cell is missing", "write a word there, or leave such rows out: --missing X=drop"])
        self.refused("x.csv", "--missing", "X=error", says="x.csv:3:3: error: 'NA'")
        np.testing.assert_array_equal(self.values("x.csv", "--missing", "X=nan"), self.WANT)
        np.testing.assert_array_equal(self.values("x.csv", "--missing", "X=-1.5"), np.nan_to_num(self.WANT, nan=-1.5))
        means = np.where(np.isnan(self.WANT), np.nanmean(self.WANT, axis=0), self.WANT)
        np.testing.assert_allclose(self.values("x.csv", "--missing", "X=mean"), means, rtol=1e-15)
        self.refused("x.csv", "--missing", "X=some", says="'some' is not a value of type f64", status=USAGE)
        self.refused("x.csv", "--missing", "Z=drop", says="the program has no input 'Z'", status=USAGE)
        (self.dir / "y.csv").write_text("1,NA\n2,\n")
        self.refused("y.csv", "--missing", "X=mean", says="column 2 has no value at all")
        self.plan(TABLE.replace("f64", "i64").replace("1.0", "1"))
        self.refused("x.csv", "--missing", "X=mean", says="a mean is no value of type i64", status=USAGE)
        self.refused("x.csv", says="--missing X=drop (or put a number there: X=0)")
        np.testing.assert_array_equal(self.values("x.csv", "--missing", "X=0"), np.nan_to_num(self.WANT).astype(int))

    def test_rows_that_are_left_out(self):
        self.plan("dim N, F local\ninput X : f64[N, F], y : f64[N]\noutput Y = X * 1.0, z = y + 0.0\n")
        (self.dir / "y.csv").write_text("1\n2\n3\nNA\n5\n")
        said = self.partition("X=x.csv", "y=y.csv", "--missing", "X=drop", "--missing", "y=0")
        self.assertIn("note: 3 of 5 rows along N left out: values of input 'X' are missing", said)
        for options, rows, y in [(["--missing", "X=drop", "--missing", "y=0"], [0, 3], [1, 0]), (["--missing", "X=drop", "--missing", "y=drop"], [0], [1]),
                                 (["--missing", "X=9", "--missing", "y=drop"], [0, 1, 2, 4], [1, 2, 3, 5])]:
            X = np.nan_to_num(self.WANT, nan=9)[rows]
            np.testing.assert_array_equal(self.values("X=x.csv", "y=y.csv", *options), X)
            with h5py.File(self.dir / "b" / "arrays.h5") as file:
                np.testing.assert_array_equal(file["arrays/y/values"][()], y)
        np.save(self.dir / "short.npy", np.ones(4))
        self.refused("X=x.csv", "y=short.npy", "--missing", "X=drop", says="they have 5 and 4 rows")
        self.refused("X=x.csv", "y=y.csv", "--missing", "X=drop", says="y.csv:4:1: error: 'NA'")
        self.plan("dim N, F local\ninput G : null[N, N], X : f64[N, F]\noutput Y = G @ X\n")
        (self.dir / "g.txt").write_text("0 1\n1 4\n")
        self.refused("G=g.txt", "X=x.csv", "--missing", "X=drop", says="cannot be left out of input 'G'")
        (self.dir / "none.csv").write_text("NA,1\n2,NA\n")
        self.plan(TABLE)
        self.refused("none.csv", "--missing", "X=drop", says="each row of input 'X' lacks a value")

    def test_points_and_words(self):
        """Planes of points lose the same rows, and words that are missing leave theirs out."""
        self.plan("dim N\ninput X : [f64; 3][N]\noutput s = map(p -> p[0] + p[2], X)\n")
        np.testing.assert_array_equal(self.values("x.csv", "--missing", "X=drop"), self.WANT[[0, 3]].T)
        self.plan(TABLE)
        (self.dir / "w.csv").write_text("kind,size\noak,1\n,2\nelm,3\nNA,4\nash,\n")
        np.testing.assert_array_equal(self.values("w.csv", "--words", "X=kind", "--missing", "X=drop"), [[2, 1], [1, 3]])

    def test_marks(self):
        self.plan(TABLE)
        (self.dir / "m.csv").write_text("1,-999\n.,2\n\"NA\",-\n")
        want = [[1, 0], [0, 2], [0, 0]]
        np.testing.assert_array_equal(self.values("m.csv", "--missing", "X=0", "--missing-as", "-999", "--missing-as", "."), want)
        self.refused("m.csv", "--missing", "X=0", says="m.csv:2:1: error: '.'")

    def test_many_rows(self):
        """Pieces of the text that several threads read, against pandas."""
        draw = np.random.default_rng(11)
        numbers = draw.normal(size=(90000, 3))
        numbers[draw.random(numbers.shape) < 0.1] = np.nan
        lines = [",".join("" if np.isnan(v) else repr(v) for v in row) for row in numbers.tolist()]
        (self.dir / "big.csv").write_text("\n".join(lines) + "\n")
        self.plan(TABLE)
        np.testing.assert_array_equal(self.values("big.csv", "--missing", "X=drop"), numbers[~np.isnan(numbers).any(axis=1)])
        means = np.where(np.isnan(numbers), np.nanmean(numbers, axis=0), numbers)
        np.testing.assert_allclose(self.values("big.csv", "--missing", "X=mean"), means, rtol=1e-12)

    def test_decimal_commas(self):
        self.plan(TABLE)
        (self.dir / "d.csv").write_text("5;2,0\n6;3,25\n")
        self.refused("d.csv", says=["d.csv:1:3: error: '2,0' is not a number", "if the comma is a decimal point, say so: --decimal ,"])
        np.testing.assert_array_equal(self.values("d.csv", "--decimal", ","), [[5, 2], [6, 3.25]])
        (self.dir / "d.csv").write_text("a;b\n1.234,5;-2\n\"1.000.000\";+3,5e2\n12;nan\n")
        self.refused("d.csv", says="--decimal , --thousands .")
        want = [[1234.5, -2], [1e6, 350], [12, np.nan]]
        np.testing.assert_array_equal(self.values("d.csv", "--decimal", ",", "--thousands", "."), want)
        (self.dir / "d.csv").write_text("1,5 2\n3 4,25\n")
        np.testing.assert_array_equal(self.values("d.csv", "--decimal", ","), [[1.5, 2], [3, 4.25]])
        (self.dir / "d.csv").write_text("1'234.5\t2\n")
        np.testing.assert_array_equal(self.values("d.csv", "--thousands", "'"), [[1234.5, 2]])
        for cell in ["12.34,5", "1234.567", ".123", "1..234", "1,2,3", "1.5"]:
            (self.dir / "d.csv").write_text(f"2;3\n1;{cell}\n")
            self.refused("d.csv", "--decimal", ",", "--thousands", ".", says=f"d.csv:2:3: error: '{cell}' is not a number")
        self.refused("d.csv", "--decimal", "x", says="--decimal: 'x' is none of . ,", status=USAGE)
        self.refused("d.csv", "--thousands", ".", "--decimal", ".", says="--decimal and --thousands are both '.'", status=USAGE)

    def test_readings_of_commas_and_points(self):
        """An error names all options that read the cell; --thousands . means a decimal comma."""
        self.plan(TABLE)
        decimal, groups, points = "the comma is a decimal point", "commas group digits", "points group digits"
        for cell, options, says in [
                ("87,613", [], f"if {decimal} (87.613), say so: --decimal ,; if {groups} (87613): --thousands ,"),
                ("-1,613", [], f"if {decimal} (-1.613), say so: --decimal ,; if {groups} (-1613): --thousands ,"),
                ("0,613", [], f"if {decimal}, say so: --decimal ,\n"), ("8,6135", [], f"if {decimal}, say so: --decimal ,\n"),
                ("1,234,567", [], f"if {groups}, say so: --thousands ,\n"), ("1,234.5", [], f"if {groups}, say so: --thousands ,\n"),
                ("1.234.567", [], f"if {points}, say so: --thousands .\n"), ("1'234", [], "if apostrophes group digits, say so: --thousands \"'\"\n"),
                ("1_234", [], "if underscores group digits, say so: --thousands _\n"),
                ("2.107,73", [], f"if {decimal}, and {points}, say so: --decimal , --thousands .\n"),
                ("2.107,73", ["--decimal", ","], f"if {points}, say so: --thousands .\n"),
                ("87.613", ["--decimal", ","], f"if the point is a decimal point (87.613), leave out --decimal and --thousands; if {points} (87613): --thousands ."),
                ("1.5", ["--decimal", ","], "if the point is a decimal point, leave out --decimal and --thousands\n"),
                ("2.107,73", ["--thousands", ","], f"if {decimal}, and {points}, say so: --decimal , --thousands .\n"),
                ("oak", ["--decimal", ","], "write a number, as the others are; if column 2 holds words, say so: --words X=2; "
                 "if 'oak' marks a missing value, say so: --missing-as oak --missing X=drop\n")]:
            (self.dir / "d.csv").write_text(f"5;2\n6;{cell}\n")
            self.refused("d.csv", *options, says=["d.csv:2:3: error: ", says])
        (self.dir / "d.csv").write_text("5;2\n6;2.107,73\n1.000;0\n")
        np.testing.assert_array_equal(self.values("d.csv", "--thousands", "."), [[5, 2], [6, 2107.73], [1000, 0]])

    def test_go_hands_them_on(self):
        (self.dir / "p.ks").write_text(TABLE)
        (self.dir / "d.csv").write_text("1,5;NA\n2;-\n")
        self.kasen("go", "p.ks", "d.csv", "--decimal", ",", "--missing", "X=0", "--missing-as", "-", "-o", "r.h5", "--kernels", "interpreter")
        with h5py.File(self.dir / "r.h5") as file:
            np.testing.assert_array_equal(file["Y"][()], [[1.5, 0], [2, 0]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
