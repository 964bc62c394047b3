#!/usr/bin/env python3
"""Arrays that have a dimension twice, beside NumPy: functions whose heads name both axes, and single elements.

Usage: square_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from tools_test import ToolTest  # noqa: E402

CALLS = """dim N{local}
input A : dense f64[N, N], w : f64[N], Y : dense f64[N, N]
def scaled(A : [R, C], v : [R]) {{
  B = A * v
  return B, sum(B, over C), sum(B, over R)
}}
def mixed(A : [R, C], B : [R, D], v : [C]) = sum(A * v, over C) + B @ fill(1.0, D)
def inner(T : [R, C, D], v : [C]) = sum(T * v, over C)
a, b, c = scaled(A, w)
T = [i in N, j in N, k in N: A[i, j] * Y[j, k]]
output a, b, c, d = weighted_gram(A, w), e = cov(A), f = matrix_norm1(A), g = matrix_norm_inf(A), h = corrcoef(A), i = cross_cov(A, Y)
output j = pairwise_cosine(A, Y), k = mixed(A, Y, w), l = inner(T, w)
"""
ELEMENTS = """dim N{local}, R
input A : dense f64[N, N], T : dense f64[R, N, N]
param i = 2, j = 4
B = A
B[0, 1] = 7
B[i, i] += 0.5
B[j, 2] = A[0, 1]
S = T
S[1, 2, 3] = 9
output B, S, a = A[0, 1], b = A[i, j], t = T[1, 0, 3]
"""


class Square(ToolTest):
    def results(self, program, names, *options, **arrays):
        (self.dir / "p.ks").write_text(program)
        for name, value in arrays.items():
            np.save(self.dir / f"{name}.npy", value)
        self.kasen("go", "p.ks", *(f"{name}={name}.npy" for name in arrays), "-o", "r.h5", *options)
        with h5py.File(self.dir / "r.h5") as file:
            return [file[name][()] for name in names]

    def test_calls(self):
        rng = np.random.default_rng(1)
        A, Y, w = rng.normal(size=(5, 5)), rng.normal(size=(5, 5)), rng.uniform(1, 2, size=5)
        B, T = w[:, None] * A, A[:, :, None] * Y[None]
        n, m = np.linalg.norm(A, axis=1), np.linalg.norm(Y, axis=1)
        wanted = [B, B.sum(1), B.sum(0), A.T @ np.diag(w) @ A, np.cov(A.T), np.linalg.norm(A, 1), np.linalg.norm(A, np.inf), np.corrcoef(A.T),
                  (A - A.mean(0)).T @ (Y - Y.mean(0)) / 4, 1 - A @ Y.T / np.outer(n, m), A @ w + Y.sum(1), np.einsum("ijk,j->ik", T, w)]
        for local in ("", " local"):
            for workers in (1, 3):
                made = self.results(CALLS.format(local=local), "abcdefghijkl", "--workers", workers, A=A, w=w, Y=Y)
                for name, one, other in zip("abcdefghijkl", made, wanted):
                    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=f"{name}{local} on {workers}")

    def test_elements(self):
        rng = np.random.default_rng(2)
        A, T = rng.normal(size=(5, 5)), rng.normal(size=(2, 5, 5))
        B, S = A.copy(), T.copy()
        B[0, 1], B[4, 2], S[1, 2, 3] = 7, A[0, 1], 9
        B[2, 2] += 0.5
        for local in ("", " local"):
            for workers in (1, 3):
                made = self.results(ELEMENTS.format(local=local), ["B", "S", "a", "b", "t"], "--workers", workers, A=A, T=T)
                for one, other in zip(made, [B, S, A[0, 1], A[2, 4], T[1, 0, 3]]):
                    np.testing.assert_array_equal(one, other)

    def test_a_mask_of_one_axis_is_refused(self):
        (self.dir / "p.ks").write_text("dim N\ninput A : dense f64[N, N]\nB = A\nB[sum(A, over rows) > 0] = 0\noutput B\n")
        err = self.kasen("plan", "p.ks", status=65)[1]
        for text in ["a mask over [N] for an array over [N, N]", "rows or columns", "[i in N, j in N: if mask[i] then v else B[i, j]]"]:
            self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
