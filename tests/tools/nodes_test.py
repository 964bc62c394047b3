#!/usr/bin/env python3
"""Runs over several nodes. A node here is a host name of its own (a UTS namespace) on this machine: mpirun starts a daemon
on each, which starts that node's ranks; ranks of different nodes share no memory and talk over TCP, as on a cluster.

Usage: nodes_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
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
from tools_test import BAD, IO, LIMIT, TOOLS, ToolTest  # noqa: E402

RESUMABLE = 75
# mpirun's remote shell: AGENT [options] NODE COMMAND...
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
export NODE=$1 TMPDIR=$FOLDER/tmp-$1
shift
mkdir -p "$TMPDIR"
echo "$NODE" >> "$FOLDER/started"
exec unshare $APART sh -c 'hostname "$NODE" && { [ ! -e "$FOLDER/on-$NODE" ] || . "$FOLDER/on-$NODE"; } && exec sh -c "$0"' "$*"
"""


def apart():
    """Options of `unshare` that this user may give, or nothing."""
    for options in (["-um"], ["-rum"]):
        done = subprocess.run(["unshare", *options, "sh", "-c", "hostname alpha && hostname"], capture_output=True, text=True, check=False)
        if done.stdout == "alpha\n":
            return " ".join(options)
    return None


class NodeTest(ToolTest):
    def setUp(self):
        super().setUp()
        options = apart()
        if options is None:
            self.skipTest("no host name of one's own for a process: unshare is not there or not allowed")
        (self.dir / "agent").write_text(AGENT)
        (self.dir / "agent").chmod(0o755)
        self.env = {**os.environ, "FOLDER": str(self.dir), "APART": options, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_plm_rsh_agent": str(self.dir / "agent"), "OMPI_MCA_orte_abort_timeout": "5"}
        names = self.mpirun("hostname", hosts="alpha:2,beta:1")
        if sorted(names.stdout.split()) != ["alpha", "alpha", "beta"]:
            self.skipTest(f"this mpirun starts no daemons of its own on this machine: {names.stdout}{names.stderr}")
        self.prepare(workers=5)
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "whole.npy")

    def line(self, *command, hosts="alpha:2,beta:2"):
        ranks = sum(int(host.split(":")[1]) for host in hosts.split(","))
        return ["mpirun", "--host", hosts, "-n", str(ranks), "--bind-to", "none", *map(str, command)]

    def mpirun(self, *command, hosts="alpha:2,beta:2", env=None, stdin=""):
        return subprocess.run(self.line(*command, hosts=hosts), cwd=self.dir, env={**self.env, **(env or {})}, input=stdin, capture_output=True,
                              text=True, timeout=120, check=False)

    def run_ranks(self, *args, status=0, plan="fused.kir", **options):
        """Under a bare mpirun, as in a batch script."""
        done = self.mpirun(TOOLS / "kasen-run", plan, "--bundle", "bundle", *args, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def launch(self, *args, status=0, hosts="alpha slots=2\nbeta slots=2\n", env=None, **options):
        """`kasen run -n 4`, as in an allocation of nodes that mpirun knows."""
        (self.dir / "hosts").write_text(hosts)
        return self.kasen("run", "-n", 4, "--bundle", "bundle", *args, status=status, **options,
                          env={**self.env, "OMPI_MCA_orte_default_hostfile": str(self.dir / "hosts"), **(env or {})})

    def nodes(self):
        """That daemons were started on since the last call."""
        started = self.dir / "started"
        names = started.read_text().split() if started.exists() else []
        started.unlink(missing_ok=True)
        return sorted(names)

    def processes(self):
        """Of this test's jobs: {number: (rank or None, words)}."""
        found = {}
        for p in pathlib.Path("/proc").iterdir():
            try:
                if not p.name.isdigit() or os.readlink(p / "cwd") != str(self.dir.resolve()):
                    continue
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", (p / "environ").read_bytes())
                found[int(p.name)] = (int(rank[1]) if rank else None, (p / "cmdline").read_bytes().decode().split("\0"))
            except OSError:
                continue
        return found

    def ranks(self):
        """{rank: process}; not the child of a rank that examined its files."""
        found = {}
        for number, (rank, _) in sorted(self.processes().items(), reverse=True):
            if rank is not None:
                found[rank] = number
        return found

    def daemons(self):
        """{node: process}"""
        return {pathlib.Path(f"/proc/{number}/environ").read_bytes().split(b"NODE=")[1].split(b"\0")[0].decode(): number
                for number, (_, words) in self.processes().items() if words[0].endswith("orted")}

    def same_bits(self, name="r.npy"):
        self.assertEqual((self.dir / name).read_bytes(), (self.dir / "whole.npy").read_bytes())

    def start(self, *args, line=None):
        """Four ranks on two nodes that have come to their loop, which does not end."""
        endless = [*(line or self.line(TOOLS / "kasen-run")), "fused.kir", "--bundle", "bundle", "-D", "theta=-1", "-o", "r.npy", "--checkpoint", "saved",
                   "--every", "50", *map(str, args)]
        before = self.saved()
        job = subprocess.Popen(endless, cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        deadline = time.time() + 60
        while time.time() < deadline and (len(self.saved()) < 2 or set(self.saved()) & set(before)):
            time.sleep(0.02)
        self.assertEqual(sorted(self.ranks()), [0, 1, 2, 3])
        self.assertEqual(sorted(self.daemons()), ["alpha", "beta"])
        return job

    def saved(self):
        return sorted(p.name for p in (self.dir / "saved").glob("checkpoint-*") if ".tmp" not in p.name)

    def ended(self, job, status):
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, status, out + err)
        self.nothing_left()
        return out + err

    def nothing_left(self, seconds=5):
        deadline = time.time() + seconds
        while self.processes() and time.time() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.processes(), {})
        self.assertFalse((self.dir / "r.npy").exists())


class Nodes(NodeTest):
    def test_one_result(self):
        """Whatever the nodes: the same bits, and counters as predicted; the shares of a node's processors."""
        cores = len(os.sched_getaffinity(0))
        for hosts in ["alpha:2,beta:2", "alpha:1,beta:1", "alpha:1,beta:3,gamma:1"]:
            self.nodes()
            self.run_ranks("-o", "r.npy", "--stats", "r.json", "--trace", "t.json", hosts=hosts, env={"KASEN_CHECK_COLLECTIVES": "1"})
            self.assertEqual(self.nodes(), [host.split(":")[0] for host in hosts.split(",")])
            self.same_bits()
            self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "r.json", "--check")
            counted = json.loads((self.dir / "r.json").read_text())
            self.assertEqual(counted["threads"], max(1, cores // int(hosts.split(",")[0].split(":")[1])))
            events = json.loads((self.dir / "t.json").read_text())["traceEvents"]
            self.assertEqual({event["pid"] for event in events}, set(range(counted["ranks"])))
        profile = self.mpirun(TOOLS / "kasen-run", "--network-profile", hosts="alpha:1,beta:1").stdout
        self.assertRegex(profile, r"(?s)network_bandwidth: .*network_latency: ")

    def test_by_kasen_run(self):
        """mpirun, started by kasen, spreads the ranks; the plan comes through a pipe, and no node sees a file of the other's."""
        for arguments, options in [(["fused.kir"], {}), ([], {"stdin": (self.dir / "fused.kir").read_text()})]:
            self.nodes()
            self.launch(*arguments, "-o", "r.npy", **options)
            self.assertEqual(self.nodes(), ["alpha", "beta"])
            self.same_bits()
            (self.dir / "r.npy").unlink()
        self.run_ranks("-o", "r.npy", plan="-", stdin=(self.dir / "fused.kir").read_text())
        self.same_bits()

    def test_signals(self):
        """To mpirun, which hands them on to every node; or to one rank of any node."""
        job = self.start()
        job.send_signal(signal.SIGUSR1)
        said = self.ended(job, RESUMABLE)
        self.assertEqual(said.count("kasen-run: stopped by a signal after "), 1, said)
        job = self.start("--resume")
        os.kill(self.ranks()[3], signal.SIGTERM)
        said = self.ended(job, RESUMABLE)
        self.assertEqual(said.count("kasen-run: stopped by a signal after "), 1, said)
        job = self.start("--resume")
        job.terminate()  # mpirun ends its ranks itself, and says 1; they have saved what they had
        said = self.ended(job, 1)
        self.assertIn("all is saved in saved/checkpoint-", said)
        self.kasen("verify", "saved")

    def test_a_stopped_rank(self):
        """Each node tells of its own ranks."""
        job = self.start("--timeout", 3)
        os.kill(self.ranks()[2], signal.SIGSTOP)
        said = self.ended(job, RESUMABLE)
        for rank in range(4):
            lines = re.findall(rf"kasen-run: rank {rank}: .*", said)
            self.assertEqual(len(lines), 1, said)
            self.assertEqual("its process is stopped" in lines[0], rank == 2, said)
        self.assertIn("--resume goes on from there", said)

    def test_what_is_killed(self):
        """A rank, a node's daemon, mpirun: no process stays, on any node; what is saved goes on elsewhere, to the same bits."""
        def victim(what, job):
            return {"rank": lambda: self.ranks()[3], "daemon": lambda: self.daemons()["beta"], "mpirun": lambda: job.pid}[what]()
        for what in ["rank", "daemon", "mpirun"]:
            job = self.start("--resume")
            os.kill(victim(what, job), signal.SIGKILL)
            job.communicate(timeout=60)
            self.assertNotEqual(job.returncode, 0)
            self.nothing_left()
            self.kasen("verify", *[f"saved/{name}" for name in self.saved()])
        self.run_ranks("-o", "r.npy", "--checkpoint", "once", "--every", 5, env={"KASEN_FAULT": "border:kill:17@rank=3"}, status=137)
        self.run_ranks("-o", "r.npy", "--checkpoint", "once", "--every", 5, "--resume", hosts="gamma:1,delta:1,beta:1")
        self.same_bits()

    def test_what_fails(self):
        """On a node of its own: one message, its status."""
        for fault, status, says in [("create:fail:1+@rank=0", IO, "No space left"), ("read:fail:2@rank=3", IO, "Input/output error"),
                                    ("allocate:fail:1@rank=2", LIMIT, "no memory for an array")]:
            _, err = self.launch("fused.kir", "-o", "r.npy", env={"KASEN_FAULT": fault}, status=status)
            self.assertEqual(err.count("error:"), 1, err)
            self.assertIn(says, err)
            said = self.run_ranks("-o", "r.npy", env={"KASEN_FAULT": fault}, status=status)
            self.assertEqual(len(re.findall(r"(?m)error: .*" + says, said)), 1, said)
        self.run_ranks("-o", "r.npy", "--memory", "1K", status=LIMIT)
        self.nothing_left()

    def test_a_folder_that_one_node_lacks(self):
        """The bundle is not on a file system that all nodes share; or another one is there under its name."""
        (self.dir / "nothing").mkdir()
        (self.dir / "on-beta").write_text('mount --bind "$FOLDER/nothing" "$FOLDER/bundle"\n')
        _, err = self.launch("fused.kir", "-o", "r.npy", status=BAD)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertIn("'bundle' is not a bundle", err)
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 5, "--method", "block", "-o", "other")
        (self.dir / "on-beta").write_text('mount --bind "$FOLDER/other" "$FOLDER/bundle"\n')
        _, err = self.launch("fused.kir", "-o", "r.npy", status=BAD)
        self.assertIn("error: the ranks do not do the same", err)
        self.assertIn("every node has the same files", err)
        self.nothing_left()


class FrozenNode(NodeTest):
    """Waits for a minute."""

    def test_a_node_that_does_not_answer(self):
        """Its ranks and its daemon stand still, and mpirun would wait for it for ever."""
        (self.dir / "hosts").write_text("alpha slots=2\nbeta slots=2\n")
        self.env["OMPI_MCA_orte_default_hostfile"] = str(self.dir / "hosts")
        job = self.start("--timeout", 3, line=[str(TOOLS / "kasen"), "run", "-n", "4"])
        daemon = self.daemons()["beta"]
        frozen = [daemon, self.ranks()[2], self.ranks()[3]]
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, RESUMABLE, out + err)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertIn("rank 0:", err)
        self.assertNotIn("rank 2:", err)
        for process in frozen:
            os.kill(process, signal.SIGCONT)
        self.nothing_left(20)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
