#!/usr/bin/env python3
"""Arrays that stay in their .npy files: bundles that refer to them give the same bits as copies, or refuse.

Usage: stored_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, IO, LIMIT, MISSING, TOOLS, USAGE, ToolTest  # noqa: E402

# Rows of a matrix, points in planes, a vector, a shared; each input of another type.
MIXED = """dim N, D local = 3, K local
input X : f64[N, D], P : [f32; 3][N], v : i64[N], w : i32[K], s : f64[D]
y = X @ s + f64(v)
fn norm(p) = sum(j in 3: p[j] * p[j])
q = map(norm, P)
t = sum(y) + f64(sum(w))
u = X' @ y
output y, q, t, u
"""
ROW = """dim N, D local
input X : f64[N, D]
ones = fill(1.0, D)
y = X @ ones
z = X' @ y
output y, z
"""


class Stored(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(7)

    def data(self, rows):
        """The inputs of MIXED."""
        made = {"X": self.random.normal(size=(rows, 3)), "P": self.random.normal(size=(rows, 3)).astype("f4"),
                "v": self.random.integers(-9, 9, rows), "w": self.random.integers(0, 5, 4).astype("i4"), "s": self.random.normal(size=3)}
        for name, array in made.items():
            numpy.save(self.dir / f"{name}.npy", array)
        return [f"{name}={name}.npy" for name in made]

    def plan(self, text):
        (self.dir / "p.ks").write_text(text)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def cut(self, bundle, data, *more):
        self.kasen("partition", "--program", "p.kir", *data, "-o", bundle, "--replace", *more)
        return json.loads((self.dir / bundle / "manifest.json").read_text())

    def stored(self, manifest):
        return {array["name"]: array["stored"] for array in manifest["content"]["arrays"] if "stored" in array}

    def results(self, bundle, *more):
        """The bytes of all results."""
        out = self.dir / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.kasen("run", "f.kir", "--bundle", bundle, "-o", "out/r.npy", "--format", "npy", *more)
        return {file.name: file.read_bytes() for file in out.iterdir()}

    def compare(self, data, workers, *more):
        whole = self.cut("whole", data, "--workers", workers)
        there = self.cut("there", data, "--workers", workers, "--references")
        self.assertEqual(self.stored(whole), {})
        self.assertIn(whole["kasen_bundle"], (3, 6))
        self.assertEqual(self.results("there", *more), self.results("whole", *more))
        return there

    def test_the_same_bits(self):
        self.plan(MIXED)
        data = self.data(1000)
        for workers, more in [(1, []), (3, []), (3, ["-n", 2]), (16, ["--kernels", "interpreter"])]:
            there = self.compare(data, workers, *more)
            self.assertEqual(there["kasen_bundle"], 6)
            self.assertEqual(set(self.stored(there)), {"X", "P", "v", "w", "s"})
            self.assertLess(sum(f.stat().st_size for f in (self.dir / "there").glob("*.h5")), 5000 * workers)
        self.assertIn(f"X stays in {self.dir.resolve()}/X.npy", self.kasen("partition", "--stats", "there")[0])
        self.kasen("verify", "there")
        self.kasen("run", "f.kir", "--bundle", "there", "--stats", "r.json", "-o", "r.npy", "--format", "npy")
        self.assertIn("agree to the byte", self.kasen("measure", "f.kir", "--bundle", "there", "--against", "r.json", "--check")[0])

    def test_square_arrays(self):
        """Cut along the first of two equal dimensions; every worker has all of the second."""
        self.plan("dim N\ninput A : dense f64[N, N], B : dense f32[N, N], v : f64[N]\nscaled = A * 2.0\ny = A @ v\ntotal = sum(B)\noutput scaled, y, total\n")
        for size, workers in [(1, 1), (5, 1), (5, 3), (33, 5), (130, 2), (7, 16)]:
            numpy.save(self.dir / "A.npy", self.random.normal(size=(size, size)))
            numpy.save(self.dir / "B.npy", self.random.normal(size=(size, size)).astype("f4"))
            numpy.save(self.dir / "v.npy", self.random.normal(size=size))
            there = self.compare(["A=A.npy", "B=B.npy", "v=v.npy"], workers)
            self.assertEqual(set(self.stored(there)), {"A", "B", "v"})

    def test_shapes(self):
        """Random ones, some with more bytes than a block of the digest, and parts whose rows begin anywhere."""
        self.plan(ROW)
        rng = random.Random(3)
        shapes = [(1, 1), (1, 5), (2, 1), (7, 3), (150_000, 1), (40_000, 7), (60_000, 8)]  # of the last, all are mapped
        shapes += [(rng.randrange(1, 3000), rng.randrange(1, 60)) for _ in range(4)]
        for rows, cols in shapes:
            numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, cols)))
            self.compare(["X=X.npy"], rng.choice([1, 2, 3, 5]))

    def test_files_that_are_copied(self):
        """Other types, orders and places of rows: the bundle is whole, and the results are the same."""
        self.plan(ROW)
        x = self.random.normal(size=(40, 5))
        numpy.save(self.dir / "X.npy", x)
        self.cut("whole", ["X=X.npy"], "--workers", 2)
        want = self.results("whole")
        for number, form in enumerate([x.astype(">f8"), numpy.asfortranarray(x)]):
            numpy.save(self.dir / f"{number}.npy", form)
            self.assertEqual(self.stored(self.cut("other", [f"X={number}.npy"], "--workers", 2, "--references")), {})
            self.assertEqual(self.results("other"), want)
        numpy.save(self.dir / "f4.npy", x.astype("f4"))
        self.assertEqual(self.stored(self.cut("other", ["X=f4.npy"], "--references")), {})
        numpy.save(self.dir / "none.npy", numpy.zeros((0, 5)))
        self.assertEqual(self.stored(self.cut("none", ["X=none.npy"], "--references")), {})
        self.results("none")
        odd = os.fsencode(self.dir) + b"/\xff.npy"  # no manifest can hold such a name
        shutil.copy(self.dir / "X.npy", odd)
        subprocess.run([TOOLS / "kasen", "partition", "--program", "p.kir", b"X=\xff.npy", "--workers", "2", "--references", "-o", "odd"],
                       cwd=self.dir, check=True)
        self.assertEqual(self.results("odd"), want)
        with open(self.dir / "X.npy", "rb") as file:
            self.kasen("partition", "--program", "p.kir", "X=-", "--workers", 2, "--references", "-o", "input", input_file=file)
        self.assertEqual(self.results("input"), want)  # a file under another name

    def test_rows_that_a_hash_deals_out(self):
        self.plan("dim N\ninput G : null[N, N], x : f64[N]\ny = G @ x\noutput y\n")
        (self.dir / "g.txt").write_text("".join(f"{i} {i * 7 % 50}\n" for i in range(50)))
        numpy.save(self.dir / "x.npy", self.random.normal(size=50))
        data = ["G=g.txt", "x=x.npy"]
        there = self.compare([*data, "--method", "hybrid-cut"], 3)
        self.assertEqual(self.stored(there), {})
        self.assertEqual(there["content"]["sources"], self.cut("whole", [*data, "--method", "hybrid-cut"], "--workers", 3)["content"]["sources"])
        self.assertEqual(set(self.stored(self.cut("block", data, "--workers", 3, "--method", "block", "--references"))), {"x"})
        self.results("block")

    def test_a_file_that_is_not_as_it_was(self):
        self.plan(ROW)
        file = self.dir / "X.npy"
        numpy.save(file, self.random.normal(size=(300, 4)))
        good = file.read_bytes()
        self.cut("there", ["X=X.npy"], "--workers", 2, "--references")
        want = self.results("there")
        run = ["run", "f.kir", "--bundle", "there", "-o", "r.h5"]
        path = str(file.resolve())
        os.utime(file, (1, 1))
        self.assertEqual(self.results("there"), want)  # it was touched alone
        file.write_bytes(good[:-9] + bytes([good[-9] ^ 1]) + good[-8:])
        self.fault(*run, status=BAD, says=[path, "content changed", "make the bundle again"])
        self.fault("verify", "there", status=1, says=[path])
        file.write_bytes(good.replace(b"(300, 4)", b"(4, 300)"))
        self.fault(*run, status=BAD, says=[path, "header changed"])
        for other in [good[:-8], good + bytes(8), b""]:
            file.write_bytes(other)
            self.fault(*run, status=BAD, says=[path, f"{len(other)} bytes", f"had {len(good)}"])
        file.unlink()
        self.fault(*run, status=MISSING, says=[path, "the bundle refers to it", "put the file back"])
        file.mkdir()
        self.fault(*run, status=BAD, says=[path, "regular file"])
        file.rmdir()
        self.assertNotIn("r.h5", self.files())
        (self.dir / "elsewhere.npy").write_bytes(good)
        file.symlink_to("elsewhere.npy")  # the user's own name
        self.assertEqual(self.results("there"), want)

    def test_odd_headers(self):
        """Elements that begin at no multiple of 64, or of their own size, are copied; the results are the same."""
        self.plan(ROW)
        x = self.random.normal(size=(3000, 6))
        numpy.save(self.dir / "X.npy", x)
        self.cut("there", ["X=X.npy"], "--references")
        want = self.results("there")
        for more in [16, 48, 8, 3]:
            words = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3000, 6), }"
            words = words.ljust(128 + more - 11) + b"\n"
            (self.dir / "odd.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words + x.tobytes())
            self.assertEqual(len(self.stored(self.cut("odd", ["X=odd.npy"], "--references"))), 1)
            self.assertEqual(self.results("odd"), want, more)

    def start_long_run(self):
        """A run of many iterations that has mapped its file, and reads it again behind them."""
        self.plan("dim N, D local = 4\ninput X : f64[N, D]\nparam turns : i64 = 100000000\ny = X @ fill(1.0, D)\n"
                  "for turn in 0..turns {\n  y = y / sqrt(dot(y, y))\n}\nv = X' @ y\noutput v\n")
        numpy.save(self.dir / "X.npy", self.random.normal(size=(100_000, 4)))
        self.cut("there", ["X=X.npy"], "--references")
        run = subprocess.Popen([TOOLS / "kasen-run", "f.kir", "--bundle", "there", "-o", "new.npy", "--format", "npy",
                                "--param", "turns=240000"],
                               cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.kill)
        maps = pathlib.Path(f"/proc/{run.pid}/maps")
        while "X.npy" not in maps.read_text():
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        time.sleep(1)  # its digest is taken
        return run

    def maps_in_a_loop(self, expect):
        """Whether a run maps an array that its loop reads, and the loop's result."""
        self.plan(f"dim N, D local = 4\ninput X : f64[N, D]\nparam turns = 3000\nv = fill(1.0, D)\nstep = 0\n"
                  f"while step < turns {expect} {{\n  v = X' @ (X @ v)\n  v = v / sqrt(dot(v, v))\n  step = step + 1\n}}\noutput v\n")
        self.cut("there", ["X=X.npy"], "--references")
        run = subprocess.Popen([TOOLS / "kasen-run", "f.kir", "--bundle", "there", "-o", "v.npy", "--format", "npy"],
                               cwd=self.dir, stdout=subprocess.DEVNULL)
        self.addCleanup(run.kill)
        maps, seen = pathlib.Path(f"/proc/{run.pid}/maps"), False
        while run.poll() is None:
            seen = seen or "X.npy" in maps.read_text()
            time.sleep(0.002)
        self.assertEqual(run.returncode, 0)
        return seen, numpy.load(self.dir / "v.npy").tolist()

    def test_loops_of_few_turns_read_mapped_files(self):
        numpy.save(self.dir / "X.npy", self.random.normal(size=(100_000, 4)))
        few, v = self.maps_in_a_loop("expect 9")
        self.assertTrue(few)
        for expect in ("expect 15", ""):
            self.assertEqual(self.maps_in_a_loop(expect), (False, v))

    def test_a_file_that_is_cut_short_while_it_is_mapped(self):
        """It ends the run with a message, on all of its threads, and leaves nothing half-made."""
        run = self.start_long_run()
        os.truncate(self.dir / "X.npy", 4096)
        said, _ = run.communicate(timeout=200)
        self.assertEqual(run.returncode, IO, said)
        self.assertIn(f"'{self.dir.resolve()}/X.npy' cannot be read any more", said)
        self.assertIn("cut short", said)
        self.assertEqual([name for name in self.files() if name.startswith("new")], [])

    def test_a_file_that_is_written_while_it_is_mapped(self):
        """No result is made of content that is neither the old one nor the new one."""
        run = self.start_long_run()
        with open(self.dir / "X.npy", "r+b") as file:
            file.seek(1000)
            file.write(bytes(8))
        said, _ = run.communicate(timeout=200)
        self.assertEqual(run.returncode, BAD, said)
        self.assertIn("X.npy' was written while it was in use", said)
        self.assertEqual([name for name in self.files() if name.startswith("new")], [])

    def strike(self, point, step):
        """The step with its N-th call failing, for each N until three in a row change nothing."""
        n = harmless = 0
        while harmless < 3:
            n += 1
            env = {**os.environ, "KASEN_FAULT": f"{point}:fail:{n}"}
            done = subprocess.run([TOOLS / "kasen", *step], cwd=self.dir, env=env, text=True, capture_output=True, check=False)
            self.assertIn(done.returncode, [0, IO, LIMIT, MISSING], (point, n, done.stderr))
            self.assertEqual(done.returncode == 0, "error:" not in done.stderr, (point, n, done.stderr))
            harmless = harmless + 1 if done.returncode == 0 else 0
            if step[0] == "partition" and done.returncode != 0:
                self.assertFalse((self.dir / "new").exists())
            shutil.rmtree(self.dir / "new", ignore_errors=True)
            (self.dir / "new.npy").unlink(missing_ok=True)
        return n - harmless

    def test_where_the_system_fails(self):
        """An error and nothing half-made, or the same results."""
        self.plan(ROW)
        numpy.save(self.dir / "X.npy", self.random.normal(size=(300, 4)))
        self.cut("there", ["X=X.npy"], "--workers", 2, "--references")
        want = self.results("there")
        struck = 0
        for point in ["open", "read", "allocate"]:
            struck += self.strike(point, ["partition", "--program", "p.kir", "X=X.npy", "--workers", "2", "--references", "-o", "new"])
            struck += self.strike(point, ["run", "f.kir", "--bundle", "there", "--threads", "1", "--kernels", "interpreter", "-o", "new.npy",
                                          "--format", "npy"])
        self.assertGreater(struck, 10)
        self.assertEqual(self.results("there"), want)

    def test_options_and_other_versions(self):
        self.plan(ROW)
        numpy.save(self.dir / "X.npy", self.random.normal(size=(30, 4)))
        self.fault("partition", "--program", "p.kir", "X=X.npy", "--references", "--compress", "auto", "-o", "b", status=USAGE,
                   says=["--references", "--compress"])
        manifest = self.cut("there", ["X=X.npy"], "--references")
        self.assertEqual(manifest["kasen_bundle"], 6)
        file = self.dir / "there" / "manifest.json"
        file.write_text(json.dumps({**manifest, "kasen_bundle": 8}))
        self.fault("run", "f.kir", "--bundle", "there", status=BAD, says=["format version 8", "up to version 7"])

    def test_go_knows_files_again(self):
        """Whichever way it got their digests: a file that was only touched is the same, one that was written is not."""
        (self.dir / "p.ks").write_text(ROW)
        x = self.random.normal(size=(20_000, 8))
        text = "".join(",".join(map(repr, row)) + "\n" for row in x.tolist())
        self.assertGreater(len(text), 1 << 20)  # shorter files are read in any case

        def save(name, text):
            if name.endswith(".npy"):
                numpy.save(self.dir / name, numpy.loadtxt(text.splitlines(), delimiter=","))
            else:
                with (gzip.open if name.endswith(".gz") else open)(self.dir / name, "wt") as file:
                    file.write(text)
        for name in ["x.npy", "x.csv", "x.csv.gz"]:
            go = ["go", "p.ks", "--dir", "go", "--format", "npy", "--top", 0, "--kernels", "interpreter", f"X={name}"]
            save(name, text)
            os.utime(self.dir / name, (1, 1))
            self.assertNotIn("as it was", self.kasen(*go)[1])
            want = (self.dir / "go" / "result.npy").read_bytes()
            for time in [2, 3]:
                self.assertIn("as it was", self.kasen(*go)[1], name)
                os.utime(self.dir / name, (time, time))
            self.assertIn("as it was", self.kasen(*go)[1], name)
            self.assertEqual((self.dir / "go" / "result.npy").read_bytes(), want)
            save(name, text.replace("1", "2", 1))
            os.utime(self.dir / name, (3, 3))
            self.assertNotIn("as it was", self.kasen(*go)[1], name)
            self.assertNotEqual((self.dir / "go" / "result.npy").read_bytes(), want)

    def test_go_copies_no_file(self):
        """It refers to it, and makes the bundle again where the file has changed or has another place."""
        (self.dir / "p.ks").write_text(ROW)
        x = self.random.normal(size=(20_000, 8))
        numpy.save(self.dir / "X.npy", x)
        go = ["go", "p.ks", "--workers", 2, "--format", "npy", "--top", 0, "--threads", 1]
        err = self.kasen(*go, "X=X.npy")[1]
        self.assertNotIn("as it was", err)
        bundle = self.dir / "p.run" / "bundle"
        self.assertLess(sum(f.stat().st_size for f in bundle.iterdir()), 20_000)
        want = (self.dir / "p.run" / "result.npy").read_bytes()
        self.plan(ROW)
        self.cut("whole", ["X=X.npy"], "--workers", 2)
        self.assertEqual(self.results("whole")["r.npy"], want)
        self.assertIn("as it was", self.kasen(*go, "X=X.npy")[1])
        (self.dir / "sub").mkdir()
        shutil.move(self.dir / "X.npy", self.dir / "sub" / "X.npy")
        self.assertNotIn("as it was", self.kasen(*go, "X=sub/X.npy")[1])
        self.assertNotIn("as it was", self.kasen("go", "../p.ks", *go[2:], "--dir", "../p.run", "X=X.npy", cwd="sub")[1])
        numpy.save(self.dir / "sub" / "X.npy", 2 * x)
        self.assertNotIn("as it was", self.kasen(*go, "X=sub/X.npy")[1])
        self.assertNotEqual((self.dir / "p.run" / "result.npy").read_bytes(), want)
        self.assertTrue((self.dir / "p.run" / "bundle.made-from").read_text().startswith("kasen made-from 2\nboot "))
        record = self.dir / "p.run" / "bundle.made-from"
        record.write_text(record.read_text().replace("boot ", "boot 0"))  # of a system that stopped since
        self.assertNotIn("as it was", self.kasen(*go, "X=sub/X.npy")[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
