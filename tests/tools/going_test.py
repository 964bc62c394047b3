#!/usr/bin/env python3
"""kasen go: several in one folder, data that change, steps that die, what its results are called.

Usage: going_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, IO, LIMIT, TOOLS, USAGE, ToolTest  # noqa: E402

RESUMABLE, INTERNAL, INTERRUPTED = 75, 70, 130
SCALED = "const k = 1\ndim N\ninput G : null[N, N]\noutput y = (G @ fill(1.0, N)) * f64(k)\n"
GRAPHS = {"a.txt": "1 2\n1 3\n2 3\n3 1\n", "b.txt": "1 2\n1 3\n2 3\n3 2\n3 1\n"}
DEGREES = {"a.txt": [2, 1, 1], "b.txt": [2, 1, 2]}


class GoTest(ToolTest):
    def setUp(self):
        super().setUp()
        (self.dir / "p.ks").write_text(SCALED)
        for name, text in GRAPHS.items():
            (self.dir / name).write_text(text)

    def line(self, data, *more, method="hybrid-cut"):
        return ["go", "p.ks", f"G={data}", "--workers", 2, "--kernels", "interpreter", "--threads", 1, "--method", method, *more]

    def go(self, data, *more, **options):
        return self.kasen(*self.line(data, *more), **options)

    def values(self, name):
        return [float(line.split(",")[1]) for line in (self.dir / name).read_text().splitlines()[1:]]

    def half_made(self):
        return [p.name for p in self.dir.rglob("*") if ".tmp-" in p.name]


class Together(GoTest):
    def test_many_in_one_folder_are_each_right(self):
        """A sweep in the background: other constants, other data, one folder."""
        runs = [(data, k) for k in (1, 2, 3) for data in GRAPHS]
        started = [subprocess.Popen([TOOLS / "kasen", *map(str, self.line(data, "-D", f"k={k}", "-o", f"{k}{data}.csv", "--format", "csv"))], cwd=self.dir,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for data, k in runs]
        ends = [(job, *job.communicate(timeout=120)) for job in started]
        waited = 0
        for (data, k), (job, out, err) in zip(runs, ends, strict=True):
            self.assertEqual(job.returncode, 0, err)
            self.assertEqual(self.values(f"{k}{data}.csv"), [k * d for d in DEGREES[data]], (data, k))
            self.assertIn("Predicted and counted agree", out)
            self.assertNotIn("error", err)
            waited += err.count("another 'kasen go' is at work in 'p.run'; this one waits for it")
        self.assertGreater(waited, 0)
        self.assertEqual(self.half_made(), [])

    def hold(self):
        """As another go does, until the end of the test."""
        (self.dir / "p.run").mkdir()
        held = (self.dir / "p.run" / ".go.lock").open("w")
        self.addCleanup(held.close)
        fcntl.flock(held, fcntl.LOCK_EX)
        return held

    def test_one_that_shall_not_wait(self):
        self.hold()
        err = self.fault(*self.line("a.txt", "--no-wait"), status=RESUMABLE, says=["another 'kasen go' is at work in 'p.run'", "--dir FOLDER"])
        self.assertNotIn("plan ", err)
        self.assertEqual([p.name for p in (self.dir / "p.run").iterdir()], [".go.lock"])
        self.go("a.txt", "--no-wait", "--dir", "q", "-o", "r.csv")  # in another folder nobody waits
        self.assertEqual(self.values("r.csv"), DEGREES["a.txt"])

    def test_one_without_a_report(self):
        shown = {"report.html", "report.txt", "unfused.kir"}
        out, err = self.go("a.txt", "-o", "r.csv")
        self.assertIn("Predicted and counted agree", out)
        self.assertLessEqual(shown, {p.name for p in (self.dir / "p.run").iterdir()})
        out, err = self.go("b.txt", "--no-report", "-o", "s.csv")
        self.assertEqual(self.values("s.csv"), DEGREES["b.txt"])
        self.assertNotIn("Predicted and counted", out)
        self.assertNotIn("report", err)
        kept = {p.name for p in (self.dir / "p.run").iterdir()}
        self.assertLessEqual({"bundle", "plan.kir", "fused.kir", "run.json"}, kept)
        self.assertEqual(kept & shown, set())  # those of the first one would show another run
        self.go("b.txt", "-o", "t.csv")
        self.assertLessEqual(shown, {p.name for p in (self.dir / "p.run").iterdir()})

    def test_one_that_waits_is_ended_by_a_signal_and_by_the_other_ones_end(self):
        held = self.hold()
        jobs = [subprocess.Popen([TOOLS / "kasen", *map(str, self.line("a.txt", "-o", "r.csv"))], cwd=self.dir, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for job in jobs:
            self.assertIn("waits for it", job.stderr.readline())
        jobs[0].terminate()
        self.assertEqual((jobs[0].wait(30), jobs[0].stderr.read()), (INTERRUPTED, ""))
        self.assertIsNone(jobs[1].poll())
        held.close()
        self.assertEqual((jobs[1].wait(60), jobs[1].stderr.read().count("error")), (0, 0))
        self.assertEqual(self.values("r.csv"), DEGREES["a.txt"])
        for job in jobs:
            job.stderr.close()

    def test_a_process_number_that_comes_again_is_in_nobodys_way(self):
        """In containers they begin anew: what a killed tool left has its number in another's way no more."""
        apart = ["unshare", "-Urpf", "sh", "-c", '"$0" "$@"; exit $?', TOOLS / "kasen"]  # below the first one, which nothing kills
        if subprocess.run([*apart[:4], "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this system lets nobody make a process space")
        plan, bundle = ["plan", "p.ks", "-o", "p.kir"], ["partition", "--program", "p.kir", "G=a.txt", "-o", "bundle"]
        for args in [plan, bundle]:
            for fault in ["rename:kill:1", "rename:kill:1", "rename:fail:9"]:
                done = subprocess.run([*apart, *args], cwd=self.dir, env={**os.environ, "KASEN_FAULT": fault}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        left = [name for name in self.half_made() if name.startswith(("p.kir.", "bundle."))]
        self.assertEqual(len(left), 4, left)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.assertEqual(len([line for line in self.kasen("verify", ".")[0].splitlines() if "not complete" in line]), 4)


class Changed(GoTest):
    """Data that change, also in size and time alone or while the bundle is made: it is never that of other data."""

    def data_of_bundle(self):
        return json.loads((self.dir / "p.run" / "bundle" / "manifest.json").read_text())["content"]["sources"]

    def until_the_bundle(self, data, fault="open:fail:1@tool=kasen-fuse"):
        """A go that ends with the step after it."""
        return subprocess.run([TOOLS / "kasen", *map(str, self.line(data))], cwd=self.dir, capture_output=True, text=True, check=False,
                              env={**os.environ, "KASEN_FAULT": fault})

    def made(self, data):
        """Whether a go with the data made the bundle anew; that there is then the bundle of these."""
        done = self.until_the_bundle(data)
        self.assertEqual(done.returncode, IO, done.stderr)
        self.assertEqual(self.data_of_bundle(), self.want[data], done.stderr)
        return "(as it was)" not in done.stderr

    def setUp(self):
        super().setUp()
        self.want = {}
        for data in GRAPHS:
            self.kasen("partition", f"G={data}", "-o", f"of-{data}")
            self.want[data] = json.loads((self.dir / f"of-{data}" / "manifest.json").read_text())["content"]["sources"]

    def test_made_when_it_must_be_and_only_then(self):
        self.assertTrue(self.made("a.txt"))
        self.assertFalse(self.made("a.txt"))
        os.utime(self.dir / "a.txt")  # the same content
        self.assertFalse(self.made("a.txt"))
        self.assertTrue(self.made("b.txt"))
        self.assertTrue(self.made("a.txt"))
        # What partition does not look at makes no other bundle; one that somebody put there is not taken for ours.
        (self.dir / "p.ks").write_text(SCALED + "output z = G @ fill(2.0, N)\n")
        self.assertFalse(self.made("a.txt"))
        self.kasen("partition", "--program", "p.run/plan.kir", "b.txt", "--workers", 2, "--replace", "-o", "p.run/bundle")
        self.assertTrue(self.made("a.txt"))
        for record in ["", "x", "kasen made-from 1\nbundle x\n", "\0" * 100]:
            (self.dir / "p.run" / "bundle.made-from").write_text(record)
            self.assertTrue(self.made("a.txt"))

    def test_a_kept_bundle_tells_how_it_was_read(self):
        (self.dir / "q.ks").write_text("dim N, F local\ninput X : f64[N, F]\noutput y = sum(X, over F)\n")
        (self.dir / "x.csv").write_text("1,2\nNA,3\n# 4,5\n6,7\n")
        told = ["note: 1 line of 'x.csv' that begins with # or % was left out as a comment; quote the cell to keep it\n",
                "note: 1 of 3 rows along N left out: values of input 'X' are missing\n"]
        go = ["go", "q.ks", "X=x.csv", "--missing", "X=drop", "--no-report"]
        for again in [False, True, True]:
            _, err = self.kasen(*go)
            self.assertEqual("(as it was)" in err, again)
            self.assertEqual([err.count(note) for note in told], [1, 1], err)
        stats, _ = self.kasen("partition", "--stats", "q.run/bundle")
        self.assertIn(told[1], stats)
        self.assertEqual(json.loads(self.kasen("partition", "--stats", "q.run/bundle", "--format", "json")[0])["notes"], [n[len("note: "):-1] for n in told])
        (self.dir / "x.csv").write_text("1,2\n6,7\n")
        self.assertNotIn("note: ", self.kasen(*go)[1])

    def test_another_profile_where_it_chooses_the_cut(self):
        profile = self.dir / "m.yaml"
        for bandwidth, method, anew in [("1e9", "auto", True), ("1e9", "auto", False), ("2e9", "auto", True),
                                        ("2e9", "block", True), ("3e9", "block", False)]:
            profile.write_text(f"memory_bandwidth: {bandwidth}\n")
            done = subprocess.run([TOOLS / "kasen", *map(str, self.line("a.txt", method=method))], cwd=self.dir, capture_output=True,
                                  text=True, check=False, env={**os.environ, "KASEN_FAULT": "open:fail:1@tool=kasen-fuse", "KASEN_PROFILE": str(profile)})
            self.assertEqual(done.returncode, IO, done.stderr)
            self.assertEqual("(as it was)" not in done.stderr, anew, done.stderr)

    def test_other_edges_of_the_same_size_and_time(self):
        facts = (self.dir / "a.txt").stat()
        self.go("a.txt", "-o", "r.csv", "--format", "csv")
        self.assertEqual(self.values("r.csv"), DEGREES["a.txt"])
        (self.dir / "a.txt").write_text(GRAPHS["a.txt"].replace("3 1", "2 1"))
        os.utime(self.dir / "a.txt", ns=(facts.st_atime_ns, facts.st_mtime_ns))
        self.assertEqual((self.dir / "a.txt").stat().st_size, facts.st_size)
        self.go("a.txt", "-o", "r.csv", "--format", "csv")
        self.assertEqual(self.values("r.csv"), [2, 2, 0])

    def test_killed_wherever_it_is_made(self):
        """The data are changed, the bundle is being made, the machine dies; and then the old data again, and the new ones."""
        self.made("a.txt")
        faults = [f"{point}:kill:{n}@tool=kasen-partition" for point, last in [("create", 4), ("sync", 6), ("rename", 2)] for n in range(1, last + 1)]
        faults += [f"{point}:kill:1@tool=kasen" for point in ["create", "write", "sync", "rename"]]
        struck = 0
        for number, fault in enumerate(faults):
            before, after = ("a.txt", "b.txt") if number % 2 == 0 else ("b.txt", "a.txt")
            done = self.until_the_bundle(after, f"{fault},open:fail:1@tool=kasen-fuse")
            if done.returncode == IO:
                continue
            struck += 1
            self.made(before)
            self.made(after)
        self.assertGreaterEqual(struck, 9)


class Died(GoTest):
    def tools(self, **scripts):
        """A folder of tools, some of which are scripts."""
        folder = self.dir / "tools"
        folder.mkdir(exist_ok=True)
        for path in TOOLS.glob("kasen*"):
            if path.is_file() and os.access(path, os.X_OK) and not (folder / path.name).exists():
                (folder / path.name).symlink_to(path)
        (folder / "kasen").unlink()
        shutil.copy(TOOLS / "kasen", folder)
        for name, script in scripts.items():
            (folder / f"kasen-{name}").unlink()
            (folder / f"kasen-{name}").write_text(f"#!/bin/sh\n{script}\n")
            (folder / f"kasen-{name}").chmod(0o755)
        return folder

    def died(self, tools, *more):
        done = subprocess.run([tools / "kasen", *map(str, self.line("a.txt", *more))], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        return done.returncode, done.stderr

    def test_each_step_that_a_signal_ends_is_told(self):
        for step in ["plan", "partition", "fuse", "measure", "run"]:
            status, err = self.died(self.tools(**{step: "kill -SEGV $$"}))
            self.assertEqual(status, INTERNAL, err)
            self.assertIn(f"kasen-{step} was ended by signal 11 (SIGSEGV); this is a bug of Kasen; please report", err)
            shutil.rmtree(self.dir / "tools")

    def test_two_steps_that_die_at_once_are_told_once(self):
        """The plan is fused beside the one to compare with."""
        script = "mkdir -p both; : > both/$$; while [ $(ls both | wc -l) -lt 2 ]; do :; done; kill -SEGV $$"
        tools = self.tools(fuse=script)
        for _ in range(10):
            status, err = self.died(tools)
            self.assertEqual(status, INTERNAL, err)
            shutil.rmtree(self.dir / "both")

    def test_each_signal_is_told_with_what_to_do(self):
        for name, status, says in [("KILL", LIMIT, "where memory runs out"), ("XCPU", LIMIT, "ulimit -t"), ("TERM", INTERRUPTED, "start it again"),
                                   ("BUS", IO, "was cut short"), ("ABRT", INTERNAL, "please report"), ("RTMIN", INTERNAL, "please report")]:
            number = int(signal.Signals[f"SIG{name}"])
            got, err = self.died(self.tools(plan=f"kill -{number} $$"))
            self.assertEqual(got, status, err)
            self.assertIn(f"kasen-plan was ended by signal {number}", err)
            self.assertIn(says, err)
            shutil.rmtree(self.dir / "tools")

    def test_a_run_that_is_killed_names_its_checkpoints(self):
        (self.dir / "p.ks").write_text("dim N\ninput G : null[N, N]\nv = fill(1.0, N)\nfor i in 0..9 { v = 0.5 * (G' @ v) }\noutput v\n")
        err = self.fault(*self.line("a.txt", "--checkpoint", "saved", "--every", 1), status=RESUMABLE, env={"KASEN_FAULT": "border:kill:4@tool=kasen-run"},
                         says=["kasen-run was ended by signal 9 (SIGKILL)", "it held at most", "all is saved in saved/checkpoint-00000", "--resume"])
        self.fault(*self.line("a.txt"), status=LIMIT, env={"KASEN_FAULT": "border:kill:4@tool=kasen-run"}, says="was ended by signal 9 (SIGKILL)")
        self.assertNotIn("Kasen;", err)
        self.go("a.txt", "--checkpoint", "saved", "--every", 1, "--resume")
        err = self.fault(*self.line("a.txt"), status=INTERRUPTED, env={"KASEN_FAULT": "border:term:4@tool=kasen-run"}, says="kasen-run was interrupted")


class Started(GoTest):
    """What go starts: programs are loaded once."""

    def programs(self, tools):
        """The names of all programs of Kasen that a go with these tools starts."""
        done = subprocess.run([tools / "kasen", *map(str, self.line("a.txt"))], cwd=self.dir, capture_output=True, text=True, check=False,
                              env={**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(self.dir / "loaded")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Predicted and counted agree", done.stdout)
        texts = [path for path in self.dir.iterdir() if path.name.startswith("loaded.")]
        found = sorted(name for path in texts for name in re.findall(r"initialize program: \S*/(kasen\S*)", path.read_text(errors="replace")))
        for path in texts:
            path.unlink()
        return found

    def test_copies_by_mpirun_are_refused(self):
        for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
            done = subprocess.run([TOOLS / "kasen", *map(str, self.line("a.txt"))], cwd=self.dir, capture_output=True, text=True, check=False,
                                  env={**os.environ, name: "2"}, timeout=60)
            self.assertEqual(done.returncode, USAGE)
            self.assertRegex(done.stderr, "2 copies of kasen go.*start it alone, with -n 2")

    def test_steps_are_forks_unless_somebody_put_a_script_there(self):
        self.assertEqual(self.programs(TOOLS), ["kasen", "kasen-run"])
        folder = self.dir / "tools"
        folder.mkdir()
        for path in TOOLS.glob("kasen*"):
            if path.is_file():
                (folder / path.name).symlink_to(path)
        (folder / "kasen").unlink()
        shutil.copy(TOOLS / "kasen", folder)
        (folder / "kasen-fuse").unlink()
        (folder / "kasen-fuse").write_text(f"#!/bin/sh\nexec {TOOLS}/kasen-fuse \"$@\"\n")
        (folder / "kasen-fuse").chmod(0o755)
        self.assertEqual(self.programs(folder), ["kasen", "kasen-fuse", "kasen-fuse", "kasen-run"])

    def test_pictures_are_drawn_once(self):
        """Boxes are placed by Graphviz, which takes longer than all else: again only where the plan has changed."""
        (self.dir / "bin").mkdir()
        dot = shutil.which("dot")
        if dot is None:
            self.skipTest("no Graphviz")
        (self.dir / "bin" / "dot").write_text(f"#!/bin/sh\necho \"$1\" >> {self.dir}/drawn\nexec {dot} \"$@\"\n")
        (self.dir / "bin" / "dot").chmod(0o755)
        env = {"PATH": f"{self.dir}/bin:{os.environ['PATH']}"}

        def drawn():
            self.go("a.txt", env=env)
            path = self.dir / "drawn"
            calls = path.read_text().split() if path.exists() else []
            path.unlink(missing_ok=True)
            return len(calls)
        self.assertGreaterEqual(drawn(), 2)  # the picture, the page
        picture = (self.dir / "p.run" / "plan.svg").read_bytes()
        self.assertLessEqual(drawn(), 2)  # of pages with the run's times
        self.assertEqual((self.dir / "p.run" / "plan.svg").read_bytes(), picture)
        (self.dir / "p.ks").write_text(SCALED + "output z = G @ fill(2.0, N)\n")
        self.assertGreaterEqual(drawn(), 2)
        self.assertNotEqual((self.dir / "p.run" / "plan.svg").read_bytes(), picture)
        (self.dir / "p.run" / "plan.places").write_text("no places")
        self.assertGreaterEqual(drawn(), 2)


class Called(GoTest):
    """Of results: the ending says what they are, and outputs that are added change no name."""

    def test_the_ending_is_the_format(self):
        self.go("a.txt")
        for name, begins, more in [("r.csv", b"N,y\n", []), ("r.npy", b"\x93NUMPY", []), ("r.h5", b"\x89HDF", []), ("r.hdf5", b"\x89HDF", []), ("R.CSV", b"N,y\n", []),
                                   ("r-0.85", b"\x89HDF", []), ("r", b"\x89HDF", []), ("r.parquet", b"N,y\n", ["--format", "csv"])]:
            self.go("a.txt", "-o", name, *more)
            self.assertTrue((self.dir / name).read_bytes().startswith(begins), name)
            (self.dir / name).unlink()

    def test_ranks_alone_have_a_part_each(self):
        for options, parts in ((["-n", 2], 2), (["--workers", 3, "-n", 2], 3), ([], 1)):
            self.kasen("go", "p.ks", "G=a.txt", "--kernels", "interpreter", "--threads", 1, *options, "-o", "r.h5")
            self.assertEqual(len(json.loads((self.dir / "p.run" / "run.json").read_text())["parts"]), parts, options)

    def test_an_output_that_is_added_changes_no_name(self):
        more = "output z = fill(3.0, N)\noutput w = map(v -> (v, 2 * v), fill(1.0, N))\n"
        for text, others in [(SCALED, []), (SCALED + more, ["r-w.csv", "r-z.csv", "r-w.0.npy", "r-w.1.npy", "r-z.npy"])]:
            (self.dir / "p.ks").write_text(text)
            for name in ["r.csv", "r.npy"]:
                self.go("a.txt", "-o", name)
            self.assertEqual(self.values("r.csv"), DEGREES["a.txt"])
            self.assertEqual(sorted(p.name for p in self.dir.glob("r*")), sorted(["r.csv", "r.npy", "r-N_ids.npy", *others]))
        # None of them takes the place of an input.
        shutil.copy(self.dir / "a.txt", self.dir / "r-z.csv")
        self.fault(*self.line("r-z.csv", "-o", "r.csv"), status=USAGE, says="the output 'r-z.csv' is also an input")
        self.assertEqual((self.dir / "r-z.csv").read_text(), GRAPHS["a.txt"])

    def test_an_ending_that_is_none_of_a_format(self):
        before = self.files()
        for name in ["r.parquet", "r.zip", "r.txt", "r.csv.gz", "sub.csv/r.json"]:
            self.fault(*self.line("a.txt", "-o", name), status=USAGE, says=[f"'{name}' ends in", ".h5, .hdf5, .csv, .npy", "--format NAME"])
            self.fault("run", "p.kir", "--bundle", "b", "-o", name, status=USAGE, says=[f"'{name}' ends in", ".h5, .hdf5, .csv, .npy"])
        self.fault(*self.line("a.txt", "-o", "-"), status=USAGE, says="standard output")
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
