#!/usr/bin/env python3
"""The start of `kasen run -n`: what mpirun and the ranks need from the disk, memory and network, and what killed jobs leave.

EveryStart has each call of the system fail that changes a disk at the start, Start some of them.

Usage: start_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import contextlib
import fcntl
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import CREATE, LIMIT, PAGERANK, TOOLS, ToolTest  # noqa: E402

INTERNAL = 70
NO_MOUNTS = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode != 0
CALLS = ["mkdir", "openat", "ftruncate", "fallocate", "mmap", "write", "pwrite64", "socket", "bind", "statfs"]


class Start(ToolTest):
    every = False

    def setUp(self):
        super().setUp()
        self.prepare()
        self.tmp = self.dir.resolve() / "tmp"
        self.tmp.mkdir()
        self.before = self.shared()

    def run_ranks(self, *more, prefix=(), ranks=2, timeout=60, **env):
        began = time.monotonic()
        done = subprocess.run([*map(str, prefix), TOOLS / "kasen", "run", "-n", str(ranks), "fused.kir", "--bundle", "bundle", "-o", "r.npy", *map(str, more)],
                              cwd=self.dir, env={**os.environ, "TMPDIR": str(self.tmp), **env}, capture_output=True, text=True, timeout=timeout, check=False)
        self.seconds = time.monotonic() - began
        return done

    def mounted(self, *mounts):
        """A prefix that mounts tmpfs of these sizes over folders, for one command."""
        lines = "".join(f"mount -t tmpfs -o size={size} none '{folder}' && " for folder, size in mounts)
        return ["unshare", "-m", "sh", "-c", lines + 'exec "$@"', "sh"]

    def shared(self):
        return {p.name for p in pathlib.Path("/dev/shm").glob("kasen-job-*")}

    def open_files(self, pid):
        """What the process has open. Meanwhile it runs: files that it closes, and its end, are no fault."""
        try:
            descriptors = list(pathlib.Path(f"/proc/{pid}/fd").iterdir())
        except (FileNotFoundError, ProcessLookupError):
            return []
        found = []
        for descriptor in descriptors:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found.append(os.readlink(descriptor))
        return found

    def held_by(self, pids):
        """Which of them these processes hold."""
        return {name for pid in pids for file in self.open_files(pid) for name in re.findall(r"^/dev/shm/(kasen-job-\w+)/\.kasen-job$", file)}

    def is_left(self, name):
        """Nobody holds it: other tests have jobs, too."""
        try:
            with open(f"/dev/shm/{name}/.kasen-job", "rb") as mark:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def nothing_is_left(self, context=""):
        self.assertEqual(list(self.tmp.iterdir()), [], context)
        self.assertEqual([name for name in self.shared() - self.before if self.is_left(name)], [], context)

    def told(self, done, status, *says):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in says:
            self.assertIn(word, done.stderr)

    @unittest.skipIf(NO_MOUNTS, "this system mounts nothing for a test")
    def test_full_folders(self):
        """Told at once, with the folder's name; /dev/shm can be done without."""
        for size in ["64k", "4m", "8m"]:
            self.told(self.run_ranks(prefix=self.mounted((self.tmp, size))), LIMIT, f"'{self.tmp}' has no room for mpirun", "set TMPDIR")
            self.assertLess(self.seconds, 5)
        both = self.mounted((self.tmp, "12m"), ("/dev/shm", "1m"))
        self.told(self.run_ranks(prefix=both), LIMIT, f"'{self.tmp}' has no room", "or in /dev/shm")
        for shared in ["4k", "1m", "6m"]:
            done = self.run_ranks(prefix=self.mounted((self.tmp, "40m"), ("/dev/shm", shared)))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.nothing_is_left()

    def test_folders_that_cannot_be_written(self):
        self.told(self.run_ranks(TMPDIR="/nowhere"), CREATE, "'/nowhere' cannot be written; No such file or directory", "set TMPDIR")
        (self.dir / "file").write_text("")
        self.told(self.run_ranks(TMPDIR=str(self.dir / "file")), CREATE, "cannot be written; Not a directory")

    def test_a_start_that_hangs(self):
        """--timeout counts from the first moment: mpirun that starts nothing, that takes no TERM, ranks that MPI keeps waiting."""
        for script in ["exec sleep 600", "trap '' TERM\nwhile :; do sleep 1; done", "sleep 20\n"]:
            self.told(self.run_ranks("--timeout", 1, **self.with_mpirun(script)), LIMIT, "the ranks did not start within 1 s (--timeout)")
            self.assertLess(self.seconds, 8)
        self.nothing_is_left()
        waits = self.with_mpirun("echo $OMPI_MCA_orte_tmpdir_base > place; exec sleep 600")
        done = self.run_ranks("--timeout", 1, prefix=[] if NO_MOUNTS else self.mounted((self.tmp, "40m")), **waits)
        self.told(done, LIMIT, "did not start")
        done = subprocess.run([TOOLS / "kasen-run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", "--timeout", "0.05"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "PMIX_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, timeout=60, check=False)
        self.assertIn(done.returncode, (LIMIT, 0), done.stderr)  # 0: MPI has started within this time

    def test_calls_that_fail(self):
        """Of mpirun and the ranks while they start: the run goes well, or ends in time with one message."""
        for call in CALLS if self.every else self.rng_calls():
            for n in range(1, 400) if self.every else (3,):
                log = self.dir / "calls"
                error = "ENOSPC" if call != "mmap" else "ENOMEM"
                inject = ["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}"]
                done = self.run_ranks("--timeout", 8, "--code-cache", "none", **self.with_mpirun("exec " + " ".join(f"'{x}'" for x in inject) + " $mpirun \"$@\""))
                context = f"{call} {n}: {done.returncode}\n{done.stderr}"
                struck = log.exists() and "INJECTED" in log.read_text()
                log.unlink(missing_ok=True)
                self.assertLess(self.seconds, 30, context)
                if done.returncode != 0:
                    self.assertIn(done.returncode, (LIMIT, CREATE, 74, 66, INTERNAL), context)
                    self.assertEqual(done.stderr.count("error:"), 1, context)
                self.nothing_is_left(context)
                if not struck:
                    break

    def rng_calls(self):
        return ["mkdir", "ftruncate"]

    def start_endless(self):
        """A job with its ranks in their loop: (launcher, all processes)."""
        self.kasen("plan", PAGERANK, "-D", "theta=-1", "-o", "endless.kir")
        self.kasen("fuse", "endless.kir", "-o", "endless.kir3")
        job = subprocess.Popen([TOOLS / "kasen", "run", "-n", "2", "endless.kir3", "--bundle", "bundle", "-o", "r.npy", "--checkpoint", "saved", "--every", "50"],
                               cwd=self.dir, env={**os.environ, "TMPDIR": str(self.tmp)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               start_new_session=True)
        self.addCleanup(job.stderr.close)
        self.addCleanup(lambda: self.kill_all(job))
        deadline = time.time() + 60
        while time.time() < deadline and not list((self.dir / "saved").glob("checkpoint-*[0-9]")):
            time.sleep(0.02)
        return job

    def processes_of(self, job):
        return subprocess.run(["pgrep", "-s", str(job.pid)], capture_output=True, text=True, check=False).stdout.split()

    def holds_files(self, pid):
        """A killed process keeps its locks until its last thread has ended."""
        try:
            threads = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
            return len(threads) > 1 or pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def kill_all(self, job):
        """Kills them, and waits until none of them holds a file."""
        killed = self.processes_of(job)
        for pid in killed:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        job.wait(timeout=30)
        self.wait_for(lambda: not any(self.holds_files(pid) for pid in killed))

    def doctor(self):
        done = subprocess.run([TOOLS / "kasen-doctor", "--only", "temporary-folder", "--only", "shared-memory"], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.tmp)}, check=False)
        return " ".join(done.stdout.split())

    def test_what_killed_jobs_leave(self):
        """Removed by the next start, told by the doctor; what a running job holds is not touched, nor what only looks alike."""
        (self.tmp / "kasen-job-backup").mkdir()
        (self.tmp / "kasen-job-backup" / "precious").write_text("x")
        job = self.start_endless()
        held = {p.name for p in self.tmp.iterdir()}
        self.assertEqual(len(held), 2)
        self.assertNotIn("killed runs left", self.doctor())
        self.assertEqual(self.run_ranks().returncode, 0)
        self.assertEqual({p.name for p in self.tmp.iterdir()}, held)
        left = self.held_by(self.processes_of(job))
        self.assertEqual(len(left), 1)
        self.kill_all(job)
        self.assertEqual({p.name for p in self.tmp.iterdir()}, held)
        told = self.doctor().count("killed runs left")
        if told != 2:  # a run of another test has it, which starts meanwhile and removes it
            self.assertEqual(told, 1)
            self.wait_for(lambda: not left & self.shared())
        self.assertEqual(self.run_ranks().returncode, 0)
        self.assertEqual([p.name for p in self.tmp.iterdir()], ["kasen-job-backup"])
        self.assertEqual((self.tmp / "kasen-job-backup" / "precious").read_text(), "x")
        self.assertEqual(left & self.shared(), set())
        self.assertNotIn("killed runs left", self.doctor())

    def test_nobody_listens_to_a_network(self):
        """A job of one machine can be reached from that machine alone."""
        job = self.start_endless()
        inodes = {}
        for pid in self.processes_of(job):
            for file in self.open_files(pid):
                inodes[file] = pid
        listening = 0
        for table in ["tcp", "tcp6"]:
            for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                who = inodes.get(f"socket:[{fields[9]}]")
                if who and fields[3] == "0A":
                    listening += 1
                    self.assertRegex(fields[1], r"^(0100007F|0{24}01000000|0000000000000000FFFF00000100007F):", f"process {who} listens on {fields[1]}")
        self.assertGreater(listening, 0)


class EveryStart(Start):
    every = True


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
