#!/usr/bin/env python3
"""Batch jobs: signals at every moment of a run over ranks, limits of the shell, an mpirun that fails.

Usage: signals_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import LIMIT, PAGERANK, TOOLS, USAGE, ToolTest  # noqa: E402

INTERNAL, RESUMABLE, INTERRUPTED = 70, 75, 130


class Signals(ToolTest):
    def setUp(self):
        super().setUp()
        self.prepare()
        plan, _ = self.kasen("plan", PAGERANK, "-D", "theta=-1")
        self.kasen("fuse", "-o", "endless.kir", stdin=plan)

    def start(self, *args, env=None, limits=None):
        def prepare():
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # this test may run under nohup
            if limits:
                limits()

        job = subprocess.Popen([TOOLS / "kasen", "run", "endless.kir", "--bundle", "bundle", "-o", "r.h5", *map(str, args)], cwd=self.dir,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, **(env or {})}, preexec_fn=prepare)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        return job

    def of_job(self, job):
        """(process, command line) of each process of its session."""
        found = subprocess.run(["pgrep", "-s", str(job.pid), "-a"], capture_output=True, text=True, check=False).stdout
        return [(int(pid), line) for pid, line in (text.split(" ", 1) for text in found.splitlines())]

    def maps(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/maps").read_text()
        except OSError:  # it is gone
            return ""

    def ends(self, job, status, says=None):
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, status, err)
        if says is None:
            self.assertEqual(err, "")
        else:
            self.assertIn(says, err)
            self.assertEqual(err.count("kasen-run:"), 1, err)
        self.wait_for(lambda: not self.of_job(job))
        self.assertEqual([f for f in self.files() if f.startswith("r.h5") or f.startswith("core")], [])

    def test_a_request_while_the_ranks_start(self):
        env = self.with_mpirun(": > started\nsleep 1\nexec $mpirun \"$@\"")
        for number in [signal.SIGUSR1, signal.SIGTERM]:
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            (self.dir / "started").unlink(missing_ok=True)
            job = self.start("-n", 2, "--checkpoint", "saved", env=env)
            self.wait_for((self.dir / "started").exists)
            time.sleep(0.2)
            job.send_signal(number)
            self.ends(job, RESUMABLE, "stopped by a signal after ")

    def test_what_schedulers_send(self):
        """USR2 (the end of a time limit) and XCPU (processor time) are requests as TERM is."""
        soft = lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 60))
        self.ends(self.start("--threads", 1, "--checkpoint", "saved", limits=soft), RESUMABLE, "all is saved in saved/")
        self.ends(self.start("--threads", 1, limits=soft), INTERRUPTED)
        job = self.start("-n", 2, "--checkpoint", "saved", "--resume", "--every-seconds", 0.1)
        self.wait_for(lambda: len(list((self.dir / "saved").glob("checkpoint-*[0-9]"))) > 1)
        job.send_signal(signal.SIGUSR2)
        self.ends(job, RESUMABLE, "all is saved in saved/")

    def test_signals_without_checkpoints(self):
        """Whatever process of the job gets them: interrupted, and nothing is left, in shared memory neither."""
        segments = lambda: {p.name for p in pathlib.Path("/dev/shm").glob("kasen-job-*/*_segment.*")}
        for number, whom in [(signal.SIGUSR1, "job"), (signal.SIGTERM, "mpirun"), (signal.SIGHUP, "session")]:
            job = self.start("-n", 2)
            mapped = lambda: {name for pid, _ in self.of_job(job) for name in segments() if name in self.maps(pid)}
            self.wait_for(lambda: len(mapped()) == 2)
            time.sleep(0.5)
            mine = mapped()
            for pid, line in sorted(self.of_job(job), key=lambda process: process[0] != job.pid):
                if whom == "session" or (pid == job.pid if whom == "job" else line.startswith("mpirun")):
                    os.kill(pid, number)
            self.ends(job, INTERRUPTED, "a signal ended one of its ranks or mpirun" if whom == "mpirun" else None)
            self.assertEqual(mine & segments(), set())

    def test_ignored_ones_stay_so(self):
        job = self.start("--threads", 1, limits=lambda: signal.signal(signal.SIGUSR2, signal.SIG_IGN))
        time.sleep(1)
        job.send_signal(signal.SIGUSR2)
        time.sleep(0.5)
        self.assertIsNone(job.poll())
        job.terminate()
        self.ends(job, INTERRUPTED)

    def test_an_mpirun_that_fails(self):
        """Its status 1 is no check that says no."""
        env = self.with_mpirun("echo 'no room in the session folder' >&2\nexit 1")
        err = self.fault("run", "fused.kir", "--bundle", "bundle", "-n", 2, env=env, status=INTERNAL, says="mpirun failed")
        self.assertIn("no room in the session folder\n", err)

    def test_options_that_mpirun_refuses(self):
        """No rank begins: the user's options are wrong. A rank that began ends in its own way."""
        run = ["run", "fused.kir", "--bundle", "bundle", "-n", 2, "-o", "r.h5"]
        err = self.fault(*run, "--mpirun", "--nonsense", status=USAGE,
                         says=["mpirun starts no rank with --mpirun --nonsense", "its line was: ", "mpirun ", " -n 2 ", " --as-rank ...", "'mpirun --help'"])
        self.assertIn("--nonsense", err.split("kasen-run: error:")[0])  # in mpirun's own words
        self.fault(*run, "--mpirun", "nonsense", status=USAGE, says="with --mpirun nonsense")  # taken for a program
        self.fault(*run, "--mpirun", "--map-by nonsense", status=USAGE, says="mpirun starts no rank with --mpirun '--map-by nonsense'")
        self.assertNotIn("r.h5", self.files())
        env = self.with_mpirun("printf '\\010\\nlost\\n' >&2\nexit 1")
        self.fault(*run, "--mpirun", "--bind-to none", env=env, status=INTERNAL, says="mpirun failed")
        self.kasen(*run, "--mpirun", "--bind-to none")
        self.fault(*run, "--mpirun", "--bind-to none", "--nan", "some", status=USAGE, says="--nan")

    def test_limits_of_the_shell(self):
        run = ["run", "fused.kir", "--bundle", "bundle", "-n", 2]
        for kind, option in [(resource.RLIMIT_NOFILE, "-n"), (resource.RLIMIT_FSIZE, "-f")]:
            self.fault(*run, status=LIMIT, says=["mpirun needs ", f"'ulimit {option}'"],
                       preexec_fn=lambda kind=kind: resource.setrlimit(kind, (30, 30)))
            self.kasen(*run, preexec_fn=lambda kind=kind: resource.setrlimit(kind, (30, resource.getrlimit(kind)[1])))

    def test_no_path(self):
        done = subprocess.run([TOOLS / "kasen", "run", "fused.kir", "--bundle", "bundle", "-n", "2"], cwd=self.dir, text=True,
                              capture_output=True, env={}, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_with_dashes(self):
        (self.dir / "fused.kir").rename(self.dir / "-p.kir")
        (self.dir / "bundle").rename(self.dir / "-b")
        for ranks in [[], ["-n", 2]]:
            self.kasen("run", "--bundle=-b", *ranks, "--output=-r.h5", "--", "-p.kir")
            self.assertEqual(self.kasen("verify", "./-r.h5")[0], "./-r.h5: right (a result of 2 arrays)\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
