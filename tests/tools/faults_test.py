#!/usr/bin/env python3
"""The tools where something is wrong: input, disk, memory, signals, ranks that die.

Usage: faults_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, CREATE, IO, LIMIT, MISSING, PAGERANK, ROOT, TOOLS, USAGE, ToolTest  # noqa: E402


class Faults(ToolTest):
    def program(self, text):
        (self.dir / "p.ks").write_text(text)
        return "p.ks"

    def test_unknown_name(self):
        text = PAGERANK.read_text() + "\noutput degreee\n"
        err = self.fault("plan", self.program(text), status=BAD, says=["p.ks:", "unknown name 'degreee'", "degree"])
        self.assertIn("^", err)

    def test_wrong_dimension(self):
        self.fault("plan", self.program("dim N, M\ninput a : f64[N]\ninput b : f64[M]\nc = a + b\noutput c\n"), status=BAD,
                   says=["p.ks:4:", "N", "M"])

    def test_reducer_that_is_not_associative(self):
        self.fault("plan", self.program("dim N\ninput a : f64[N]\ns = reduce(-, a)\noutput s\n"), status=BAD,
                   says=["p.ks:3:", "associative"])

    def test_assumption_that_does_not_hold(self):
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N], k : i64[N]\nfn f(a, b) = 2 * a + b\n"
                                       "s = reduce(f, x)\nt = reduce(f, k)\nassume commutative(f), associative(f)\noutput s, t\n")
        out = self.kasen("plan", "p.ks", status=BAD)[1]
        self.assertEqual(out.count("p.ks:6:8: error: commutative(f"), 2, out)
        self.assertIn("p.ks:6:24: error: associative(f", out)

    def test_more_threads_than_the_system_gives(self):
        self.prepare()
        def small():
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--threads", 4000, preexec_fn=small,
                   status=LIMIT, says="cannot start 4000 threads")
        self.assertNotIn("r.h5", self.files())

    def test_a_run_beyond_its_memory(self):
        """Refused with what would make it fit, and that does."""
        self.prepare(workers=4)
        run = ["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5"]
        err = self.fault(*run, "--memory", 1000, status=LIMIT, says=["1000 are allowed (--memory)", "not one of 4 parts fits"])
        needed = int(err.split("the run needs ")[1].split()[0])
        largest = int(err.split("up to ")[1].split()[0])
        self.assertGreaterEqual(4 * largest, needed)
        err = self.fault(*run, "--memory", needed - 1, status=LIMIT, says="enough for 3 of the 4 parts: use 2 processes or more")
        self.assertNotIn("r.h5", self.files())
        self.kasen(*run, "--memory", needed)
        self.kasen(*run, "--memory", needed - 1, "-n", 2)
        self.fault(*run, "--memory", largest, "-n", 2, status=LIMIT, says="use 4 processes or more")
        self.kasen(*run, "--memory", f"{largest / 1024 + 0.01}K", "-n", 4)
        self.kasen(*run, "--memory", "0.25GiB")
        self.kasen(*run, "--memory", "0.25GB")
        self.fault(*run, "--memory", "1KB", status=LIMIT, says="1000 are allowed")
        for wrong in ["much", "8X", "-1", "1e30", "8GBs"]:
            self.fault(*run, "--memory", wrong, status=USAGE, says=[wrong, "8G"])

    def test_the_first_nan_is_named(self):
        """By statement, id, worker and turn, fused or not, on any ranks; without the option it goes on."""
        (self.dir / "x.csv").write_text("".join(f"{100 if i != 7 else 3}\n" for i in range(12)))
        program = self.program("dim N\ninput x : f64[N]\nv = x\nlevel = 1.0\nfor k in 0..5 {\n  w = v - 1\n  v = sqrt(w)\n  level = sum(v)\n}\n"
                               "output v, level\n")
        self.kasen("plan", program, "-o", "nan.kir")
        self.kasen("partition", "--program", "nan.kir", "x=x.csv", "--workers", 3, "-o", "x")
        # 3 -> sqrt(2) -> sqrt(0.41) -> sqrt(-0.36)
        for strategy in ["none", "greedy"]:
            self.kasen("fuse", "nan.kir", "--strategy", strategy, "-o", "f.kir")
            for ranks in [[], ["-n", 1], ["-n", 3]]:
                for kernels in ["generated", "interpreter"]:
                    self.fault("run", "f.kir", "--bundle", "x", *ranks, "--nan", "error", "--kernels", kernels, "-o", "r.h5", status=1,
                               says=["p.ks:7:", " is NaN at 7 of N (worker ", "), in iteration 3;", "--nan=error"])
                    self.assertNotIn("r.h5", self.files())
            self.kasen("run", "f.kir", "--bundle", "x", "-o", "r.h5")
            (self.dir / "r.h5").unlink()
        # All workers have one: one message.
        (self.dir / "x.csv").write_text("2\n" * 12)
        self.kasen("partition", "--program", "nan.kir", "x=x.csv", "--workers", 3, "-o", "x", "--replace")
        self.fault("run", "f.kir", "--bundle", "x", "-n", 3, "--nan", "error", "-o", "r.h5", status=1, says=["p.ks:7:", "in iteration 3;"])
        # One that comes with the data, and one of all workers' together.
        (self.dir / "x.csv").write_text("".join("nan\n" if i == 3 else "3e5\n" for i in range(12)))
        self.kasen("partition", "--program", "nan.kir", "x=x.csv", "--workers", 3, "-o", "x", "--replace")
        self.fault("run", "f.kir", "--bundle", "x", "--nan", "error", status=1, says=["p.ks:2:", "%x is NaN at 3 of N (worker "])
        self.fault("run", "f.kir", "--bundle", "x", "--nan", "never", status=USAGE, says=["never", "allow"])

    def test_a_nan_that_is_swallowed_is_named(self):
        """A comparison hides it within a fused loop; the statement, the turn and the worker are those of the unfused plan."""
        (self.dir / "x.csv").write_text("".join(f"{0.1 if i != 7 else 0.6}\n" for i in range(12)))
        program = self.program("dim N\ninput x : f64[N]\nv = x\ncount = 0.0\nfor k in 0..5 {\n  w = sqrt(0.8 - v)\n  u = if w > 0.2 then v else 0.1\n"
                               "  v = u + 0.25\n  count = sum(v)\n}\noutput v, count\n")
        self.kasen("plan", program, "-o", "nan.kir")
        self.kasen("partition", "--program", "nan.kir", "x=x.csv", "--workers", 3, "-o", "x")
        for strategy in ["none", "greedy", "fuse-all", "fuse-no-redundancy", "cost"]:
            self.kasen("fuse", "nan.kir", "--strategy", strategy, "-o", "f.kir")
            for kernels in ["generated", "interpreter"]:
                self.fault("run", "f.kir", "--bundle", "x", "--nan", "error", "--kernels", kernels, status=1,
                           says=["p.ks:6:", "%w", " is NaN", "worker ", "in iteration 2;"])

    def test_define_of_nothing(self):
        self.fault("plan", PAGERANK, "-D", "tetha=1", status=USAGE, says=["tetha", "theta"])

    def test_paths_of_the_documents(self):
        """Examples and data are named from the top of the sources, or from where they are installed."""
        self.fault("plan", "examples/pagerank.ks", status=66, says=["cannot open 'examples/pagerank.ks'", "Kasen's own is '", "/examples/pagerank.ks'"])
        self.fault("plan", "examples/none.ks", status=66, says="there is no folder 'examples'")

    def test_missing_files(self):
        self.fault("plan", "nothing.ks", status=MISSING, says="nothing.ks")
        self.fault("fuse", "nothing.kir", status=MISSING, says="nothing.kir")
        self.prepare()
        self.fault("partition", "--program", "plan.kir", "G=none.txt", "-o", "b2", status=MISSING, says="none.txt")
        self.fault("run", "fused.kir", "--bundle", "none", status=MISSING, says="none")
        self.assertNotIn("b2", self.files())

    def test_wrong_options(self):
        self.fault("fuse", "--synk", "lazy", status=USAGE, says=["--synk", "--sync"])
        self.fault("fuse", "--sync", "often", status=USAGE, says=["often", "hybrid"], stdin="")
        self.kasen("plann", status=USAGE)
        before = self.files()
        for args in [("go", PAGERANK, "G=graph.txt"), ("run", "f.kir", "--bundle", "b")]:
            self.fault(*args, "--format", "xls", status=USAGE, says=["xls", "hdf5, csv, npy"])
        self.assertEqual(self.files(), before)

    def test_config(self):
        (self.dir / "good.yaml").write_text("sync: lazy\nstrategy: none\n")
        plan, _ = self.kasen("plan", PAGERANK)
        out, _ = self.kasen("fuse", "--config", "good.yaml", stdin=plan)
        want, _ = self.kasen("fuse", "--sync", "lazy", "--strategy", "none", stdin=plan)
        self.assertEqual(out.split("module", 1)[1], want.split("module", 1)[1])
        (self.dir / "bad.yaml").write_text("sync: lazy\nstratgy: none\n")
        self.fault("fuse", "--config", "bad.yaml", status=CONFIG, says=["bad.yaml:2:1", "stratgy", "strategy"], stdin=plan)
        (self.dir / "twice.yaml").write_text("sync: lazy\nsync: eager\n")
        self.fault("fuse", "--config", "twice.yaml", status=CONFIG, says=["twice.yaml:2:1", "twice"], stdin=plan)

    def test_damaged_ir(self):
        plan, _ = self.kasen("plan", PAGERANK)
        fused, _ = self.kasen("fuse", stdin=plan)
        self.fault("fuse", stdin=plan[: len(plan) // 2], status=BAD, says="cut off")
        self.fault("fuse", stdin="", status=BAD, says="")
        self.fault("fuse", stdin=plan.replace("kir 1", "kir 9", 1), status=BAD, says="version 9")
        meshed = (ROOT / "tests" / "core" / "golden" / "mesh-cut-ok.kir").read_text()
        self.kasen("verify", "-", stdin=meshed)
        self.kasen("measure", stdin=meshed)
        self.kasen("fuse", stdin=meshed)
        for tool in [["fuse", "--passes", "fuse-selected"], ["partition", "--program", "-", "A=none.npy", "--workers", "6", "-o", "none"]]:
            self.fault(*tool, stdin=meshed, status=BAD, says="the default layout alone")
        edited = fused.replace("@pre(add){G.cols}", "@part", 1)
        self.assertNotEqual(edited, fused)
        self.kasen("verify", "-", stdin=edited, status=1)
        self.kasen("verify", "-", stdin=fused)
        _, err = self.kasen("run", "--bundle", "none", stdin=edited, status=BAD)
        self.assertIn("rule", err)

    def test_bad_line(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        lines = (self.dir / "graph.txt").read_text().splitlines()
        lines[17] = "12 x"
        (self.dir / "bad.txt").write_text("\n".join(lines) + "\n")
        self.fault("partition", "--program", "plan.kir", "G=bad.txt", "-o", "b", status=BAD, says=["bad.txt:18:", "12 x"])
        self.assertNotIn("b", self.files())
        self.assertEqual([f for f in self.files() if "tmp" in f], [])

    def test_stats_go_with_nothing(self):
        self.prepare()
        self.kasen("partition", "--stats", "bundle")
        for other in [["--workers", 2], ["-o", "b"], ["G=graph.txt"], ["--program", "plan.kir"]]:
            self.fault("partition", "--stats", "bundle", *other, status=USAGE, says="--stats")

    def test_bundle_exists(self):
        self.prepare()
        self.fault("partition", "--program", "plan.kir", "G=graph.txt", "-o", "bundle", status=CREATE, says=["bundle", "replace"])
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5")

    def test_damaged_bundle(self):
        self.prepare()
        part = self.dir / "bundle" / "part-0001.h5"
        whole = part.read_bytes()
        for damage in [whole[: len(whole) // 2], whole[:-1], whole[:3000] + bytes([whole[3000] ^ 4]) + whole[3001:], b""]:
            part.write_bytes(damage)
            self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says="part-0001.h5")
            self.fault("run", "-n", 2, "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says="part-0001.h5")
        part.unlink()
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says="part-0001.h5")
        shutil.copy(self.dir / "bundle" / "part-0002.h5", part)
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says="part-0001.h5")
        part.write_bytes(whole)
        (self.dir / "bundle" / "manifest.json").unlink()
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says="manifest.json")
        self.assertNotIn("r.h5", self.files())

    def test_an_output_never_takes_an_input_s_place(self):
        self.prepare()
        for name in ["plan.kir", "fused.kir"]:
            before = (self.dir / name).read_bytes()
            self.fault("fuse", name, "-o", name, status=USAGE, says=[name, "also an input"])
            self.assertEqual((self.dir / name).read_bytes(), before)
        shutil.copy(PAGERANK, self.dir / "p.ks")
        self.fault("plan", "p.ks", "-o", "p.ks", status=USAGE, says="also an input")
        self.assertEqual((self.dir / "p.ks").read_bytes(), PAGERANK.read_bytes())
        for place in ["fused.kir", "bundle/part-0000.h5", "bundle/manifest.json"]:
            for option in [["-o", place], ["-o", "r.h5", "--stats", place]]:
                self.fault("run", "fused.kir", "--bundle", "bundle", *option, status=USAGE, says=[place, "also an input"])
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "./r.h5", status=USAGE, says="r.h5")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5")

    def test_links_stay_links(self):
        (self.dir / "link.kir").symlink_to("target.kir")
        for _ in range(2):
            self.kasen("plan", PAGERANK, "-o", "link.kir")
            self.assertTrue((self.dir / "link.kir").is_symlink())
            self.kasen("verify", "target.kir")

    def test_folders_are_no_input(self):
        self.fault("plan", ".", status=MISSING, says="folder")
        self.fault("fuse", ".", status=MISSING, says="folder")
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.fault("plan", ".", "-o", "plan.kir", status=MISSING, says="folder")

    def test_a_bundle_as_the_folder_at_hand(self):
        self.prepare()
        for _ in range(2):  # results and plans are not of the bundle, wherever they lie
            self.kasen("run", "../fused.kir", "--bundle", ".", "-o", "r.h5", "--stats", "run.json", cwd="bundle")
        self.fault("run", "../fused.kir", "--bundle", ".", "-o", "part-0001.h5", status=USAGE, says="also an input", cwd="bundle")

    def test_marks_of_encodings(self):
        text = PAGERANK.read_text()
        plain, _ = self.kasen("plan", self.program(text))
        (self.dir / "p.ks").write_text(text, encoding="utf-8-sig")
        self.assertEqual(self.kasen("plan", "p.ks")[0], plain)
        (self.dir / "p.ks").write_text(text, encoding="utf-16")
        self.fault("plan", "p.ks", "-o", "out.kir", status=BAD, says=["p.ks", "UTF-16", "iconv"])

    def test_text_without_an_end(self):
        for args in [["fuse", "/dev/zero"], ["plan", PAGERANK, "--config", "/dev/zero"]]:
            self.fault(*args, "-o", "out.kir", status=LIMIT, says=["'/dev/zero'", "256 MiB"])

    def test_standard_input_as_data_and_columns_of_nothing(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=-", "-o", "b", stdin=(self.dir / "graph.txt").read_text())
        self.fault("partition", "--program", "plan.kir", "G=graph.txt", "--columns", "H=1,2", "-o", "b2", status=USAGE, says="'H'")
        self.fault("partition", "--program", "-", "G=-", "-o", "b2", stdin="1 2\n", status=USAGE, says="standard input")

    def test_names_and_comments_that_are_no_utf8(self):
        name = os.fsdecode(b"g\xe4.txt")
        shutil.copy(self.dir / "graph.txt", self.dir / name)
        (self.dir / "p.ks").write_bytes(PAGERANK.read_bytes().replace(b"while", b"# M\xfcller\nwhile").replace(b"{\n", b"{  # \xe4\n"))
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        self.kasen("partition", "--program", "plan.kir", f"G={name}", "--workers", 2, "-o", "bundle")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", "--trace", "trace.json")
        self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check", "--format", "json", "-o", "c.json")
        self.kasen("measure", "fused.kir", "--format", "json", "-o", "m.json")
        self.kasen("measure", "plan.kir", "--compare", "fused.kir", "--format", "json", "-o", "d.json")
        for file in ["run.json", "trace.json", "c.json", "m.json", "d.json", "bundle/manifest.json"]:
            self.assertIsNotNone(json.loads((self.dir / file).read_text()))

    def test_labels_of_another_file(self):
        (self.dir / "x.svm").write_text("1 1:2 3:1\n-1 2:1\n")
        (self.dir / "y.svm").write_text("1 1:2 3:1\n-1 2:1\n1 1:1\n")
        self.kasen("plan", ROOT / "examples" / "logistic.ks", "-o", "p.kir")
        self.fault("partition", "--program", "p.kir", "X=x.svm", "y=y.svm", "-o", "b", status=BAD, says=["'X' has 2 rows", "'y' has 3"])
        self.assertNotIn("b", self.files())

    def test_a_table_of_mixed_tuples(self):
        (self.dir / "p.csv").write_text("1,2.5\n3,4.5\n")
        self.kasen("plan", self.program("dim N\ninput p : (i64, f64)[N]\nx = p.1\noutput x\n"), "-o", "p.kir")
        err = self.fault("partition", "--program", "p.kir", "p=p.csv", "-o", "b", status=BAD,
                         says=["p.ks:2:", "(i64, f64)", "input 'p'", "one type", "an input for each type"])
        self.assertIn("^", err)
        self.assertNotIn("b", self.files())

    def test_configurations_with_wrong_values(self):
        plan, _ = self.kasen("plan", PAGERANK)
        for text, place in [("no-history: []\n", "1:13"), ("no-history: {}\n", "1:13"), ("sync: [lazy, eager]\n", "1:7"),
                            ("sync: []\n", "1:7"), ("sync: lazy\n---\nsync: eager\n", "2:1")]:
            (self.dir / "c.yaml").write_text(text)
            self.fault("fuse", "--config", "c.yaml", status=CONFIG, says="c.yaml:" + place, stdin=plan)
        (self.dir / "c.yaml").write_text("threads: many\n")
        self.fault("run", "--config", "c.yaml", "--bundle", "b", status=CONFIG, says=["c.yaml:1:10", "many", "threads"])

    def test_bundle_of_another_program(self):
        self.prepare()
        program = self.program("dim M\ninput H : null[M, M]\nx : f64[M] = 1\ny = H @ x\noutput y\n")
        self.kasen("plan", program, "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "pf.kir")
        self.fault("run", "pf.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD, says=["'M'", "partition the data with this program"])

    def test_more_ranks_than_parts(self):
        self.prepare(workers=2)
        self.fault("run", "-n", 3, "fused.kir", "--bundle", "bundle", "-o", "r.h5", status=USAGE, says=["3 ranks", "2 parts"])

    def test_unwritable_output(self):
        self.prepare()
        for ranks in [[], ["-n", 2]]:
            self.fault("run", *ranks, "fused.kir", "--bundle", "bundle", "-o", "no/such/folder/r.h5", status=CREATE, says="no/such/folder")
        self.fault("plan", PAGERANK, "-o", "no/such/p.kir", status=CREATE, says="no/such/p.kir")

    def test_full_disk(self):
        self.prepare()
        (self.dir / "r.h5").write_bytes(b"old")
        (self.dir / "old.kir").write_text("old")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

        self.fault("plan", PAGERANK, "-o", "old.kir", "--force", status=IO, says="old.kir", preexec_fn=small_files)
        self.assertEqual((self.dir / "old.kir").read_text(), "old")
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--force", status=IO, says="r.h5", preexec_fn=small_files)
        self.assertEqual((self.dir / "r.h5").read_bytes(), b"old")
        self.fault("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "--replace", "-o", "bundle", status=IO,
                   says="bundle", preexec_fn=small_files)
        self.assertEqual([f for f in self.files() if "tmp" in f], [])
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--force")

    def test_a_full_disk_has_one_status(self):
        """Whatever is written there: 74, with the disk and what is free. In a mount name space of its own, if it may have one."""
        self.prepare()
        (self.dir / "small").mkdir()
        command = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else []), "sh", "-c",
                   "mount -t tmpfs -o size=64k,nr_inodes=20 none small && head -c 70000 /dev/zero > small/fill 2> /dev/null; exec \"$@\"", "sh"]
        if subprocess.run([*command, "true"], cwd=self.dir, capture_output=True, check=False).returncode:
            self.skipTest("no name spaces")
        run = ["kasen-run", "fused.kir", "--bundle", "bundle"]
        for tool, *args in (["kasen-plan", PAGERANK, "-o", "small/p.kir"], ["kasen-partition", "G=graph.txt", "-o", "small/b"],
                            [*run, "-o", "small/r.h5"], [*run, "-o", "small/r.csv"], [*run, "-o", "small/r.npy"],
                            [*run, "-o", "r.h5", "--stats", "small/s.json"]):
            done = subprocess.run([*command, TOOLS / tool, *args], cwd=self.dir, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, IO, (args, done.stderr))
            self.assertRegex(done.stderr, r"No space left on device; 0 bytes are free on the disk of '[^']*small[^']*'", args)

    def test_disk_full_for_some_ranks(self):
        """Beyond 8 MiB of lines the disk is full: whichever rank is there then, the job ends, and nothing is left."""
        program = self.program("dim N\ndim K local = 20000\ninput G : null[N, N]\nx : f64[N, K] = f64(index(N)) + 0.5\noutput x\n")
        self.kasen("plan", program, "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "G=graph.txt", "--workers", 3, "-o", "b")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        (self.dir / "r.csv").write_text("old")

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))

        self.fault("run", "-n", 3, "f.kir", "--bundle", "b", "--format", "csv", "-o", "r.csv", "--force", status=IO, says="cannot write '",
                   preexec_fn=small_files)
        self.assertEqual((self.dir / "r.csv").read_text(), "old")
        self.assertEqual([f for f in self.files() if "tmp" in f], [])

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([TOOLS / "kasen", "plan", PAGERANK], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, IO, done.stderr)

    def test_standard_error_that_takes_nothing(self):
        self.prepare()

        def status(line):
            return subprocess.run(f"{TOOLS}/kasen {line}", shell=True, cwd=self.dir, check=False, timeout=60).returncode

        for end in ["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"]:
            self.assertEqual(status(f"plan nothing.ks {end}"), MISSING)
            self.assertEqual(status(f"partition --program plan.kir G=graph.txt --workers 2 -o b --replace {end}"), 0)
            self.assertEqual(status(f"fuse plan.kir -o again.kir {end}"), 0)
            self.assertEqual(status(f"fuse plan.kir --explain -o again.kir {end}"), IO)
            self.assertEqual(status(f"run fused.kir --bundle nothing -o r.h5 {end}"), MISSING)
        self.assertEqual((self.dir / "again.kir").read_bytes()[:4], b"kir ")
        for ranks in ["", "-n 2"]:
            self.assertEqual(status(f"run {ranks} fused.kir --bundle bundle -o r.h5 >/dev/null 2>&-"), 0)
            self.assertEqual(status(f"run {ranks} fused.kir --bundle bundle -o r.h5 >&- 2>&-"), IO)
            self.assertEqual((self.dir / "r.h5").read_bytes()[:4], b"\x89HDF")

    def test_closed_pipe(self):
        done = subprocess.run(f"{TOOLS}/kasen plan {PAGERANK} | true; echo ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
                              capture_output=True, text=True, check=False)
        self.assertIn(done.stdout.strip(), {"0", str(IO)})

    def test_results_never_on_standard_output(self):
        self.prepare()
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "-", status=USAGE, says="standard output")

    def test_unknown_param(self):
        self.prepare()
        self.fault("run", "fused.kir", "--bundle", "bundle", "-D", "thetta=1", status=USAGE, says=["thetta", "theta"])
        self.fault("run", "-n", 2, "fused.kir", "--bundle", "bundle", "-D", "theta=x", status=USAGE, says="theta=x")

    def test_params_that_are_ids_beside_workers_without_masters(self):
        (self.dir / "one.ks").write_text("dim N\ninput G : null[N, N]\nparam s : id[N] = 9\n"
                                         "output here = map((i, s) -> i == s, index(N), s)\n")
        (self.dir / "graph.txt").write_text("1 4\n4 9\n")
        self.kasen("plan", "one.ks", "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 16, "-o", "bundle")
        for options, chosen in [((), 9), (("-D", "s=1"), 1), (("-D", "s=4"), 4)]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", *options, "-o", "here.csv", "--format", "csv")
            lines = (self.dir / "here.csv").read_text().splitlines()[1:]
            self.assertEqual([int(line.split(",")[0]) for line in lines if line.endswith(("1", "true"))], [chosen])
        for missing in (0, 2):
            self.fault("run", "fused.kir", "--bundle", "bundle", "-D", f"s={missing}", status=USAGE, says="no such id")

    def test_matrix_too_large(self):
        (self.dir / "huge.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1099511627776 1099511627776 1099511627776\n1 1 1.0\n")
        program = self.program("dim N\ninput A : f64[N, N]\nx : f64[N] = 1\ny = A @ x\noutput y\n")
        self.kasen("plan", program, "-o", "p.kir")
        done = subprocess.run([TOOLS / "kasen", "partition", "--program", "p.kir", "A=huge.mtx", "-o", "b"], cwd=self.dir, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertIn(done.returncode, {BAD, LIMIT}, done.stderr)
        self.assertIn("huge.mtx", done.stderr)

    def test_interrupted_runs_leave_nothing(self):
        """Over ranks, with the plan from a pipe."""
        self.prepare()
        plan, _ = self.kasen("plan", PAGERANK, "-D", "theta=-1")
        endless, _ = self.kasen("fuse", stdin=plan)
        temporary = self.dir / "temporary"
        temporary.mkdir()
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "2", "--bundle", "bundle", "-o", "r.h5"], cwd=self.dir,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, env={**os.environ, "TMPDIR": str(temporary)},
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # not ignored, as under nohup
            job.stdin.write(endless.encode())
            job.stdin.close()
            for _ in range(200):
                time.sleep(0.1)
                if list(temporary.iterdir()):  # mpirun's
                    break
            self.assertEqual(len(list(temporary.iterdir())), 1)
            time.sleep(1)
            job.send_signal(number)
            self.assertEqual(job.wait(timeout=60), 130)
            self.assertEqual([p for p in temporary.rglob("*") if "kasen" in p.name], [])
            self.assertNotIn("r.h5", self.files())
            for _ in range(100):
                if subprocess.run(["pgrep", "-s", str(job.pid)], capture_output=True, check=False).returncode != 0:
                    break
                time.sleep(0.1)
            self.assertNotEqual(subprocess.run(["pgrep", "-s", str(job.pid)], capture_output=True, check=False).returncode, 0)

    def test_go_ends_with_what_it_runs(self):
        """Told to stop, or where the run is killed: the status says so, and no process and no half of a file is left."""
        self.prepare()
        for told, number, status in [("kasen", signal.SIGTERM, 130), ("kasen-run", signal.SIGKILL, LIMIT)]:
            job = subprocess.Popen([TOOLS / "kasen", "go", PAGERANK, "G=graph.txt", "-D", "theta=-1", "--dir", "endless"], cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
            for line in job.stderr:
                if line.startswith("picture"):
                    break
            of_job = lambda: subprocess.run(["pgrep", "-s", str(job.pid), "-l"], capture_output=True, text=True, check=False).stdout
            named = [int(pid) for pid, name in (line.split() for line in of_job().splitlines()) if name == told]
            os.kill(min(named), number)  # its forks have its name
            self.assertEqual(job.wait(timeout=60), status)
            job.stderr.close()
            for _ in range(100):
                if not of_job():
                    break
                time.sleep(0.02)
            self.assertEqual(of_job(), "")
            self.assertEqual(sorted(p.name for p in (self.dir / "endless").iterdir() if "tmp" in p.name or "result" in p.name), [])

    def test_an_mpirun_that_misses_a_signal(self):
        self.prepare()
        folder = self.dir / "bin"
        folder.mkdir()
        script = "#!/bin/sh\ntrap '[ -e asked ] && exit 1; : > asked' INT\n: > started\nwhile :; do sleep 0.1; done\n"
        (folder / "mpirun").write_text(script)
        (folder / "mpirun").chmod(0o755)
        job = subprocess.Popen([TOOLS / "kasen", "run", "fused.kir", "-n", "2", "--bundle", "bundle"], cwd=self.dir,
                               stderr=subprocess.DEVNULL, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        for _ in range(200):
            if (self.dir / "started").exists():
                break
            time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(timeout=60), 130)
        self.assertTrue((self.dir / "asked").exists())

    def test_messages_name_the_standard_input(self):
        self.prepare()
        plan, _ = self.kasen("plan", PAGERANK)
        for ranks in [[], ["-n", 2]]:
            self.fault("run", *ranks, "--bundle", "bundle", "-o", "r.h5", stdin=plan, status=BAD, says="<stdin>:1")

    def test_verify_of_results_and_folders(self):
        """Whole results and counters are right; cut off, with a component missing or of another size they are not."""
        out = self.dir / "out"
        out.mkdir()
        def result(name, **sets):
            with h5py.File(out / name, "w") as file:
                for path, shape in sets.items():
                    file.create_dataset(path.replace("__", "/"), data=numpy.zeros(shape))
        good = {"v": 5, "w__0": 5, "w__1": (5, 3), "s__0": (), "s__1": 2}
        result("r.h5", **good)
        (out / "checkpoint-000007.tmp-0123456789ab").mkdir()
        (out / "notes.txt").write_text("mine\n")
        said = self.kasen("verify", "out")[0].splitlines()
        self.assertEqual(said[1:], ["out/r.h5: whole (a result of 3 arrays, without digests: altered values cannot be detected)"])
        self.assertIn("out/checkpoint-000007.tmp-0123456789ab: not complete", said[0])
        for wrong, says in [({"w__2": 5}, "'w' is missing"), ({"w__1": (4, 3)}, "of different sizes"), ({"w__1": (5, 3, 2)}, "of different sizes"),
                            ({"w__x": 5}, "neither an output nor a component"), ({"w__1__y": 5}, "neither an output nor a component")]:
            sets = {**good, **wrong}
            if "w__2" in wrong or "w__1__y" in wrong:
                del sets["w__1"]
            result("r.h5", **sets)
            self.fault("verify", "out", status=1, says=["out/r.h5", says])
        result("r.h5")
        self.fault("verify", "out/r.h5", status=1, says="it holds nothing")
        result("r.h5", **good)
        whole = (out / "r.h5").read_bytes()
        (out / "r.h5").write_bytes(whole[:-50])
        self.fault("verify", "out", status=1, says="out/r.h5")
        (out / "r.h5").write_text('{"kasen_run": 1}')
        self.fault("verify", "out", status=1, says="the key")
        (out / "r.h5").unlink()
        self.assertIn("not complete", self.kasen("verify", "out")[0])
        self.fault("verify", "nothing", status=MISSING, says="nothing")

    def test_a_rank_that_is_told_to_end_ends_the_job(self):
        """As where all of them are told: interrupted, no bug of Kasen; and one message."""
        self.prepare()
        plan, _ = self.kasen("plan", PAGERANK, "-D", "theta=-1")
        self.kasen("fuse", "-o", "endless.kir", stdin=plan)
        job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "2", "endless.kir", "--bundle", "bundle", "-o", "r.h5"], cwd=self.dir,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        ranks = []
        for _ in range(600):
            found = subprocess.run(["pgrep", "-s", str(job.pid), "-f", "--", "^[^ ]*kasen-run --as-rank"], capture_output=True, text=True, check=False)
            ranks = [int(pid) for pid in found.stdout.split()]
            if len(ranks) == 2:
                break
            time.sleep(0.05)
        time.sleep(1)
        os.kill(ranks[1], signal.SIGTERM)
        err = job.communicate(timeout=60)[1]
        self.assertEqual((job.returncode, err.count("error:")), (130, 1), err)
        self.assertIn("a signal ended one of its ranks or mpirun", err)
        self.assertEqual([f for f in self.files() if f.startswith("r.h5")], [])

    def test_rules_have_their_note_from_a_rank_too(self):
        self.prepare()
        self.kasen("fuse", "--sync", "lazy", "-o", "fused.kir", stdin=self.kasen("plan", PAGERANK)[0])
        text = (self.dir / "fused.kir").read_text()
        edited = re.sub(r"(= mxvt?\[.*)@pre\(add\)\{[^}]*\}", r"\1@part", text)
        self.assertNotEqual(edited, text)
        (self.dir / "edited.kir").write_text(edited)
        for ranks in [[], ["-n", 2]]:
            _, err = self.kasen("run", *ranks, "edited.kir", "--bundle", "bundle", "-o", "r.h5", status=BAD)
            self.assertIn("(rule ", err)
            self.assertRegex(err, r"note: 'kasen help rule-\d\d' shows rule \d")

    def test_a_killed_rank_ends_the_job(self):
        self.prepare()
        (self.dir / "slow.ks").write_text(PAGERANK.read_text())
        self.kasen("plan", "slow.ks", "-D", "theta=-1", "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "endless.kir")
        job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "2", "endless.kir", "--bundle", "bundle", "-o", "r.h5"], cwd=self.dir,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        ranks = []
        for _ in range(200):
            time.sleep(0.1)
            found = subprocess.run(["pgrep", "-s", str(job.pid), "-f", "--", "^[^ ]*kasen-run --as-rank"], capture_output=True, text=True, check=False)
            ranks = [int(pid) for pid in found.stdout.split()]
            if len(ranks) == 2:
                break
        self.assertEqual(len(ranks), 2)
        time.sleep(0.5)
        os.kill(ranks[1], signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertNotIn("r.h5", self.files())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
