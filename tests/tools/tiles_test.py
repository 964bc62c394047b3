#!/usr/bin/env python3
"""Dimensions of workers: tiles as an axis of arrays. Values are NumPy's for each number of workers, what moves is what was
predicted, and numbers that contradict are told.

Usage: tiles_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD, ROOT, USAGE  # noqa: E402

TILES = """dim N, K local, W workers, V workers, B local = N / W, WK = W * K
input A : dense f64[N, K], y : f64[N]
T = reshape(A, [W, B])
s = sum(T, over B)
p = cumsum(s, over W) - s
c = [w in W, v in V: 10 * i64(w) + i64(v)]
d = [v in V, w in W: c[w, v]]
g = [w in W, k in K: s[w, k] + f64(w)]
H = [w in W, k in K, l in K: sum(b in B: T[w, b, k] * T[w, b, l])]
z = reshape(y, [W, B])
r = [w in W, k in K: sum(b in B: T[w, b, k] * z[w, b])]
x = solve(H, r)
L = cholesky(H)
e = y - reshape([w in W, b in B: sum(k in K: T[w, b, k] * x[w, k])], N)
for i in 0..3 {
  s = s + 0.5 * sum(s, over W)
}
output s, p, d, g, x, L, e, m = max(T, over W), n = size(W), i = i64(index(W)), f = sum(reshape(g, WK))
"""


def numpy_tiles(A, y, workers):
    K = A.shape[1]
    T, z, w = A.reshape(workers, -1, K), y.reshape(workers, -1), np.arange(workers)
    s, H = T.sum(1), np.einsum("wbk,wbl->wkl", T, T)
    x = np.linalg.solve(H, np.einsum("wbk,wb->wk", T, z)[:, :, None])[:, :, 0]
    last = s
    for _ in range(3):
        last = last + 0.5 * last.sum(0)
    g = s + w[:, None]
    return {"s": last, "p": s.cumsum(0) - s, "d": 10 * w[None, :] + w[:, None], "g": g, "x": x, "L": np.linalg.cholesky(H),
            "e": (z - np.einsum("wbk,wk->wb", T, x)).ravel(), "m": T.max(0), "n": np.array(workers), "i": w,
            "f": np.array(g.sum())}


class Tiles(ArrayTest):
    def close(self, name, made):
        return 1e-9

    def numbers(self, n, k):
        random = np.random.default_rng(n)
        return {"A": random.normal(size=(n, k)), "y": random.normal(size=n)}

    def network(self, plan, *options):
        out, _ = self.kasen("measure", plan, "--bundle", "bundle", *options, "--format", "json")
        return self.predicted(out)

    def predicted(self, report):
        return sum(row["actual"]["network_bytes"]["value"] for row in json.loads(report)["operators"])

    def counted(self):
        return sum(op["network_bytes"] for op in json.loads((self.dir / "run.json").read_text())["operators"])

    def test_values_are_numpys_for_each_number_of_workers(self):
        (self.dir / "t.ks").write_text(TILES)
        self.kasen("plan", "t.ks", "-o", "p.kir")
        data = self.numbers(24, 3)
        files = self.save(data)
        self.kasen("partition", "--program", "p.kir", *files, "--workers", "4", "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        for workers, ranks in [(1, []), (2, []), (3, ["-n", "3"]), (4, ["-n", "2"]), (6, [])]:
            wanted = numpy_tiles(data["A"], data["y"], workers)
            self.run_it("f.kir", wanted, f"{workers} workers", "--workers", str(workers), *ranks)
        for mesh, workers in [("2x2", 4), ("3x2", 6), ("1x4", 4)]:
            self.kasen("fuse", "p.kir", "--mesh", mesh, "-o", "m.kir")
            self.run_it("m.kir", numpy_tiles(data["A"], data["y"], workers), mesh)

    def test_tiles_of_rows_move_nothing(self):
        (self.dir / "t.ks").write_text("dim N, K local, W workers, B local = N / W\ninput A : f64[N, K]\n"
                                       "output T = tanh(reshape(A, [W, B])), U = reshape(2.0 * reshape(A, [W, B]), N)\n")
        self.kasen("plan", "t.ks", "-o", "p.kir")
        data = {"A": self.numbers(24, 3)["A"]}
        self.kasen("partition", "--program", "p.kir", *self.save(data), "--workers", "2", "-o", "bundle")
        for options, workers in [([], 2), ([], 4), (["--mesh", "2x3"], 6)]:
            self.kasen("fuse", "p.kir", *options, "-o", "f.kir")
            plan = (self.dir / "f.kir").read_text()
            self.assertIn(" = reshape[N of W, B] ", plan)
            self.assertNotIn("relayout", plan)
            more = [] if options else ["--workers", str(workers)]
            self.run_it("f.kir", {"T": np.tanh(data["A"]).reshape(workers, -1, 3), "U": 2 * data["A"]}, options, *more)
            self.assertEqual(self.counted(), 0)

    def test_tall_matrices_are_factored_through_their_tiles(self):
        """examples/tsqr.ks: only the R factors travel, each to all others."""
        data = {"A": self.numbers(1200, 5)["A"]}
        files = self.save(data)
        self.kasen("plan", ROOT / "examples" / "tsqr.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *files, "--workers", "4", "-o", "bundle")
        R = np.linalg.qr(data["A"])[1]
        R = R * np.sign(np.diag(R))[:, None]
        Q = np.linalg.solve(R.T, data["A"].T).T
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        for workers, ranks in [(1, []), (2, ["-n", "2"]), (4, []), (6, ["-n", "3"])]:
            for kernels in ["generated", "interpreter"]:
                self.run_it("f.kir", {"Q": Q, "R": R}, f"{workers} workers", "--workers", str(workers), "--kernels", kernels, *ranks)
                q = np.load(self.dir / "out.npy")
                np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-12)
                np.testing.assert_allclose(q @ np.load(self.dir / "out-R.npy"), data["A"], atol=1e-12)
            moved = self.counted()
            self.assertEqual(moved, 8 * 5 * 5 * workers * (workers - 1))
            self.assertEqual(moved, self.network("f.kir", "--workers", str(workers)))
            print(f"\n{workers} workers: {moved:,} bytes predicted and counted, of a matrix of {data['A'].nbytes:,}", end="")
        for rows in [1200, 1199, 7]:  # any number, also tiles of fewer rows than columns
            files = self.save({"A": data["A"][:rows]})
            out, _ = self.kasen("go", ROOT / "examples" / "tsqr.ks", *files, "--workers", "3", "-o", "go.npy", "--dir", f"work{rows}")
            self.assertIn("verif", out)
            q, r = np.load(self.dir / "go.npy"), np.load(self.dir / "go-R.npy")
            np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-12)
            np.testing.assert_allclose(q @ r, data["A"][:rows], atol=1e-12)

    def test_numbers_that_contradict_are_told(self):
        (self.dir / "t.ks").write_text("dim N, W workers, B local = N / W, WM = W * B\ninput y : f64[N]\n"
                                       "output t = sum(reshape(y, [W, B]), over B)\n")
        self.kasen("plan", "t.ks", "-o", "p.kir")
        files = self.save({"y": np.arange(12.0)})
        _, err = self.kasen("partition", "--program", "p.kir", *files, "--workers", "5", "-o", "bundle", status=BAD)
        self.assertIn("dimension 'B' is N / W, but 'N' has 12 indices and 'W' 5", err)
        self.assertIn("add 3 indices: dim Z local fills N / W, S = N + Z, B = S / W", err)
        _, err = self.kasen("partition", "--program", "p.kir", *files, "--dim", "W=4", "-o", "bundle", status=USAGE)
        self.assertIn("'W' has an index for each worker", err)
        self.kasen("partition", "--program", "p.kir", *files, "--workers", "4", "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        _, err = self.kasen("run", "f.kir", "--bundle", "bundle", "--workers", "5", "-o", "out.npy", status=BAD)
        self.assertIn("'N' has 12 indices and 'W' 5", err)
        _, err = self.kasen("measure", "f.kir", "--sizes", "N=12,P=4,W=3", status=USAGE)
        self.assertIn("a size of 3 for dimension 'W'; it has an index for each worker, and there are 4 workers", err)
        _, err = self.kasen("fuse", "p.kir", "--sizes", "N=12,P=4,W=3", status=USAGE)
        self.assertIn("a size of 3 for dimension 'W'", err)
        for sizes in ["N=12,P=4", "N=12,W=4", "N=12,P=4,W=4"]:
            out, _ = self.kasen("measure", "f.kir", "--sizes", sizes, "--format", "json")
            self.assertEqual(self.predicted(out), 0)
        self.kasen("fuse", "p.kir", "--mesh", "2x2", "-o", "m.kir")
        _, err = self.kasen("run", "m.kir", "--bundle", "bundle", "--workers", "3", "-o", "out.npy", status=USAGE)
        self.assertIn("the plan's mesh has its number of workers", err)

    def test_inputs_may_be_over_workers(self):
        (self.dir / "t.ks").write_text("dim W workers, K local\ninput T : f64[W, K]\noutput t = T * 2.0, s = sum(T, over W)\n")
        self.kasen("plan", "t.ks", "-o", "p.kir")
        t = np.arange(12.0).reshape(4, 3)
        files = self.save({"T": t})
        _, err = self.kasen("partition", "--program", "p.kir", *files, "--workers", "3", "-o", "bundle", status=BAD)
        self.assertIn("has 4 indices of dimension W; the program derives it as an index for each worker, which has 3", err)
        self.kasen("partition", "--program", "p.kir", *files, "--workers", "4", "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.run_it("f.kir", {"t": 2 * t, "s": t.sum(0)}, "4 workers", "-n", "2")
        _, err = self.kasen("run", "f.kir", "--bundle", "bundle", "--workers", "2", "-o", "out.npy", status=BAD)
        self.assertIn("dimension 'W' has 4 indices in the bundle", err)

    def test_checkpoints_are_of_one_number_of_workers(self):
        (self.dir / "t.ks").write_text("dim N, W workers, B local = N / W\ninput y : f64[N]\ns = sum(reshape(y, [W, B]), over B)\n"
                                       "for i in 0..4 {\n  s = 0.5 * s + sum(s, over W)\n}\noutput s\n")
        self.kasen("plan", "t.ks", "-o", "p.kir")
        y = np.arange(12.0)
        self.kasen("partition", "--program", "p.kir", *self.save({"y": y}), "--workers", "4", "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        run = ["run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--checkpoint", "saved"]
        self.kasen(*run, "--every", "1")
        _, err = self.kasen(*run, "--resume", "--workers", "2")
        self.assertIn("is a checkpoint of another number of workers; the program's dimension 'W' has an index for each worker: "
                      "4 there, 2 here", err)
        for workers in [2, 4]:
            _, err = self.kasen(*run, "--resume", "--workers", str(workers))
            s = y.reshape(workers, -1).sum(1)
            for _ in range(4):
                s = 0.5 * s + s.sum()
            np.testing.assert_allclose(np.load(self.dir / "out.npy"), s, rtol=1e-12)

    def test_faults_of_programs(self):
        for text, told in [
                ("dim W local workers\n", "write dim W workers"),
                ("dim N, M\ndim B = N / M / M\n", "'B' is not derived so"),
                ("dim N = 10, M = 4, B = N / M\n", "'N' has 10 indices and 'M' 4"),
                ("dim V, W workers\ninput G : null[V, V]\noutput d = G @ fill(1.0, V), w = index(W)\n", None),
                ("dim N, F, K local\ninput X : f64[N, F, K]\nQ, R = qr(X)\noutput R\n", "over 'F', which is cut"),
                ("dim N, F local, K local\ninput X : f64[N, F, F], y : f64[F, K]\noutput x = solve(X, y)\n", "a right side over"),
                ("dim N, K local, W workers, B local = N / W\ninput A : f64[N, K]\noutput T = reshape(A, [B, K])\n",
                 "none of its dimensions is the product of these")]:
            (self.dir / "t.ks").write_text(text if "output" in text else text + "input x : f64\noutput x\n")
            if told is None:  # a sparse matrix: refused where arrays are cut
                self.kasen("plan", "t.ks", "-o", "p.kir")
                _, err = self.kasen("fuse", "p.kir", status=BAD)
                self.assertIn("input 'G' is sparse, and 'W' a dimension of workers", err)
                continue
            _, err = self.kasen("plan", "t.ks", status=BAD)
            self.assertIn(told, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
