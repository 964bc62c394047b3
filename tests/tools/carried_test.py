#!/usr/bin/env python3
"""Checkpoints behind operators, over meshes, and on another number of workers.

Usage: carried_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from foreign_test import dense, digest  # noqa: E402
from tools_test import ROOT, TOOLS, ToolTest  # noqa: E402

RESUMABLE = 75
# Products, a sort, reductions, and no loop.
STRAIGHT = """
dim N, M, K
input A : dense f64[N, M], B : dense f64[M, K], y : f64[N]
C = A @ B
r = sum(abs(C), over K)
s = sort(r, over N)
D = C' @ (A * y)
z = D @ sum(B * D', over K)
output z, total = sum(s * r), C, s
"""
LOOPS = {
    "jacobi": (ROOT / "examples/jacobi.ks", {"A": (23, 23), "b": (23,)}),
    "ridge": (ROOT / "examples/ridge.ks", {"X": (40, 4), "y": (40,)}),
    "kmeans": (ROOT / "examples/kmeans.ks", {"X": (40, 2)}),
}


def numbers(file):
    """All arrays of a result, by name."""
    found = {}
    with h5py.File(file) as data:
        data.visititems(lambda name, item: found.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
    return found


class Carried(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(11)

    def data(self, **shapes):
        for name, shape in shapes.items():
            array = self.random.normal(size=shape)
            if name == "A" and shape[0] == shape[1]:
                array += 3 * shape[0] ** 0.5 * numpy.eye(shape[0])
            numpy.save(self.dir / f"{name}.npy", array)
        return [f"{name}={name}.npy" for name in shapes]

    def saved(self):
        return sorted(p.name for p in (self.dir / "saved").iterdir() if not p.name.startswith("."))

    def manifest(self, name):
        return json.loads((self.dir / "saved" / name / "manifest.json").read_text())["content"]

    def close(self, one, other, context=""):
        one, other = numbers(self.dir / one), numbers(self.dir / other)
        self.assertEqual(one.keys(), other.keys())
        for name, array in one.items():
            if array.dtype.kind in "fiub":
                numpy.testing.assert_allclose(array, other[name], rtol=1e-8, atol=1e-9, err_msg=f"{name} {context}")

    def save_all(self, *line):
        shutil.rmtree(self.dir / "saved", ignore_errors=True)
        self.kasen(*line, "-o", "first.h5", "--checkpoint", "saved", "--every", 1, "--keep", 1000)
        return self.saved()

    def from_each(self, line, want, *, same, names=None):
        """Resumes from every checkpoint, newest first; returns how many another plan could take."""
        taken = 0
        for name in reversed(names or self.saved()):
            for later in self.saved():
                if later > name:
                    shutil.rmtree(self.dir / "saved" / later)
            out, err = self.kasen(*line, "-o", "again.h5", "--checkpoint", "saved", "--every", 1000000, "--resume")
            if f"resumed: saved/{name} " in out:
                taken += 1
                self.assertEqual("another plan, of " in out, not same, out)
            elif same:
                self.fail(f"{name} was not taken: {out} {err}")
            if same:
                self.assertEqual((self.dir / "again.h5").read_bytes(), (self.dir / want).read_bytes(), name)
            else:
                self.close("again.h5", want, name)
        return taken

    def test_behind_every_operator_of_a_program_without_loops(self):
        (self.dir / "p.ks").write_text(STRAIGHT)
        line = ["go", "p.ks", *self.data(A=(31, 7), B=(7, 5), y=(31,)), "--workers", 3]
        self.kasen(*line, "-o", "whole.h5")
        for more in [[], ["-n", 2]]:
            names = self.save_all(*line, *more)
            self.assertGreater(len(names), 3)
            self.assertEqual((self.dir / "first.h5").read_bytes(), (self.dir / "whole.h5").read_bytes())
            self.assertTrue(all(self.manifest(name)["behind"] for name in names))
            out, _ = self.kasen("verify", "saved")
            self.assertEqual(out.count(": right (a checkpoint of 3 workers, after "), len(names))
            self.assertEqual(self.from_each([*line, *more], "whole.h5", same=True), len(names))

    def test_killed_behind_an_operator(self):
        (self.dir / "p.ks").write_text(STRAIGHT)
        line = ["go", "p.ks", *self.data(A=(31, 7), B=(7, 5), y=(31,)), "--workers", 4, "-o", "r.h5"]
        self.kasen(*line)
        want = (self.dir / "r.h5").read_bytes()
        for mesh in [[], ["--mesh", "2x2"]]:
            self.kasen(*line, *mesh)
            want = (self.dir / "r.h5").read_bytes()
            for number in [4, 6]:
                shutil.rmtree(self.dir / "saved", ignore_errors=True)
                (self.dir / "r.h5").unlink()
                saving = ["--checkpoint", "saved", "--every", 1]
                self.kasen(*line, *mesh, *saving, status=RESUMABLE, env={"KASEN_FAULT": f"border:kill:{number}@tool=kasen-run"})
                self.assertFalse((self.dir / "r.h5").exists())
                out, _ = self.kasen(*line, *mesh, *saving, "--resume")
                self.assertIn("(after the operator ", out)
                self.assertEqual((self.dir / "r.h5").read_bytes(), want)

    def test_a_signal_saves_behind_an_operator(self):
        """A long chain of products; the request comes while one runs."""
        text = "dim N\ninput A : dense f64[N, N]\nB = A\n" + "B = tanh(B @ A)\n" * 40 + "output B\n"
        (self.dir / "p.ks").write_text(text)
        line = ["go", "p.ks", *self.data(A=(1200, 1200)), "--workers", 2, "-o", "r.h5", "--threads", 1, "--checkpoint", "saved"]
        self.kasen(*line)
        want = (self.dir / "r.h5").read_bytes()
        job = subprocess.Popen([TOOLS / "kasen", *map(str, line), "--every-seconds", "0.05", "--resume"], cwd=self.dir, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        self.wait_for(lambda: job.poll() is not None or (self.dir / "saved").exists() and len(self.saved()) > 0)
        self.assertIsNone(job.poll(), "the run is too short")
        job.terminate()
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, RESUMABLE, err)
        self.assertRegex(err, r"stopped by a signal after the operator \w+ at p.ks:\d+:\d+; all is saved in saved/checkpoint-\d{6}")
        out, _ = self.kasen(*line, "--resume")
        self.assertIn("resumed: saved/checkpoint-", out)
        self.assertEqual((self.dir / "r.h5").read_bytes(), want)

    def test_the_same_bits_over_a_mesh(self):
        for name, mesh in [("jacobi", "2x2"), ("ridge", "3"), ("kmeans", "2")]:
            program, shapes = LOOPS[name]
            line = ["go", program, *self.data(**shapes), "--mesh", mesh, "--dir", "all"]
            self.kasen(*line, "-o", "whole.h5")
            for ranks in [[], ["-n", 2]]:
                names = self.save_all(*line, *ranks)
                self.assertEqual((self.dir / "first.h5").read_bytes(), (self.dir / "whole.h5").read_bytes())
                few = names[::max(1, len(names) // 3)]
                self.assertEqual(self.from_each([*line, *ranks], "whole.h5", same=True, names=few), len(few))

    def test_on_another_number_of_workers(self):
        cases = [("jacobi", ["--workers", 4], ["--workers", 6]), ("jacobi", ["--mesh", "2x2"], ["--workers", 3]),
                 ("jacobi", ["--mesh", "3"], ["--mesh", "2x3"]), ("ridge", ["--workers", 4], ["--workers", 6]),
                 ("kmeans", ["--workers", 4], ["--workers", 6]), ("kmeans", ["--workers", 3], ["--workers", 1])]
        for name, first, then in cases:
            program, shapes = LOOPS[name]
            line = ["go", program, *self.data(**shapes), "--dir", "all"]
            self.kasen(*line, *then, "-o", "whole.h5")
            names = self.save_all(*line, *first)
            few = names[::max(1, len(names) // 3)]
            taken = self.from_each([*line, *then], "whole.h5", same=False, names=few)
            self.assertGreater(taken, 0, f"{name}: {first}, {then}")
            print(f"{name}: {first} -> {then}: {taken} of {len(few)} taken")

    def test_a_program_without_loops_on_another_number_of_workers(self):
        (self.dir / "p.ks").write_text(STRAIGHT)
        data = self.data(A=(31, 7), B=(7, 5), y=(31,))
        line = ["go", "p.ks", *data, "--dir", "all"]
        for first, then in [(["--workers", 4], ["--workers", 6]), (["--mesh", "2x2"], ["--workers", 3]), (["--workers", 2], ["--mesh", "2x2"])]:
            self.kasen(*line, *then, "-o", "whole.h5")
            names = self.save_all(*line, *first)
            taken = self.from_each([*line, *then], "whole.h5", same=False)
            self.assertGreater(taken, 1, f"{first}, {then}")
            print(f"{first} -> {then}: {taken} of {len(names)} taken")

    def test_what_does_not_fit_is_refused(self):
        program, shapes = LOOPS["jacobi"]
        line = ["go", program, *self.data(**shapes), "--dir", "all", "-o", "r.h5"]
        other = ["--workers", 3, "--checkpoint", "saved", "--resume"]
        self.save_all(*line[:-2], "--workers", 2)

        def skipped(says, *more, line=line):
            out, err = self.kasen(*line, *other, *more)
            self.assertNotIn("resumed", out)
            self.assertIn("it is skipped", err)
            self.assertIn("begins from the start", err)
            for word in says:
                self.assertIn(word, err)

        keep = [name for name in self.saved() if not self.manifest(name)["behind"]][:2]
        for name in self.saved():
            if name not in keep:
                shutil.rmtree(self.dir / "saved" / name)
        shutil.copytree(self.dir / "saved", self.dir / "kept")

        def again():
            shutil.rmtree(self.dir / "saved")
            shutil.copytree(self.dir / "kept", self.dir / "saved")

        skipped(["a checkpoint of other parameters"], "--param", "tolerance=1e-3")
        again()
        changed = (ROOT / "examples/jacobi.ks").read_text().replace("x + r / d", "x + 0.9 * r / d")
        (self.dir / "changed.ks").write_text(changed)
        skipped(["another plan", "no border"], line=["go", "changed.ks", *line[2:]])
        again()
        newest = self.dir / "saved" / keep[-1]
        bytes_ = bytearray((newest / "rank-0000.h5").read_bytes())
        bytes_[-9] ^= 1
        (newest / "rank-0000.h5").write_bytes(bytes_)
        _, err = self.kasen("verify", "saved", status=1)
        self.assertIn("rank-0000.h5", err)
        _, err = self.kasen(*line, *other)
        self.assertIn("rank-0000.h5", err)
        again()
        skipped(["another bundle"], line=["go", program, *self.data(**shapes), *line[4:]])

    def test_contributions_stay_with_their_workers(self):
        """A sum whose gather stands behind the loop: each worker has its own part of it."""
        text = ("dim N, K local\ninput X : dense f64[N, K], y : f64[N]\ng = X' @ y\nv = y\nfor i in 0..3 {\n  v = v / 2 + 1\n}\n"
                "output v, w = sum(g) + sum(v)\n")
        (self.dir / "p.ks").write_text(text)
        line = ["go", "p.ks", *self.data(X=(30, 3), y=(30,)), "--dir", "all", "--sync", "lazy"]
        names = self.save_all(*line, "--workers", 2)
        pre = [name for name in names if any(value["contributions"] for value in self.manifest(name)["values"])]
        self.assertTrue(pre)
        for name in names:
            if name != pre[-1]:
                shutil.rmtree(self.dir / "saved" / name)
        _, err = self.kasen(*line, "--workers", 3, "-o", "r.h5", "--checkpoint", "saved", "--resume")
        self.assertIn("is pre-reduced: each worker saved contributions of its own", err)
        out, _ = self.kasen(*line, "--workers", 2, "-o", "again.h5", "--checkpoint", "saved", "--resume")
        self.assertIn(f"resumed: saved/{pre[-1]} ", out)
        self.assertEqual((self.dir / "again.h5").read_bytes(), (self.dir / "first.h5").read_bytes())

    def test_checkpoints_of_the_first_version(self):
        program, shapes = LOOPS["kmeans"]
        line = ["go", program, *self.data(**shapes), "--dir", "all", "--workers", 2]
        self.save_all(*line)
        name = next(n for n in reversed(self.saved()) if not self.manifest(n)["behind"])
        for other in self.saved():
            if other != name:
                shutil.rmtree(self.dir / "saved" / other)
        file = self.dir / "saved" / name / "manifest.json"
        content = self.manifest(name)
        content["loop"] = content.pop("op")
        for key in ("behind", "mesh", "sizes"):
            del content[key]
        for value in content["values"]:
            for key in ("contributions", "dims", "cuts", "meaning"):
                del value[key]
        file.write_text(json.dumps({"kasen_checkpoint": 1, "digest": digest(dense(content)), "content": content}, indent=1))
        out, err = self.kasen(*line, "-o", "again.h5", "--checkpoint", "saved", "--resume")
        self.assertIn(f"resumed: saved/{name} ", out + err)
        self.assertEqual((self.dir / "again.h5").read_bytes(), (self.dir / "first.h5").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
