#!/usr/bin/env python3
"""Files of sparse samples that are cut into batches: the parts hold what SciPy's rows hold.

Usage: sparse_batches_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np
import scipy.io
import scipy.sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
from tools_test import BAD, ToolTest  # noqa: E402

PLAN = """kir 1 level 1
module batches {{
  dim T local
  dim N{rows}
  dim F{cols}
  %X = input "X" : {element}[T,N,F] sparse @?
{more}}}
##end
"""
LABELS = '  %y = input "y" : f64[T,N] @?\n'
METHODS = ("block", "hybrid-cut", "ml")


class SparseBatches(ToolTest):
    batches, rows, cols = 4, 15, 30

    def setUp(self):
        super().setUp()
        numbers = np.random.default_rng(3)
        lines = self.batches * self.rows
        X = scipy.sparse.random(lines, self.cols, 0.2, format="lil", random_state=numbers)
        X[lines - 1, self.cols - 1] = 0.25  # so the largest ids are those of the shape
        self.X = X.tocsr()
        self.y = numbers.normal(size=lines)
        self.plan()

    def plan(self, element="f64", more="", rows="", cols=""):
        (self.dir / "p.kir").write_text(PLAN.format(element=element, more=more, rows=rows, cols=cols))

    def write(self, form):
        """The matrix in a file of this format; with LIBSVM, beside labels."""
        X, name = self.X.tocoo(), f"x.{form}"
        if form == "mtx":
            scipy.io.mmwrite(str(self.dir / name), X, symmetry="general", precision=17)
        elif form == "svm":
            with open(self.dir / name, "w") as file:
                for i in range(self.X.shape[0]):
                    row = self.X[i]
                    file.write(f"{float(self.y[i])!r} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in zip(row.indices, row.data)) + "\n")
        elif form == "npy":
            np.save(self.dir / name, np.stack([X.row, X.col], axis=1))
        else:
            order = np.random.default_rng(4).permutation(X.nnz)
            (self.dir / name).write_text("".join(f"{X.row[k]} {X.col[k]} {float(X.data[k])!r}\n" for k in order))
        return name

    def partition(self, *data, workers=1, method="hybrid-cut", sizes=("T=4",), more=()):
        options = [word for size in sizes for word in ("--dim", size)]
        return self.kasen("partition", "--replace", "--program", "p.kir", *data, "--workers", workers, "--method", method, *options, *more,
                          "-o", "b")[1]

    def parts(self):
        names = json.loads((self.dir / "b" / "manifest.json").read_text())["content"]["parts"]
        return [h5py.File(self.dir / "b" / part["file"]) for part in names]

    @staticmethod
    def masters(part, dim, size):
        dims = part["dims"][dim]
        return dims["masters"][:] if "masters" in dims else np.arange(size)

    def check(self, values=True):
        """The entries of all parts, by batch, are those of the file's rows; each batch has its run of lines."""
        wanted = self.X if values else (self.X != 0).astype(float)
        found = [scipy.sparse.lil_matrix((self.rows, self.cols)) for _ in range(self.batches)]
        entries = 0
        for part in self.parts():
            group = part["matrices/X"]
            pointers, columns, data = group["pointers_to_1"][:], group["indices_1"][:], group["values"][:]
            facts = json.loads(group.attrs["binsparse"])
            self.assertEqual(facts["kasen"]["batches"], self.batches)
            of_row = np.concatenate([self.masters(part, "N", self.rows), group["row_slaves"][:]])
            of_col = np.concatenate([self.masters(part, "F", self.cols), group["col_slaves"][:]])
            self.assertEqual(facts["binsparse"]["shape"], [self.batches * len(of_row), len(of_col)])
            lines = scipy.sparse.csr_matrix((data if values else np.ones(len(columns)), columns, pointers), shape=(self.batches * len(of_row), len(of_col)))
            for t in range(self.batches):
                batch = lines[t * len(of_row):(t + 1) * len(of_row)].tocoo()
                self.assertTrue((found[t][of_row[batch.row], of_col[batch.col]].toarray() == 0).all() if batch.nnz else True)
                for i, j, v in zip(of_row[batch.row], of_col[batch.col], batch.data):
                    found[t][i, j] = v
            entries += len(columns)
        self.assertEqual(entries, self.X.nnz)
        for t in range(self.batches):
            np.testing.assert_array_equal(found[t].toarray(), wanted[t * self.rows:(t + 1) * self.rows].toarray())

    def test_every_format_method_and_number_of_workers(self):
        for form in ("mtx", "svm", "edges"):
            name = self.write(form)
            for workers in (1, 3):
                for method in METHODS:
                    self.partition(f"X={name}", workers=workers, method=method)
                    self.check()
        self.assertIn("a bundle of 3 parts", self.kasen("verify", "b")[0])
        stats, _ = self.kasen("partition", "--stats", "b")
        self.assertIn(f"matrix X [N, F] in 4 batches: {self.X.nnz} entries", stats)

    def test_sizes_and_local_dimensions(self):
        name = self.write("edges")
        for sizes in (["N=15"], ["T=4", "N=15"]):
            self.partition(f"X={name}", workers=2, sizes=sizes)
            self.check()
        for local in ({"rows": " local"}, {"cols": " local"}):
            self.plan(**local)
            self.partition(f"X={name}", workers=3)
            self.check()

    def test_patterns(self):
        self.plan(element="null")
        X = self.X.tocoo()
        edges = "".join(f"{i} {j}\n" for i, j in zip(X.row, X.col))
        (self.dir / "x.edges").write_text(edges + edges[:edges.index("\n") + 1])  # a repeat is one entry
        for name in ("x.edges", self.write("npy")):
            self.partition(f"X={name}", workers=3)
            self.check(values=False)

    def test_labels_are_those_of_the_same_samples(self):
        self.plan(more=LABELS)
        name = self.write("svm")
        self.partition(f"X={name}", f"y={name}", workers=3)
        self.check()
        for part in self.parts():
            at = self.masters(part, "N", self.rows)
            np.testing.assert_array_equal(part["arrays/y/values"][:].reshape(len(at), self.batches),
                                          self.y.reshape(self.batches, self.rows)[:, at].T)

    def test_memory_that_does_not_hold_the_entries(self):
        """Through spill files, the parts are the same bytes."""
        numbers = np.random.default_rng(5)
        X = scipy.sparse.random(40_000, 500, 0.02, format="coo", random_state=numbers)
        scipy.io.mmwrite(str(self.dir / "large.mtx"), X, symmetry="general")
        self.partition("X=large.mtx", workers=3)
        wanted = {path.name: path.read_bytes() for path in (self.dir / "b").iterdir()}
        self.assertIn("spill files: ", self.partition("X=large.mtx", workers=3, more=["--memory", "60M"]))
        self.assertEqual({path.name: path.read_bytes() for path in (self.dir / "b").iterdir()}, wanted)

    def test_a_method_that_is_chosen(self):
        self.partition(f"X={self.write('mtx')}", workers=3, method="auto")
        self.check()

    def test_refusals(self):
        name = self.write("mtx")
        command = ["partition", "--program", "p.kir", f"X={name}", "-o", "new"]
        self.fault(*command, "--dim", "T=7", status=BAD, says=["'X' (x.mtx) has 60 rows", "T has 7 indices", "leave out 4 rows"])
        self.fault(*command, "--dim", "N=16", status=BAD, says=["N has 16 indices", "leave out 12 rows"])
        self.fault(*command, status=BAD, says=["the size of neither T nor N is given", "--dim T=SIZE"])
        self.fault(*command, "--dim", "T=4", "--dim", "N=14", status=BAD, says="4 batches of 14 rows have 56")
        (self.dir / "x.edges").write_text("1 0 2.5\n8 1 3.5\n")
        command[3] = "X=x.edges"
        self.fault(*command, "--dim", "T=4", status=BAD, says="its row ids look 1-based: they run from 1 to 8")
        (self.dir / "x.edges").write_text("0 0 2.5\n7 1 3.5\n2 1 1.5\n0 0 1\n")
        self.fault(*command, "--dim", "T=4", status=BAD, says=["x.edges:4", "the entry is repeated"])
        self.assertFalse((self.dir / "new").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
