#!/usr/bin/env python3
"""Checkpoints: runs that are stopped, killed and damaged go on to the bits of an undisturbed one.

Usage: checkpoint_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
from tools_test import CREATE, EVERY_PLAN, TOOLS, USAGE, ToolTest  # noqa: E402

RESUMABLE, INTERRUPTED = 75, 130
# Two loops, the second over what the first has made; enough turns that a signal meets one of them.
PROGRAM = """
dim N
input G : null[N, N]
param turns = 40, more = 20
degree = G @ fill(1.0, N)
v = fill(1.0, N)
for i in 0..turns {
  v = 0.15 + 0.85 * (G' @ (v / degree)) * cos(f64(i))
}
s = sum(v)
w = v
for i in reversed(0..more) {
  w = (w + v / s) / (1.5 + sin(f64(i)))
}
output v, w
"""


class Checkpointed(ToolTest):
    def setUp(self):
        super().setUp()
        (self.dir / "p.ks").write_text(PROGRAM)
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 4, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")

    def run_plan(self, *args, **options):
        return self.kasen("run", "fused.kir", "--bundle", "bundle", *args, **options)

    def undisturbed(self, *args):
        self.run_plan("-o", "whole.h5", *args)
        return (self.dir / "whole.h5").read_bytes()

    def saved(self):
        return sorted(p.name for p in (self.dir / "saved").iterdir() if not p.name.startswith("."))

    def start(self, *args, **options):
        return self.start_command("run", "fused.kir", "--bundle", "bundle", *args, **options)

    def start_command(self, *args, own_group=False):
        job = subprocess.Popen([TOOLS / "kasen", *map(str, args)], cwd=self.dir, start_new_session=own_group,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        return job

    def processes(self):
        """Of this test: their command lines name its folder's files, and they run in it."""
        found = []
        for p in pathlib.Path("/proc").iterdir():
            if not p.name.isdigit():
                continue
            try:
                if os.readlink(p / "cwd") == str(self.dir.resolve()):
                    found.append((int(p.name), (p / "cmdline").read_bytes().split(b"\0")))
            except OSError:
                continue
        return found

    def wait_for_checkpoint(self, job, least=1):
        deadline = time.time() + 60
        while time.time() < deadline and job.poll() is None:
            if (self.dir / "saved").exists() and len([n for n in self.saved() if ".tmp-" not in n]) >= least:
                return
            time.sleep(0.01)
        self.fail(f"no checkpoint: {job.communicate()}")

    def test_same_bits_from_any_of_them_on_any_ranks(self):
        want = self.undisturbed()
        many = [7, 15, 50]  # within the first loop, the last of it, in the second one
        for usual, first, then in [(7, ["-n", 2], []), (15, [], ["-n", 3]), (50, ["-n", 4], ["-n", 2])]:
            for turns in many if EVERY_PLAN else [usual]:
                shutil.rmtree(self.dir / "saved", ignore_errors=True)
                out, _ = self.run_plan("-o", "r.h5", *first, "--checkpoint", "saved", "--every", turns, "--keep", 100)
                self.assertEqual((self.dir / "r.h5").read_bytes(), want)
                self.assertEqual(len(self.saved()), 60 // turns)
                self.assertIn(f"checkpoints: {60 // turns} in ", out)
                for name in reversed(self.saved()):
                    out, err = self.run_plan("-o", "r.h5", *then, "--checkpoint", "saved", "--every", 1000, "--resume")
                    self.assertIn(f"resumed: saved/{name} (after iteration ", out)
                    self.assertEqual(err, "")
                    self.assertEqual((self.dir / "r.h5").read_bytes(), want)
                    shutil.rmtree(self.dir / "saved" / name)

    def test_without_any_it_begins_from_the_start(self):
        want = self.undisturbed()
        out, err = self.run_plan("-o", "r.h5", "--checkpoint", "deep/saved", "--resume")
        self.assertNotIn("resumed", out)
        self.assertEqual((err, (self.dir / "r.h5").read_bytes()), ("", want))

    def test_stopped_runs_leave_their_trace(self):
        for ranks, number in [([], signal.SIGUSR1), (["-n", 2], signal.SIGTERM)]:
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            job = self.start("-o", "r.h5", *ranks, "-D", "turns=2000000", "--checkpoint", "saved", "--every-seconds", 0.2,
                             "--trace", "t.json")
            self.wait_for_checkpoint(job)
            job.send_signal(number)
            job.communicate(timeout=60)
            self.assertEqual(job.returncode, RESUMABLE)
            events = json.loads((self.dir / "t.json").read_text())["traceEvents"]
            self.assertEqual({e["pid"] for e in events}, set(range(len(ranks) or 1)))
            loops = [e for e in events if e["ph"] == "X" and e["name"].startswith("for at line") and e["dur"] > 0]
            self.assertEqual(len(loops), len(ranks) or 1)
            arrows = [e["id"] for e in events if e["ph"] == "s"]
            self.assertEqual(arrows, [e["id"] for e in events if e["ph"] == "f"])
            self.assertEqual(bool(arrows), bool(ranks))
        self.check_ended_at_once()

    def check_ended_at_once(self):
        """INT waits for no border: the trace that was there stays whole."""
        whole = (self.dir / "t.json").read_bytes()
        shutil.rmtree(self.dir / "saved")
        job = self.start("-o", "r.h5", "-D", "turns=2000000", "--checkpoint", "saved", "--every-seconds", 0.2, "--trace", "t.json")
        self.wait_for_checkpoint(job)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)
        self.assertEqual((job.returncode, (self.dir / "t.json").read_bytes()), (INTERRUPTED, whole))

    def test_signals_save_and_end(self):
        args = ["-D", "turns=2000000"]
        for ranks in [[], ["-n", 2]]:
            for number in [signal.SIGUSR1, signal.SIGTERM]:
                shutil.rmtree(self.dir / "saved", ignore_errors=True)
                job = self.start("-o", "r.h5", *ranks, *args, "--checkpoint", "saved", "--every-seconds", 0.2)
                self.wait_for_checkpoint(job)
                job.send_signal(number)
                _, err = job.communicate(timeout=60)
                self.assertEqual(job.returncode, RESUMABLE, err)
                self.assertRegex(err, r"kasen-run: stopped by a signal after iteration \d+ of the loop at p.ks:7:1; all is saved in "
                                 r"saved/checkpoint-\d{6}; the same command with --resume goes on")
                self.assertEqual(err.count("\n"), 1)
                self.assertNotIn("r.h5", self.files())
                out, _ = self.kasen("verify", "saved")
                self.assertEqual(out.count(": right (a checkpoint of 4 workers, after iteration "), len(self.saved()))
                self.assertEqual(self.processes(), [])

    def test_go_hands_them_on(self):
        line = ["go", "p.ks", "G=graph.txt", "--workers", 4, "--param", "turns=150000", "--dir", "all", "--checkpoint", "saved"]
        for ranks in [[], ["-n", 2]]:
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            job = self.start_command(*line, *ranks, "--every-seconds", 0.2)
            self.wait_for_checkpoint(job)
            job.send_signal(signal.SIGTERM)
            _, err = job.communicate(timeout=60)
            self.assertEqual(job.returncode, RESUMABLE, err)
            self.assertIn("the same command with --resume goes on", err)
            self.assertEqual(self.processes(), [])
            out, _ = self.kasen(*line, "--every", 10**8, "--resume")
            self.assertIn("resumed: saved/checkpoint-", out)
            self.assertIn("Predicted and counted agree to the byte", out)
        self.kasen(*line[:-2], "-o", "whole.h5")
        self.assertEqual((self.dir / "all/result.h5").read_bytes(), (self.dir / "whole.h5").read_bytes())
        _, err = self.kasen(*line, "--every", 0, status=USAGE)
        self.assertIn("--every", err)

    def test_a_request_of_several_signals(self):
        """timeout signals a process and then its group; what starts the ranks hands on what it got."""
        run = ["run", "fused.kir", "--bundle", "bundle", "-D", "turns=2000000", "-o", "r.h5"]
        go = ["go", "p.ks", "G=graph.txt", "--workers", 4, "--param", "turns=2000000"]
        for line in [run, [*run, "-n", 2], go, [*go, "-n", 2]]:
            for number in [signal.SIGUSR1, signal.SIGTERM]:
                shutil.rmtree(self.dir / "saved", ignore_errors=True)
                job = self.start_command(*line, "--checkpoint", "saved", "--every-seconds", 0.2, own_group=True)
                self.wait_for_checkpoint(job)
                job.send_signal(number)
                time.sleep(0.02)
                if job.poll() is None:
                    os.killpg(job.pid, number)
                _, err = job.communicate(timeout=60)
                self.assertEqual(job.returncode, RESUMABLE, err)
                self.assertEqual(err.count("all is saved in saved/checkpoint-"), 1, err)
                self.assertEqual(self.processes(), [])

    def test_ranks_pause_with_their_terminal(self):
        job = self.start("-n", 2, "-D", "turns=2000000", "--checkpoint", "saved", "--every-seconds", 0.2, own_group=True)
        self.wait_for_checkpoint(job)
        os.killpg(job.pid, signal.SIGTSTP)
        time.sleep(1)
        paused = self.saved()
        time.sleep(1)
        self.assertEqual(self.saved(), paused)
        os.killpg(job.pid, signal.SIGCONT)
        deadline = time.time() + 30
        while self.saved() == paused and time.time() < deadline:
            time.sleep(0.05)
        self.assertNotEqual(self.saved(), paused)
        job.send_signal(signal.SIGTERM)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, RESUMABLE, err)

    def test_a_second_signal_ends_at_once(self):
        # One turn takes long: the border is far away.
        for ranks in [[], ["-n", 2]]:
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            (self.dir / "slow.ks").write_text("dim N\ninput G : null[N, N]\nv = G @ fill(1.0, N)\nfor i in 0..3 {\n"
                                              "  for j in 0..1000000000 {\n    v = v / 2 + 1\n  }\n}\noutput v\n")
            self.kasen("plan", "slow.ks", "-o", "slow.kir")
            self.kasen("fuse", "slow.kir", "--bundle", "bundle", "-o", "slow-fused.kir")
            job = subprocess.Popen([TOOLS / "kasen", "run", "slow-fused.kir", "--bundle", "bundle", *map(str, ranks), "--checkpoint", "saved"],
                                   cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(lambda: job.poll() is None and job.kill())
            time.sleep(2)
            job.send_signal(signal.SIGTERM)
            time.sleep(1.2)  # within a second it would be the same request
            self.assertIsNone(job.poll())
            job.send_signal(signal.SIGTERM)
            _, err = job.communicate(timeout=30)
            self.assertEqual(job.returncode, INTERRUPTED, err)
            deadline = time.time() + 5
            while self.processes() and time.time() < deadline:
                time.sleep(0.1)
            self.assertEqual(self.processes(), [])

    def test_ranks_killed_at_random_moments(self):
        args = ["-D", "turns=3000"]
        want = self.undisturbed(*args)
        every = ["-o", "r.h5", "-n", 2, *args, "--checkpoint", "saved", "--every", 50]
        began = time.time()
        self.run_plan(*every)
        whole = time.time() - began
        shutil.rmtree(self.dir / "saved")
        rng = random.Random(11)
        kills = 0
        for _ in range(40):
            job = self.start(*every, "--resume")
            deadline = time.time() + whole * rng.uniform(0.3, 0.9)
            while job.poll() is None and time.time() < deadline:
                time.sleep(0.005)
            ranks = [pid for pid, line in self.processes() if b"--as-rank" in line and not line[0].endswith(b"mpirun")]
            if job.poll() is None and ranks and kills < (5 if EVERY_PLAN else 3):
                os.kill(rng.choice(ranks), signal.SIGKILL)
                kills += 1
            _, err = job.communicate(timeout=60)
            if job.returncode == 0 and kills > 0:
                break
            if job.returncode == 0:
                shutil.rmtree(self.dir / "saved")  # it was quicker this time
            else:
                self.assertEqual(err.count("error:"), 1, err)
                saved = [n for n in self.saved() if ".tmp-" not in n] if (self.dir / "saved").exists() else []
                self.assertEqual(job.returncode, 75 if saved else 69, err)
                self.assertIn("a rank was killed by signal 9 (SIGKILL); ", err)
                if saved:
                    self.assertIn(f"; all is saved in saved/{saved[-1]}; the same command with --resume goes on from there", err)
        self.assertEqual(job.returncode, 0, err)
        self.assertGreater(kills, 0)
        self.assertEqual((self.dir / "r.h5").read_bytes(), want)
        self.assertEqual([n for n in self.saved() if ".tmp-" in n], [])

    def test_a_killed_mpirun_leaves_no_rank(self):
        job = self.start("-o", "r.h5", "-n", 2, "-D", "turns=200000000", "--checkpoint", "saved", "--every-seconds", 0.2)
        self.wait_for_checkpoint(job)
        segments = {path for pid, _ in self.processes() for path in self.shared_by(pid)}
        self.assertEqual(len(segments), 2)
        for pid, line in self.processes():
            if line[0].endswith(b"mpirun"):
                os.kill(pid, signal.SIGKILL)
        job.communicate(timeout=30)
        self.wait_for_the_end()
        self.assertFalse([path for path in segments if path.exists()])

    def test_a_killed_starter_leaves_nobody(self):
        """Whoever starts processes takes them along: kasen run -n its mpirun, kasen go its kasen-run."""
        common = ["-n", 2, "-D", "turns=200000000", "--checkpoint", "saved", "--every-seconds", 0.2]
        for command in (["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", *common],
                        ["go", "p.ks", "G=graph.txt", "--workers", 2, *common]):
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            job = self.start_command(*command)
            self.wait_for_checkpoint(job)
            job.kill()
            job.communicate(timeout=30)
            self.wait_for_the_end()

    @staticmethod
    def shared_by(pid):
        """The files of /dev/shm that it has mapped."""
        lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
        return {pathlib.Path(line[line.index("/dev/shm/"):]) for line in lines if "_segment." in line}

    def wait_for_the_end(self):
        deadline = time.time() + 5
        while self.processes() and time.time() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.processes(), [])

    def test_what_is_damaged_or_of_another_run_is_skipped(self):
        want = self.undisturbed()
        self.run_plan("-o", "r.h5", "-n", 2, "--checkpoint", "saved", "--every", 10, "--keep", 10)
        names = self.saved()
        self.assertEqual(len(names), 6)
        newest, second, third, fourth = [self.dir / "saved" / n for n in reversed(names)][:4]
        (newest / "manifest.json").unlink()
        part = second / "rank-0001.h5"
        part.write_bytes(part.read_bytes()[:-30])
        with h5py.File(third / "rank-0000.h5", "r+") as file:
            vector = max(file["worker-0000"].values(), key=len)
            vector[3] += 1e-9
        out, err = self.kasen("verify", "saved", status=1)
        self.assertEqual((out.count(": right"), err.count("error:")), (3, 3), out + err)
        out, err = self.run_plan("-o", "r.h5", "--checkpoint", "saved", "--keep", 10, "--resume")
        self.assertEqual(err.count("warning:"), 3, err)
        self.assertIn("was altered", err)
        self.assertIn(f"resumed: saved/{fourth.name} ", out)
        self.assertEqual((self.dir / "r.h5").read_bytes(), want)
        # Other parameters, another plan: another run's.
        _, err = self.run_plan("-o", "r.h5", "--checkpoint", "saved", "--resume", "-D", "more=21")
        self.assertIn("a checkpoint of other parameters; it is skipped", err)
        self.assertIn("it begins from the start", err)
        self.kasen("fuse", "plan.kir", "--strategy", "none", "-o", "fused.kir")
        _, err = self.run_plan("-o", "r.h5", "--checkpoint", "saved", "--resume")
        self.assertIn("a checkpoint of another plan; other plans take over values of dense arrays alone; it is skipped", err)
        self.assertEqual((self.dir / "r.h5").read_bytes(), want)

    def test_a_full_disk_costs_the_checkpoint_alone(self):
        # Three vectors of 24 MB, of which only a sum is a result; no file may have more than 8 MiB.
        (self.dir / "long.ks").write_text(PROGRAM.replace("output v, w", "output total = sum(w)"))
        self.kasen("plan", "long.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--dim", "N=3000000", "--workers", 2, "-o", "long")
        self.kasen("fuse", "plan.kir", "--bundle", "long", "-o", "fused.kir")
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))
        args = ["run", "fused.kir", "--bundle", "long", "--format", "npy", "-D", "turns=4", "-D", "more=4"]
        self.kasen(*args, "-o", "whole.npy")
        for ranks in [[], ["-n", 2]]:
            out, err = self.kasen(*args, *ranks, "-o", "r.npy", "--checkpoint", "saved", "--every", 4, preexec_fn=small)
            self.assertEqual(err.count("goes on"), 1, err)  # not for each checkpoint, not once a rank
            self.assertIn("cannot write 'saved/checkpoint-000001/rank-000", err)
            self.assertNotIn("checkpoints:", out)
            self.assertEqual(self.saved(), [])
            self.assertEqual((self.dir / "r.npy").read_bytes(), (self.dir / "whole.npy").read_bytes())

    def test_a_folder_that_is_removed_meanwhile(self):
        job = self.start("-o", "r.h5", "--threads", 1, "-D", "turns=2000000", "--checkpoint", "saved", "--every-seconds", 0.1)
        self.wait_for_checkpoint(job, least=2)
        shutil.rmtree(self.dir / "saved", ignore_errors=True)  # what is being written may stay
        shutil.rmtree(self.dir / "saved", ignore_errors=True)
        time.sleep(1)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=60)
        self.assertLessEqual(err.count("warning:"), 2, err)
        self.assertNotIn("an old checkpoint stays", err)

    def test_what_is_wrong_is_said(self):
        for option in [["--resume"], ["--every", 5], ["--every-seconds", 5]]:
            self.fault("run", "fused.kir", "--bundle", "bundle", *option, status=USAGE, says="without --checkpoint")
        self.fault("run", "fused.kir", "--bundle", "bundle", "--checkpoint", "saved", "--every", 0, status=USAGE, says="every")
        self.fault("run", "fused.kir", "--bundle", "bundle", "--checkpoint", "saved", "--every-seconds", -1, status=USAGE, says="above 0")
        for taken in ["bundle", "bundle/saved"]:
            self.fault("run", "fused.kir", "--bundle", "bundle", "--checkpoint", taken, status=USAGE, says=taken)
        (self.dir / "file").write_text("x")
        self.fault("run", "fused.kir", "--bundle", "bundle", "--checkpoint", "file", status=CREATE, says="file")
        self.run_plan("-o", "r.h5", "--checkpoint", "saved", "--every", 10)
        for ranks in [[], ["-n", 2]]:
            self.fault("run", "fused.kir", "--bundle", "bundle", *ranks, "--checkpoint", "saved", status=USAGE,
                       says=["holds checkpoints of an earlier run", "--resume"])
        job = self.start("-o", "long.h5", "-D", "turns=200000000", "--checkpoint", "other", "--every-seconds", 0.1)
        deadline = time.time() + 30
        while not (self.dir / "other").exists() and time.time() < deadline:
            time.sleep(0.05)
        self.fault("run", "fused.kir", "--bundle", "bundle", "--checkpoint", "other", "--resume", status=CREATE,
                   says="another run writes its checkpoints there")
        job.kill()
        job.communicate()

    def test_h5py_reads_them(self):
        self.run_plan("-o", "r.h5", "-n", 2, "--checkpoint", "saved", "--every", 60)
        saved = self.dir / "saved" / self.saved()[0]
        count = 0
        for file in saved.glob("rank-*.h5"):
            with h5py.File(file) as data:
                for worker in data.values():
                    count += max(len(value) for value in worker.values())
        self.assertEqual(count, len({v for arc in self.arcs for v in arc}))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
