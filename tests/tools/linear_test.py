#!/usr/bin/env python3
"""Linear algebra on whole arrays: results are NumPy's, in the usual layout and over meshes, and faults are clear.

Usage: linear_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ToolTest  # noqa: E402

PROGRAM = """dim N, F local, K local
input X : T[N, F], y : T[N], Y : T[N, K]
H = X' @ X
b = solve(H, X' @ y)
B = solve(H, X' @ Y)
G = inv(H)
L = cholesky(H)
Q, R = qr(H)
w, V = eigh(H)
U, s, W = svd(H)
e = y - X @ b
for i in 0..3 {
  w, V = eigh(H + V * 0.0)
}
output b, B, G, L, Q, R, w, V, U, s, W, e
"""


class Linear(ToolTest):
    def wanted(self, x, y, many):
        h = x.T @ x
        q, r = numpy.linalg.qr(h)
        signs = numpy.sign(numpy.diag(r))
        w, v = numpy.linalg.eigh(h)
        u, s, vt = numpy.linalg.svd(h)
        sign = lambda m: numpy.array([numpy.sign(c[numpy.argmax(abs(c) >= abs(c).max() / 2)]) for c in m.T])  # noqa: E731
        b = numpy.linalg.solve(h, x.T @ y)
        return {"b": b, "B": numpy.linalg.solve(h, x.T @ many), "G": numpy.linalg.inv(h), "L": numpy.linalg.cholesky(h),
                "Q": q * signs, "R": (r.T * signs).T, "w": w, "V": v * sign(v), "U": u * sign(vt.T), "s": s,
                "W": vt.T * sign(vt.T), "e": y - x @ b}

    def test_results_are_numpys(self):
        numbers = numpy.random.default_rng(8)
        for columns, kind in [(5, "f64"), (1, "f64"), (12, "f64"), (4, "f32")]:
            real = "f8" if kind == "f64" else "f4"
            x, y, many = (numbers.normal(size=shape).astype(real) for shape in [(60, columns), (60,), (60, 3)])
            for name, array in [("X", x), ("y", y), ("Y", many)]:
                numpy.save(self.dir / f"{name}.npy", array)
            (self.dir / "l.ks").write_text(PROGRAM.replace(" T[", f" {kind}["))
            self.kasen("plan", "l.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", "X=X.npy", "y=y.npy", "Y=Y.npy", "--workers", "3", "-o", "bundle", "--replace")
            for options, ranks in [([], 0), (["--strategy", "cost"], 2), (["--strategy", "none"], 3), (["--mesh", "2x2"], 2)]:
                self.kasen("fuse", "p.kir", *options, "--bundle", "bundle", "-o", "f.kir")
                for kernels in ["generated", "interpreter"]:
                    self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", "--program", "p.kir",
                               "--verify", "all", "--kernels", kernels, *(["-n", str(ranks)] if ranks else []))
                    out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
                    self.assertIn("agree to the byte", out)
                    close = 1e-9 if kind == "f64" else 2e-3
                    for name, value in self.wanted(*(a.astype("f8") for a in (x, y, many))).items():
                        got = numpy.load(self.dir / ("out.npy" if name == "b" else f"out-{name}.npy"))
                        numpy.testing.assert_allclose(got, value, rtol=close, atol=close * abs(value).max(), err_msg=f"{name} {columns}")

    def test_rounding_is_no_fault(self):
        """Matrices whose results rounding decides: zero eigenvalues, equal ones, large condition numbers."""
        one, place = numpy.outer([1.0, 2, 3], [1.0, 2, 3]), numpy.arange(10)
        hilbert = 1 / (1 + place[:, None] + place)
        calls = {"w, V = eigh(H)\noutput w": lambda h: numpy.linalg.eigvalsh(h), "U, s, V = svd(H)\noutput s": lambda h: numpy.linalg.svd(h)[1],
                 "Q, R = qr(H)\noutput z = Q @ R": lambda h: h, "w, V = eigh(H)\noutput V": None, "U, s, V = svd(H)\noutput V, U": None}
        regular = {"output z = inv(H) @ H": None, "output z = solve(H, fill(1.0, F))": None, "L = cholesky(H)\noutput z = L @ L'": lambda h: h}
        for matrix in [one, hilbert, numpy.eye(4)]:
            numpy.save(self.dir / "H.npy", matrix)
            for call, wanted in {**calls, **(regular if matrix is not one else {})}.items():
                (self.dir / "h.ks").write_text(f"dim F local\ninput H : f64[F, F]\n{call}\n")
                for options in [[], ["--verify", "all"], ["--workers", "2", "-n", "2"]]:
                    self.kasen("go", "h.ks", "H=H.npy", "-o", "out.npy", *options)
                if wanted is not None:
                    numpy.testing.assert_allclose(numpy.load(self.dir / "out.npy"), wanted(matrix), atol=1e-14 * abs(matrix).sum())

    def test_tall_matrices(self):
        x = numpy.random.default_rng(2).normal(size=(9, 4))
        numpy.save(self.dir / "X.npy", x)
        (self.dir / "t.ks").write_text("dim C local, F local\ninput X : f64[C, F]\nQ, R = qr(X)\nU, s, V = svd(X)\n"
                                       "output a = Q @ R, b = U @ (s * V)', o = Q' @ Q, p = U' @ U, s\n".replace("(s * V)'", "(V * s)'"))
        self.kasen("go", "t.ks", "X=X.npy", "-o", "out.npy")
        for name, value in [("a", x), ("b", x), ("o", numpy.eye(4)), ("p", numpy.eye(4))]:
            got = numpy.load(self.dir / ("out.npy" if name == "a" else f"out-{name}.npy"))
            numpy.testing.assert_allclose(got, value, atol=1e-13)

    def test_fewer_rows_than_columns(self):
        """Q and R of the matrix's own rank, and zeros."""
        x = numpy.random.default_rng(3).normal(size=(3, 7))
        numpy.save(self.dir / "X.npy", x)
        (self.dir / "t.ks").write_text("dim C local, F local\ninput X : f64[C, F]\nQ, R = qr(X)\noutput Q, R\n")
        for kernels in ["generated", "interpreter"]:
            self.kasen("go", "t.ks", "X=X.npy", "-o", "out.npy", "--kernels", kernels, "--dir", kernels)
            q, r = numpy.load(self.dir / "out.npy"), numpy.load(self.dir / "out-R.npy")
            wanted_q, wanted_r = numpy.linalg.qr(x)
            signs = numpy.sign(numpy.diag(wanted_r))
            numpy.testing.assert_allclose(q[:, :3], wanted_q * signs, atol=1e-13)
            numpy.testing.assert_allclose(r[:3], wanted_r * signs[:, None], atol=1e-13)
            self.assertEqual((q[:, 3:] != 0).sum() + (r[3:] != 0).sum(), 0)

    def test_faults(self):
        head = "dim N, F local, C local, K local\ninput X : f64[N, F], A : f64[F, F], B : f64[C, F], g : f64[F], k : i64[F, F]\n"
        for text, says in [("z = solve(X, g)", "'N', which is cut"), ("z = solve(B, g)", "over [C, F]"), ("z = inv(k)", "inv of i64"),
                           ("z = qr(A)", "write Q, R = qr(X)"), ("z, R = svd(A)", "svd gives 3"), ("z, R = inv(A)", "gives one value"),
                           ("z = solve(A)", "solve of 1 arguments"), ("z = inv(g)", "inv of an array over [F]"), ("z, z = qr(A)", "'z' is named twice"),
                           ("z, F = qr(A)", "'F' cannot be assigned"), ("z = solve(A, B)", "right side over [C, F]")]:
            (self.dir / "bad.ks").write_text(head + text + "\noutput z\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])
        for call, matrix, says in [("z = solve(A, g)", [[1, 2], [2, 4]], "solve of a singular matrix"), ("z = inv(A)", [[0, 0], [0, 0]], "inv of a singular"),
                                   ("z = inv(A)", [[1, 1], [1, 1 + 1e-16]], "singular"), ("z = cholesky(A)", [[1, 2], [2, 1]], "order 2 is not positive")]:
            (self.dir / "run.ks").write_text(f"dim F local\ninput A : f64[F, F], g : f64[F]\n{call}\noutput z\n")
            numpy.save(self.dir / "A.npy", numpy.array(matrix, dtype="f8"))
            numpy.save(self.dir / "g.npy", numpy.ones(2))
            self.kasen("plan", "run.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", "A=A.npy", "g=g.npy", "--workers", "2", "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "-o", "f.kir")
            for kernels in ["generated", "interpreter"]:
                for ranks in [[], ["-n", "2"]]:
                    self.fault("run", "f.kir", "--bundle", "bundle", "-o", "o.npy", "--kernels", kernels, *ranks, status=BAD, says=["run.ks:3", says])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
