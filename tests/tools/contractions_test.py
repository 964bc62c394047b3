#!/usr/bin/env python3
"""Contractions of block-partitioned tensors (NumS: Elibol and others, 2022): a product of matrices, MTTKRP as it is meant and as
the paper prints it, and a sum over two dimensions. Values are np.einsum's on any workers and meshes, and what moves stays
below what the operands and the results have.

Usage: contractions_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402

HEAD = """use "linalg"
dim I, J, K, F
input A : dense T[I, J], B : dense T[J, K], X : dense T[I, J, K], U : dense T[I, F], V : dense T[J, F], W : dense T[K, F]
input Y : dense T[J, K, F]
"""
# The forms of each, in NumPy's subscripts with their operands.
FORMS = {
    ("ij,jk->ik", "AB"): ["A @ B", "[i in I, k in K: sum(j in J: A[i, j] * B[j, k])]"],
    ("ij,jk->ki", "AB"): ["[k in K, i in I: sum(j in J: A[i, j] * B[j, k])]"],
    ("ijk,jf,kf->if", "XVW"): ["mttkrp(X, V, W)", "[i in I, f in F: sum(j in J, k in K: X[i, j, k] * V[j, f] * W[k, f])]"],
    ("ijk,if,kf->jf", "XUW"): ["[j in J, f in F: sum(i in I, k in K: X[i, j, k] * U[i, f] * W[k, f])]"],
    ("ijk,if,jf->kf", "XUV"): ["[k in K, f in F: sum(i in I, j in J: X[i, j, k] * U[i, f] * V[j, f])]"],
    ("ijk,if,jf->if", "XUV"): ["[i in I, f in F: sum(j in J, k in K: X[i, j, k] * U[i, f] * V[j, f])]"],
    ("ijk,jkf->if", "XY"): ["double_contraction(X, Y)", "[i in I, f in F: sum(j in J, k in K: X[i, j, k] * Y[j, k, f])]"],
    ("ijk,ij->k", "XA"): ["[k in K: sum(i in I, j in J: X[i, j, k] * A[i, j])]"],
    ("ijk,ijk->", "XX"): ["sum(i in I, j in J, k in K: X[i, j, k] * X[i, j, k])"],
}
DIMS = {"A": "IJ", "B": "JK", "X": "IJK", "U": "IF", "V": "JF", "W": "KF", "Y": "JKF"}
SHAPES = [(12, 8, 6, 4), (13, 7, 5, 3), (1, 5, 9, 2), (11, 1, 4, 1)]  # of I, J, K and F
LAYOUTS = [("plain", ["--workers", "1"]), ("plain", ["--workers", "3"]), ("plain", ["--workers", "4", "-n", "2"]), ("2x2", []), ("1x3", [])]


class Contractions(ArrayTest):
    def data(self, shape, of):
        sizes = dict(zip("IJKF", shape))
        random = np.random.default_rng(shape[0])
        return {name: random.normal(size=[sizes[d] for d in dims]).astype(of) for name, dims in DIMS.items()}

    def plan(self, text, layouts):
        (self.dir / "t.ks").write_text(text)
        self.kasen("plan", "t.ks", "-o", "p.kir")
        for name in dict.fromkeys(layouts):
            self.kasen("fuse", "p.kir", *([] if name == "plain" else ["--mesh", name]), "-o", f"{name}.kir")

    def check(self, shape, of, layouts):
        data = self.data(shape, of)
        self.kasen("partition", "--program", "p.kir", *self.save(data), "--workers", "4", "-o", "bundle", "--replace")
        wanted = {f"r{i}_{k}": np.asarray(np.einsum(subscripts, *(data[name] for name in operands)))
                  for i, ((subscripts, operands), forms) in enumerate(FORMS.items()) for k in range(len(forms))}
        for plan, options in layouts:
            self.run_it(f"{plan}.kir", wanted, f"{shape} {plan} {options}", *options)

    def program(self, of):
        return HEAD.replace(" T[", f" {of}[") + "".join(f"output r{i}_{k} = {form}\n" for i, forms in enumerate(FORMS.values())
                                                      for k, form in enumerate(forms))

    def close(self, name, made):
        return 1e-3 if made.dtype == np.float32 else 1e-11

    def test_values_are_those_of_einsum(self):
        self.plan(self.program("f64"), [name for name, _ in LAYOUTS])
        for shape in SHAPES:
            self.check(shape, np.float64, LAYOUTS)

    def test_single_precision(self):
        self.plan(self.program("f32"), ["plain", "2x2"])
        self.check((13, 7, 5, 3), np.float32, [("plain", ["--workers", "3"]), ("2x2", [])])

    def test_what_moves(self):
        """The tensor stays where it is: factors and results travel. On a square mesh a product of matrices moves each operand once."""
        data = self.data((48, 40, 32, 4), np.float64)
        for (subscripts, operands), forms in FORMS.items():
            names = dict.fromkeys(operands)
            dims = [d for d in "IJKF" if any(d in DIMS[name] for name in names)]
            inputs = "".join(f"input {name} : dense f64[{', '.join(DIMS[name])}]\n" for name in names)
            (self.dir / "t.ks").write_text(f'use "linalg"\ndim {", ".join(dims)}\n{inputs}output z = {forms[0]}\n')
            self.kasen("plan", "t.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", *self.save({name: data[name] for name in names}), "--workers", "4", "-o",
                       "bundle", "--replace")
            result = np.asarray(np.einsum(subscripts, *(data[name] for name in operands)))
            size = {name: data[name].nbytes for name in names if name != "X"}
            for layout in [[], ["--mesh", "2x2"]]:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", *layout, "-o", "f.kir")
                self.run_it("f.kir", {"z": result}, f"{subscripts} {layout}")
                moved = sum(op["network_bytes"] for op in json.loads((self.dir / "run.json").read_text())["operators"])
                most = sum(size.values()) if layout and "X" not in names else 3 * (sum(size.values()) + 2 * result.nbytes)
                print(f"\n{subscripts} {' '.join(layout)}: {moved:,} bytes, {most:,} at most, of {sum(data[n].nbytes for n in names):,}", end="")
                self.assertLessEqual(moved, most, f"{subscripts} {layout}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
