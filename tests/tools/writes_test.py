#!/usr/bin/env python3
"""What the tools write, as the system sees it: their named outputs, the temporary names of these, and little else.

Usage: writes_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import COMPILED, PAGERANK, TOOLS, ToolTest  # noqa: E402

CALLS = ("open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,"
         "truncate,mknod,mknodat,chmod,fchmodat,chown,fchownat")
CALL = re.compile(r"^\d+ +(\w+)\((.*)\) = (-?\d+)(?:<(.*)>)?$")
TEXT = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')


def traces():
    """Whether this system has strace and lets it trace."""
    return shutil.which("strace") and subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


def changed(trace, cwd):
    """Every path that was opened for writing, made, renamed or removed."""
    paths, halves = set(), {}
    for line in trace.splitlines():
        process = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            halves[process] = line[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"^\d+ +<\.\.\. \w+ resumed>(.*)$", line)
        if resumed:
            line = halves.pop(process, "") + resumed[1]
        call = CALL.match(line)
        if not call or int(call[3]) < 0:
            continue
        name, arguments, _, file = call.groups()
        if name in ("open", "openat"):
            if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments):
                paths.add(file.removesuffix(" (deleted)").removesuffix("(deleted)") if file else arguments)
            continue
        for folder, path in TEXT.findall(arguments):
            paths.add(os.path.normpath(os.path.join(folder or cwd, path)))
    return paths


@unittest.skipUnless(traces(), "strace is not installed, or may not trace here")
class Writes(ToolTest):
    def setUp(self):
        super().setUp()
        self.dir = self.dir.resolve()
        for name in ("tmp", "home", "cwd"):
            (self.dir / name).mkdir()

    def traced(self, *args, outputs=(), more=(), stdin=None):
        """Runs `kasen ARGS`; what it changed lies among `outputs` or matches one of `more`."""
        log = self.dir / "trace"
        env = {**os.environ, "HOME": str(self.dir / "home"), "TMPDIR": str(self.dir / "tmp")}
        done = subprocess.run(["strace", "-f", "-qq", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", log, TOOLS / "kasen", *map(str, args)],
                              cwd=self.dir, text=True, capture_output=True, timeout=300, check=False, input=stdin, env=env)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        names = [re.escape(str(self.dir / name)) for name in outputs]
        allowed = re.compile("|".join([*(rf"{n}(\.tmp-[0-9a-v]{{12}})?(/.*)?" for n in names), r"/dev/(null|tty|ptmx|pts/\d+|shm/.*)", r"(pipe|socket|anon_inode):.*",
                                       rf"{re.escape(os.path.realpath(COMPILED.name))}(/kasen(/.*)?)?", *more]))
        paths = changed(log.read_text(), str(self.dir))
        strange = sorted(p for p in paths if not allowed.fullmatch(p))
        self.assertEqual(strange, [], f"kasen {args}")
        for name in outputs:
            self.assertTrue(any(p == str(self.dir / name) or p.startswith((f"{self.dir / name}.tmp-", f"{self.dir / name}/")) for p in paths),
                            f"the trace does not show that {name} was written")
        self.assertEqual(list((self.dir / "home").iterdir()), [])
        return done.stdout

    # Open MPI's own: its session's folder lies in one of ours, as does its shared memory (/dev/shm, above).
    def of_ranks(self):
        return [re.escape(str(self.dir / "tmp")) + r"/kasen-job-\w{6}(/.*)?"]

    def test_every_tool(self):
        plan = self.traced("plan", PAGERANK, "-D", "theta=1e-9")
        (self.dir / "plan.kir").write_text(plan)
        self.traced("plan", PAGERANK, "-o", "other.kir", outputs=["other.kir"])
        for method in ("hybrid-cut", "ml", "auto"):
            self.traced("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "--method", method, "--replace", "-o", "bundle",
                        outputs=["bundle"])
        self.traced("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir", outputs=["fused.kir"])
        self.traced("measure", "fused.kir", "--bundle", "bundle", "--format", "json")
        self.traced("measure", "fused.kir", "--bundle", "bundle", "-o", "report.txt", outputs=["report.txt"])
        self.traced("verify", "bundle", "plan.kir", "fused.kir")

    def test_runs(self):
        self.prepare()
        run = ["run", "fused.kir", "--bundle", "bundle", "-o"]
        self.traced(*run, "a.h5", "--stats", "s.json", "--trace", "t.json", outputs=["a.h5", "s.json", "t.json"])
        self.traced(*run, "a.csv", "--format", "csv", outputs=["a.csv"])
        self.traced(*run, "a.npy", "--format", "npy", outputs=["a.npy"], more=[re.escape(str(self.dir)) + r"/a-N_ids\.npy(\.tmp-[0-9a-v]{12})?"])
        self.traced(*run, "b.h5", "--checkpoint", "saved", "--every", 5, outputs=["b.h5", "saved"])
        self.traced(*run, "b.h5", "--checkpoint", "saved", "--resume", outputs=["b.h5", "saved"])

    def test_ranks(self):
        self.prepare()
        self.traced("run", "-n", 2, "fused.kir", "--bundle", "bundle", "-o", "a.h5", "--checkpoint", "saved", "--every", 20, outputs=["a.h5", "saved"],
                    more=self.of_ranks())
        self.traced("run", "-n", 2, "--bundle", "bundle", "-o", "b.h5", outputs=["b.h5"], more=self.of_ranks(),
                    stdin=(self.dir / "fused.kir").read_text())
        self.assertEqual([p.name for p in (self.dir / "tmp").glob("kasen*")], [])

    def test_the_whole_pipeline(self):
        self.traced("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", "all", outputs=["all"])
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])


class Places(ToolTest):
    """Folders that a user may lack."""

    def test_a_home_that_is_not_there(self):
        """Is not made."""
        self.prepare()
        home = self.dir / "no" / "home"
        env = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        for ranks in [[], ["-n", "1"]]:
            done = subprocess.run([TOOLS / "kasen", "run", *ranks, "fused.kir", "--bundle", "bundle", "-o", "r.npy"], cwd=self.dir, capture_output=True,
                                  text=True, env={**env, "HOME": str(home)}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse((self.dir / "no").exists())

    def test_without_a_home(self):
        self.prepare()
        run = ["run", "fused.kir", "--bundle", "bundle", "--format", "csv", "-o"]
        gone = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        for number, env in enumerate([gone, {**gone, "HOME": ""}, {**gone, "HOME": "/proc"}, {**gone, "HOME": "/dev/null"},
                                      {**gone, "XDG_CACHE_HOME": "/proc/1"}, {**gone, "HOME": "relative"}]):
            done = subprocess.run([TOOLS / "kasen", *run, f"r{number}.csv"], cwd=self.dir, env=env, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_ranks(self.dir / f"r{number}.csv")
        self.assertEqual([f for f in self.files() if f in ("relative", ".cache")], [])

    def test_without_a_place_for_temporary_files(self):
        self.prepare()
        before = self.files()
        for place in ("/proc", "/dev/null", str(self.dir / "none")):
            env = {"TMPDIR": place}
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", env=env)
        self.assertEqual(self.files(), sorted([*before, "r.h5"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
