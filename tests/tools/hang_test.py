#!/usr/bin/env python3
"""No run hangs: ranks that stand still or diverge are told of, and every message goes in pieces where it must.

Usage: hang_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, LIMIT, PAGERANK, TOOLS, USAGE, ToolTest  # noqa: E402

RESUMABLE = 75
IO = 74
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Hanging(ToolTest):
    def setUp(self):
        super().setUp()
        self.prepare()

    def ranks(self):
        """Those of this test, by rank: they run in its folder."""
        found = {}
        for p in pathlib.Path("/proc").iterdir():
            try:
                if not p.name.isdigit() or os.readlink(p / "cwd") != str(self.dir.resolve()):
                    continue
                number = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", (p / "environ").read_bytes())
            except OSError:
                continue
            if number:
                found[int(number[1])] = int(p.name)
        return found

    def start_endless(self, *args):
        """Three ranks that have come to their loop."""
        job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "3", "fused.kir", "--bundle", "bundle", "-D", "theta=-1", "-o", "r.h5",
                                "--checkpoint", "saved", "--every", "50", *map(str, args)], cwd=self.dir,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        deadline = time.time() + 60
        while time.time() < deadline and len([p for p in (self.dir / "saved").glob("checkpoint-*") if ".tmp" not in p.name]) < 2:
            time.sleep(0.02)
        self.assertEqual(len(self.ranks()), 3)
        return job

    def ended(self, job, status):
        out, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, status, out + err)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertNotIn("r.h5", self.files())
        deadline = time.time() + 5
        while self.ranks() and time.time() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.ranks(), {})
        return err

    def test_a_stopped_rank(self):
        """Each rank's last step is told, that of the stopped one, too; no rank is left; what is saved is named."""
        job = self.start_endless("--timeout", 3)
        began = time.time()
        os.kill(self.ranks()[1], signal.SIGSTOP)
        err = self.ended(job, RESUMABLE)
        self.assertLess(time.time() - began, 20)
        self.assertIn("nothing began or ended for 3 s (--timeout)", err)
        self.assertIn("--resume goes on from there", err)
        for rank in range(3):
            line = [text for text in err.splitlines() if f"rank {rank}:" in text]
            self.assertEqual(len(line), 1, err)
            self.assertRegex(line[0], r"iteration \d+")
            self.assertEqual("its process is stopped" in line[0], rank == 1, err)
        self.kasen("verify", "saved")

    def test_without_a_checkpoint(self):
        """Every statement in which a rank was is named by file, line and turn."""
        job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "3", "fused.kir", "--bundle", "bundle", "-D", "theta=-1", "-o", "r.h5",
                                "--timeout", "2", "--kernels", "interpreter"], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        while len(self.ranks()) < 3 and job.poll() is None:
            time.sleep(0.05)
        time.sleep(2)  # they have come to their loop
        os.kill(self.ranks()[2], signal.SIGSTOP)
        err = self.ended(job, LIMIT)
        self.assertEqual(len(re.findall(r"rank \d: step \d+, .* at .*pagerank.ks:\d+: .*, iteration \d+", err)), 3, err)
        self.assertRegex(err, r"rank 0: .*; waits for (rank [12] \(exchange|all ranks)")

    def test_a_process_alone(self):
        err = self.fault("run", "fused.kir", "--bundle", "bundle", "--timeout", 1e-9, "-o", "r.h5", status=LIMIT, says="rank 0:")
        self.assertNotIn("waits for", err)
        self.kasen("run", "fused.kir", "--bundle", "bundle", "--timeout", 60, "-o", "r.h5")
        self.kasen("run", "-n", 2, "fused.kir", "--bundle", "bundle", "--timeout", 60, "-o", "r.h5", "--trace", "t.json")
        for wrong in ["0", "-1", "1e99", "soon"]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "--timeout", wrong, status=USAGE)

    def test_ranks_that_were_started_apart(self):
        """Other plans, params or options are told before anything is computed."""
        self.kasen("fuse", "plan.kir", "--strategy", "none", "-o", "other.kir")
        run = [str(TOOLS / "kasen-run"), "fused.kir", "--bundle", "bundle", "-o", "r.h5"]
        for other in [["other.kir", *run[2:]], [*run[1:], "-D", "theta=1e-3"], [*run[1:], "--top", "3"]]:
            done = subprocess.run(["mpirun", "--oversubscribe", "-n", "1", *run, ":", "-n", "1", run[0], *other], cwd=self.dir,
                                  env={**os.environ, **AS_ROOT}, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, BAD, done.stderr)
            self.assertEqual(done.stderr.count("error: the ranks do not do the same"), 1, done.stderr)
        self.assertNotIn("r.h5", self.files())

    def test_messages_in_pieces(self):
        """Same bits, same counters, as predicted, however small the pieces; also where every exchange is compared."""
        def run(name, **env):
            self.kasen("run", "-n", 3, "fused.kir", "--bundle", "bundle", "-o", f"{name}.npy", "--format", "npy", "--stats", f"{name}.json",
                       env=env)
            self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", f"{name}.json", "--check")
            counted = json.loads((self.dir / f"{name}.json").read_text())
            files = {p.name[len(name):]: p.read_bytes() for p in self.dir.glob(f"{name}*.npy")}
            return files, counted["traffic"]
        want = run("whole")
        self.assertGreater(want[1]["rank_messages"], 0)
        for chunk in ["8", "24", "1000"]:
            self.assertEqual(run(f"by{chunk}", KASEN_MPI_CHUNK=chunk, KASEN_CHECK_COLLECTIVES="1"), want, chunk)
        self.kasen("run", "-n", 2, "fused.kir", "--bundle", "bundle", env={"KASEN_MPI_CHUNK": "many"}, status=CONFIG)


class Messages(ToolTest):
    """--check-messages: what is altered on its way is found, and all else is as without it."""

    def setUp(self):
        super().setUp()
        self.prepare()

    def run_plan(self, name, *args, fault="", status=0):
        return self.kasen("run", "-n", 3, "fused.kir", "--bundle", "bundle", "-o", f"{name}.npy", "--stats", f"{name}.json", *args,
                          env={"KASEN_FAULT": fault}, status=status)

    def test_a_flipped_bit_is_found(self):
        self.run_plan("unseen", fault="message:flip:9@rank=1")  # nobody notices
        self.run_plan("plain")
        self.run_plan("checked", "--check-messages")
        files = {name: [p.read_bytes() for p in sorted(self.dir.glob(f"{name}*.npy"))] for name in ("plain", "checked", "unseen")}
        self.assertEqual(files["plain"], files["checked"])
        self.assertNotEqual(files["plain"], files["unseen"])
        traffic = [json.loads((self.dir / f"{name}.json").read_text())["traffic"] for name in ("plain", "checked")]
        self.assertEqual(traffic[0], traffic[1])
        self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "checked.json", "--check")
        for n in (1, 9):
            _, err = self.run_plan("none", "--check-messages", fault=f"message:flip:{n}@rank=1", status=IO)
            self.assertEqual(err.count("error:"), 1, err)
            self.assertRegex(err, r"error: exchange \d+ \(.*pagerank\.ks:\d+.*\): the bytes that rank [02] sent are not those that arrived at rank 1; ")
        self.assertFalse(list(self.dir.glob("none*")))


class Abandoned(ToolTest):
    """mpirun that stays once its ranks are gone, as Open MPI's can: a stand-in for it."""

    def test_mpirun_without_ranks_is_ended(self):
        self.prepare()
        mpirun = self.dir / "bin" / "mpirun"
        mpirun.parent.mkdir()
        mpirun.write_text("#!/bin/sh\nsleep 3 &\nwait\nexec sleep 600\n")
        mpirun.chmod(0o755)
        began = time.monotonic()
        done = subprocess.run([TOOLS / "kasen", "run", "-n", "2", "fused.kir", "--bundle", "bundle", "-o", "r.h5"], cwd=self.dir,
                              env={**os.environ, "PATH": f"{mpirun.parent}:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 70, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertGreater(time.monotonic() - began, 60)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
