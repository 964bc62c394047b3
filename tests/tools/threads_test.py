#!/usr/bin/env python3
"""Threads: those that the affinity mask, the environment and the ranks beside one leave, in every tool that starts some.

Usage: threads_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import re
import shlex
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import PAGERANK, TOOLS, ToolTest  # noqa: E402

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ALL = len(os.sched_getaffinity(0))
ONE = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
for name in ["OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"]:
    os.environ.pop(name, None)


class Threads(ToolTest):
    def start(self, *line, **env):
        done = subprocess.run([*map(str, line)], cwd=self.dir, env={**os.environ, **AS_ROOT, **env}, capture_output=True, text=True,
                              timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def threads(self, *before, more=(), tool=("kasen", "run"), **env):
        """Of a rank, as the counters tell."""
        run = [TOOLS / tool[0], *tool[1:], "fused.kir", "--bundle", "bundle", "-o", "r.npy", "--stats", "s.json"]
        self.start(*before, *run, *more, **env)
        return json.loads((self.dir / "s.json").read_text())["threads"]

    def started(self, *line, **env):
        """Threads that a process and those that it starts begin, by the calls of the system."""
        self.start("strace", "-f", "-qq", "-e", "trace=clone,clone3", "-o", "calls", *line, **env)
        return (self.dir / "calls").read_text().count("CLONE_THREAD")

    def test_runs(self):
        self.prepare()
        alone = self.threads()
        self.assertLessEqual(alone, ALL)  # a control group may give less
        self.assertEqual(self.threads(*ONE), 1)
        self.assertEqual(self.threads(*ONE, OMP_NUM_THREADS=str(ALL + 1)), 1)
        self.assertEqual(self.threads(*ONE, more=["--threads", 3], OMP_NUM_THREADS="2"), 3)  # the user's word
        self.assertEqual(self.threads(OMP_NUM_THREADS="1", SLURM_CPUS_PER_TASK="2"), 1)
        self.assertEqual(self.threads(SLURM_CPUS_PER_TASK="1"), 1)
        self.assertEqual(self.threads(OMP_NUM_THREADS="nonsense"), alone)

    def test_ranks(self):
        self.prepare()
        alone = self.threads()
        self.assertEqual(self.threads(more=["-n", 1]), alone)
        self.assertEqual(self.threads(more=["-n", 2]), max(1, alone // 2))
        self.assertEqual(self.threads(*ONE, more=["-n", 2]), 1)
        self.assertEqual(self.threads(more=["-n", 1], OMP_NUM_THREADS="1"), 1)
        bound = ["mpirun", "-n", 1, "--bind-to", "core"]
        cores = self.start(*bound, "nproc").stdout
        self.assertEqual(self.threads(*bound, tool=["kasen-run"]), min(alone, int(cores)))

    def test_options_of_mpirun(self):
        self.prepare()
        run = ["run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", "-n", "1"]

        def line(*options, **env):
            text = self.start(TOOLS / "kasen", *run, "-v", *options, **env).stderr
            return shlex.split(re.search(r"^kasen-run: (\S*(?:mpirun|mpiexec)\S* .*)$", text, re.M)[1])
        usual = line()
        self.assertIn("none", usual)
        self.assertEqual(usual[usual.index("--as-rank") - 1:], [str(TOOLS / "kasen-run"), "--as-rank", *run[1:], "-v"])
        own = line("--mpirun", "--bind-to  'core' -x 'A=b c'")
        self.assertNotIn("none", own)
        at = own.index("--bind-to")
        self.assertEqual(own[at:at + 4], ["--bind-to", "core", "-x", "A=b c"])
        self.assertNotIn("none", line(OMPI_MCA_hwloc_base_binding_policy="core"))
        cores = int(self.start("mpirun", "-n", 1, "--bind-to", "core", "nproc").stdout)
        self.assertEqual(self.threads(more=["-n", 1, "--mpirun", "--bind-to core"]), cores)
        self.assertEqual(self.threads(more=["-n", 1], OMPI_MCA_hwloc_base_binding_policy="core"), cores)
        for options, words in [("--mpirun='-n 3'", "'-n' is an option that kasen run gives"), ("--mpirun='--bind-to \"core'", "a quote has no end"),
                               ("--mpirun=--nonsense", "mpirun starts no rank with --mpirun --nonsense")]:
            done = subprocess.run([TOOLS / "kasen", *run, *shlex.split(options)], cwd=self.dir, capture_output=True, text=True)
            self.assertEqual(done.returncode, 64)
            self.assertIn(words, done.stderr)
        done = subprocess.run([TOOLS / "kasen", "go", PAGERANK, "G=graph.txt", "--mpirun=-v"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual((done.returncode, "--mpirun without -n" in done.stderr, (self.dir / "pagerank.run").exists()), (64, True, False))

    def test_what_is_really_started(self):
        self.prepare()
        run = [TOOLS / "kasen-run", "fused.kir", "--bundle", "bundle", "-o", "r.npy"]
        cut = [TOOLS / "kasen-partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "--replace", "-o", "bundle"]
        for line in [run, cut]:  # a digest beside reading and the like takes a thread in any case
            least = self.started(*ONE, *line)
            self.assertEqual(self.started(*line, OMP_NUM_THREADS="1"), least)
            self.assertEqual(self.started(*line) > least, ALL > 1)
        self.assertEqual(self.started(*run, "--threads", 1), self.started(*ONE, *run))

    def test_go_and_experiments(self):
        self.start(*ONE, TOOLS / "kasen", "go", PAGERANK, "G=graph.txt", "--workers", 2)
        self.assertEqual(json.loads((self.dir / "pagerank.run" / "run.json").read_text())["threads"], 1)
        (self.dir / "e.yaml").write_text(f"program: {PAGERANK}\ndata:\n  G: graph.txt\nworkers: 2\n")
        self.start(*ONE, TOOLS / "kasen", "experiment", "e.yaml", "-o", "rows")
        rows = [json.loads(line) for line in (self.dir / "rows" / "runs.jsonl").read_text().splitlines()]
        self.assertEqual({row["threads"] for row in rows}, {1})

    def test_the_doctor(self):
        def cores(*before, **env):
            return " ".join(self.start(*before, TOOLS / "kasen-doctor", "--only", "cores", **env).stdout.split())
        self.assertIn("a run starts 1 thread unless", cores(*ONE))
        self.assertIn("a run starts 1 thread unless --threads says otherwise (OMP_NUM_THREADS", cores(OMP_NUM_THREADS="1"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
