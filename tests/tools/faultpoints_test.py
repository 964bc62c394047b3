#!/usr/bin/env python3
"""Faults on purpose (docs/faults.md): the N-th write, sync, rename, ... fails, one N after the other until none does.

After each: one message with the file and the reason, the right status, under each name the old file or the new one,
nothing half made, no process, and `kasen verify` says of all that is there that it is right. EveryFault tries every N;
FaultPoints the first, and others drawn.

Usage: faultpoints_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import CONFIG, CREATE, IO, LIMIT, ROOT, TOOLS, ToolTest  # noqa: E402

FILES = ["open", "create", "read", "write", "sync", "rename"]
REASONS = {"open": "Input/output error", "create": "No space left on device", "read": "Input/output error",
           "write": "No space left on device", "sync": "Input/output error", "rename": "No space left on device",
           "allocate": "no memory for an array of"}
STATUS = {"open": {IO}, "create": {IO}, "read": {IO}, "write": {IO}, "sync": {IO}, "rename": {CREATE, IO}, "allocate": {LIMIT}}
PROGRAM = """
dim N
input G : null[N, N]
param turns = 6
degree = G @ fill(1.0, N)
v = fill(1.0, N)
for i in 0..turns {
  v = 0.15 + 0.85 * (G' @ (v / degree)) * cos(f64(i))
}
output v, w = map(v -> (v, 2 * v), v)
"""


def tried(rng, every):
    """Numbers from 1 on, to be drawn from until a run goes well: all, or the first two and then ever fewer."""
    n = 0
    while True:
        n += 1 if every or n < 2 else rng.randint(1, 2 * n)
        yield n


class Faulty(ToolTest):
    every = False

    def setUp(self):
        super().setUp()
        self.rng = random.Random(3)
        (self.dir / "p.ks").write_text(PROGRAM)
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        self.run_line = ["run", "fused.kir", "--bundle", "bundle", "--kernels", "interpreter", "--threads", 1, "--force"]

    def with_fault(self, fault, *args):
        done = subprocess.run([TOOLS / "kasen", *map(str, args)], cwd=self.dir, text=True, timeout=100, capture_output=True,
                              env={**os.environ, "KASEN_FAULT": fault}, check=False)
        return done.returncode, done.stdout, done.stderr

    def contents(self):
        """Of every file but what the checkpoints' folder holds."""
        return {p.relative_to(self.dir).as_posix(): p.read_bytes() for p in self.dir.rglob("*") if p.is_file() and p.name != ".lock"}

    def processes(self):
        found = []
        for p in pathlib.Path("/proc").iterdir():
            try:
                if p.name.isdigit() and os.readlink(p / "cwd") == str(self.dir.resolve()):
                    found.append(p.name)
            except OSError:
                continue
        return found

    def no_process_is_left(self):
        deadline = time.time() + 5
        while self.processes() and time.time() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.processes(), [])

    def half_made(self):
        return [name for name in (p.relative_to(self.dir).as_posix() for p in self.dir.rglob("*")) if ".tmp-" in name]

    def known_to_verify(self, folder):
        """What it looks at in a folder: IR, results in HDF5, counters, bundles, checkpoints."""
        known = []
        for path in folder.iterdir():
            if ".tmp-" in path.name:
                continue
            if path.is_dir():
                known += [path] * (path / "manifest.json").exists()
            elif path.read_bytes()[:4] in (b"kir ", b"\x89HDF") or b'"kasen_run"' in path.read_bytes()[:64]:
                known.append(path)
        return known

    def verified(self, folder, context):
        """All that stands under its name is right, and what does not is named."""
        known = self.known_to_verify(self.dir / folder)
        left = [path.name for path in (self.dir / folder).iterdir() if ".tmp-" in path.name]
        if not any((self.dir / folder).iterdir()):
            return
        done = subprocess.run([TOOLS / "kasen", "verify", folder], cwd=self.dir, capture_output=True, text=True, check=False)
        context = f"{context}\n{done.stdout}\n{done.stderr}"
        self.assertEqual((done.returncode, done.stdout.count(": right (")), (0, len(known)), context)
        self.assertEqual(sorted(re.findall(r"([^/\n]+): not complete", done.stdout)), sorted(left), context)

    def restore(self, before):
        for path in self.dir.glob("*.tmp-*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name in set(self.contents()) - set(before):
            (self.dir / name).unlink()
        for folder in [p for p in self.dir.iterdir() if p.is_dir() and not any(p.iterdir())]:
            folder.rmdir()
        for name, content in before.items():
            path = self.dir / name
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)

    def same(self, name, content, other):
        """Counters hold seconds, which vary from run to run."""
        if not name.endswith("s.json"):
            return content == other
        strip = lambda text: re.sub(rb"\d+(\.\d+)?(e-?\d+)?", b"", text)
        return strip(content) == strip(other)

    def old_or_new(self, old, new, context):
        for name, content in self.contents().items():
            options = [side[name] for side in (old, new) if name in side]
            self.assertTrue(any(self.same(name, content, side) for side in options), f"{context}: {name} is neither old nor new")
        self.assertEqual(set(old) - set(self.contents()), set(), context)
        self.assertEqual(self.half_made(), [], context)
        self.verified(".", context)

    def sweep(self, points, *args, where="", tolerated=False):
        """Every point's N-th fault; `tolerated`: the run may go on with a warning."""
        old = self.contents()
        self.kasen(*args)
        new = self.contents()
        struck = 0
        for point in points:
            for n in tried(self.rng, self.every):
                self.restore(old)
                fault = f"{point}:fail:{n}{where}"
                status, out, err = self.with_fault(fault, *args)
                context = f"{fault} {args}: {status}\n{out[-500:]}\n{err}"
                self.old_or_new(old, new, context)
                if status == 0 and not err.count("warning:"):
                    break
                struck += 1
                self.assertIn(REASONS[point], err, context)
                if status == 0:
                    self.assertTrue(tolerated, context)
                    self.assertEqual((err.count("warning:"), err.count("goes on")), (1, 1), context)
                else:
                    self.assertIn(status, STATUS[point], context)
                    self.assertEqual(err.count("error:"), 1, context)
                    if point != "allocate":
                        self.assertRegex(err, r"'[^']+'|\S+: error|standard output", context)
                if "-n" in args:
                    self.no_process_is_left()
        self.restore(old)
        return struck

    def old_outputs(self, *names):
        """Something that is right, and that nothing here writes: a plan without its history."""
        old = re.sub(r"(?m)^## .*\n", "", (self.dir / "plan.kir").read_text())
        for name in names:
            (self.dir / name).write_text(old)


class FaultPoints(Faulty):
    def test_wrong_faults_are_refused(self):
        for wrong in ["write", "wrote:fail:1", "write:broken:1", "write:fail:0", "write:fail:1@rank=x", "border:fail:1"]:
            status, _, err = self.with_fault(wrong, "plan", "p.ks")
            self.assertEqual(status, CONFIG)
            self.assertEqual(err.count("error:"), 1, err)
            self.assertIn("KASEN_FAULT", err)
            self.assertIn("points are open, create, read, write, sync, rename, allocate, border", err)

    def test_plan_and_fuse(self):
        self.old_outputs("q.kir")
        self.assertGreaterEqual(self.sweep(FILES, "plan", "p.ks", "-o", "q.kir"), 6)
        self.assertGreaterEqual(self.sweep(FILES, "fuse", "plan.kir", "--bundle", "bundle", "-o", "q.kir"), 10)

    def test_partition(self):
        self.assertGreaterEqual(self.sweep(FILES, "partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "b"), 15)
        # In the place of another one, which stays whole until then.
        shutil.copytree(self.dir / "bundle", self.dir / "b")
        self.assertGreaterEqual(self.sweep(["write", "sync", "rename"], "partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3,
                                           "--method", "block", "-o", "b", "--replace"), 6)

    def test_run(self):
        for form, names in [("hdf5", ["r"]), ("csv", ["r", "r-w"]), ("npy", ["r", "r-w.0", "r-w.1", "r-N_ids"])]:
            self.old_outputs(*names)
            points = FILES + ["allocate"] if form == "hdf5" else ["create", "write", "sync", "rename"]
            self.assertGreaterEqual(self.sweep(points, *self.run_line, "--format", form, "-o", "r", "--stats", "s.json"), 8)

    def test_run_over_ranks(self):
        self.old_outputs("r")
        points = ["write", "sync", "rename", "allocate"] if self.every else ["write", "sync"]
        for rank in ["@rank=0", "@rank=1", ""] if self.every else ["@rank=1"]:
            self.sweep(points, *self.run_line, "-n", 2, "-o", "r", "--stats", "s.json", where=rank)

    def test_killed_tools_leave_whole_files_and_what_verify_names(self):
        """Nobody can take away what a killed process leaves under temporary names: verify names it, and the next run goes well."""
        self.old_outputs("q.kir", "r")
        old = self.contents()
        bundle = ["partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "b"]
        for args in [["fuse", "plan.kir", "--bundle", "bundle", "-o", "q.kir"], bundle, [*self.run_line, "-o", "r", "--stats", "s.json"]]:
            self.restore(old)
            self.kasen(*args)
            new = self.contents()
            for point in ["create", "write", "sync", "rename"]:
                for n in tried(self.rng, self.every):
                    self.restore(old)
                    status, _, err = self.with_fault(f"{point}:kill:{n}", *args)
                    if status == 0:
                        break
                    context = f"{point}:kill:{n} {args}: {status}\n{err}"
                    for name, content in self.contents().items():
                        options = [side[name] for side in (old, new) if name in side]
                        self.assertTrue(".tmp-" in name or any(self.same(name, content, side) for side in options), context)
                    self.verified(".", context)
                    if not self.every and n > 1:
                        continue
                    for path in [self.dir / "b"] if (self.dir / "b").exists() else []:
                        shutil.rmtree(path)
                    self.kasen(*args)

    def test_short_and_interrupted_calls_go_on(self):
        self.kasen(*self.run_line, "-o", "whole")
        for fault in ["write:short:1+", "read:short:1+", "write:eintr:1", "write:eintr:4", "read:eintr:2", "read:eintr:9"]:
            for args in [["partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "-o", "b", "-q"], [*self.run_line, "-o", "r"]]:
                status, _, err = self.with_fault(fault, *args)
                self.assertEqual((status, err), (0, ""), fault)
            self.assertEqual((self.dir / "r").read_bytes(), (self.dir / "whole").read_bytes(), fault)
            for part in (self.dir / "b").iterdir():
                self.assertEqual(part.read_bytes(), (self.dir / "bundle" / part.name).read_bytes(), fault)
            shutil.rmtree(self.dir / "b")

    def test_signals_take_what_is_half_made_away(self):
        old = self.contents()
        for args in [["partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "b"], [*self.run_line, "-o", "r", "--stats", "s.json"]]:
            for point in ["write", "sync", "rename"]:
                for n in tried(self.rng, self.every):
                    self.restore(old)
                    status, _, err = self.with_fault(f"{point}:term:{n}", *args)
                    if status == 0:
                        break
                    self.assertEqual((status, self.half_made()), (130, []), (point, n, args, err))

    def test_compiled_kernels_that_cannot_be_kept(self):
        """A cache that cannot be read or written costs time alone, and what is half there is never taken."""
        line = ["run", "fused.kir", "--bundle", "bundle", "--code-cache", self.dir / "cache", "-o", "r"]
        self.kasen(*line)
        want = (self.dir / "r").read_bytes()
        shutil.rmtree(self.dir / "cache")
        opened = 14  # of the plan, the bundle and the result; what follows is the cache's
        for fault in ["write:fail:1+", "write:fail:2", "write:kill:2", "rename:kill:1", f"open:fail:{opened}", "create:fail:1", "rename:fail:1"]:
            self.with_fault(fault, *line)
            self.kasen(*line)
            self.assertEqual((self.dir / "r").read_bytes(), want, fault)
            shutil.rmtree(self.dir / "cache")


class Saving(Faulty):
    """Checkpoints: a fault costs one at most, and wherever a rank is killed, the run goes on to the same bits."""

    def setUp(self):
        super().setUp()
        self.kasen(*self.run_line, "-o", "whole")
        self.want = (self.dir / "whole").read_bytes()
        self.line = [*self.run_line, "-o", "r", "--checkpoint", "saved", "--every", 1]

    def saved(self):
        return sorted(p.name for p in (self.dir / "saved").iterdir() if not p.name.startswith("."))

    def test_a_fault_costs_one_at_most(self):
        for ranks in [[], ["-n", 2]] if self.every else [[]]:
            for point in ["create", "write", "sync", "rename"]:
                for n in tried(self.rng, self.every):
                    shutil.rmtree(self.dir / "saved", ignore_errors=True)
                    fault = f"{point}:fail:{n}" + ("@rank=1" if ranks and point == "write" else "@rank=0")
                    status, out, err = self.with_fault(fault, *self.line, *ranks)
                    context = f"{fault}: {status}\n{out}\n{err}"
                    if status == 0 and not err:
                        break
                    self.assertIn(REASONS[point], err, context)
                    self.assertEqual(err.count("warning:") + err.count("error:"), 1, context)
                    self.assertEqual(self.half_made(), [], context)
                    if (self.dir / "saved").exists():
                        self.verified("saved", context)
                    if status == 0:
                        self.assertIn(len(self.saved()), (2, 3), context)
                        self.assertEqual((self.dir / "r").read_bytes(), self.want, context)

    def test_a_disk_that_stays_full(self):
        status, out, err = self.with_fault("write:fail:1+@rank=0", *self.line)
        self.assertEqual(status, IO, err)  # the result
        self.assertEqual((err.count("goes on"), err.count("error:")), (1, 1), err)  # one for six checkpoints
        self.assertEqual(self.saved(), [])

    def killed_at(self, fault, ranks):
        shutil.rmtree(self.dir / "saved", ignore_errors=True)
        (self.dir / "r").unlink(missing_ok=True)
        status, out, err = self.with_fault(fault, *self.line, *ranks)
        if status == 0:
            return False
        context = f"{fault}: {status}\n{out}\n{err}"
        if ranks:
            self.assertEqual(err.count("error:"), 1, context)
        self.no_process_is_left()
        if (self.dir / "r").exists():
            self.assertEqual((self.dir / "r").read_bytes(), self.want, context)
        if (self.dir / "saved").exists():
            self.verified("saved", context)
        out, err = self.kasen(*self.line, "--resume")
        self.assertEqual((err, (self.dir / "r").read_bytes()), ("", self.want), context)
        self.assertEqual([n for n in self.saved() if ".tmp-" in n], [], context)
        return True

    def test_killed_at_borders_writes_and_renames(self):
        for ranks in [[], ["-n", 2]]:
            if ranks and not self.every:
                self.assertTrue(self.killed_at("border:kill:4@rank=1", ranks))
                self.assertTrue(self.killed_at("sync:kill:5@rank=0", ranks))
                continue
            for point in ["border", "create", "write", "sync", "rename"]:
                for rank in [0, 1] if ranks else [0]:
                    for n in tried(self.rng, self.every):
                        if not self.killed_at(f"{point}:kill:{n}@rank={rank}", ranks):
                            break


class NoMemory(Faulty):
    """The N-th call of `new` or malloc of a tool fails, or all large ones from the N-th on (failing_new.cpp): one message and 69."""

    LIBRARY = TOOLS.parent / "tests" / "tools" / "libfailing-new.so"

    def short_of_memory(self, asked, *args, prefix=(), **env):
        done = subprocess.run([*prefix, TOOLS / f"kasen-{args[0]}", *map(str, args[1:])], cwd=self.dir, text=True, timeout=100, capture_output=True,
                              check=False, env={**os.environ, "LD_PRELOAD": str(self.LIBRARY), **asked, **env})
        return done.returncode, done.stderr

    def lines(self):
        return [["partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "-o", "b"], ["fuse", "plan.kir", "--bundle", "bundle", "-o", "q.kir"],
                ["plan", "p.ks", "-o", "q.kir"], ["measure", "fused.kir", "--bundle", "bundle", "--format", "json", "-o", "m.json", "--force"],
                [*self.run_line, "-o", "r", "--stats", "s.json"]]

    def numbers(self, calls):
        """Of calls, of which a run without a fault makes so many, to fail."""
        if self.every:
            n = 1
            while n <= calls:
                yield n
                n += 1 + max(0, n - 500) // 50
        else:
            yield from [1, *sorted(self.rng.randint(1, calls) for _ in range(8)), calls - self.rng.randint(1, calls // 20)]

    def calls_of(self, *args):
        """About how many calls of malloc a tool makes: the first that can fail without an effect."""
        least, most = 1, 1 << 20
        while most > least * 1.2:
            n = int((least * most) ** 0.5)
            status, _ = self.short_of_memory({"FAILING_MALLOC": f"{n}+"}, *args)
            least, most = (least, n) if status == 0 else (n, most)
        return most

    def one_message(self, status, err, context):
        self.assertEqual((status, err.count("error:")), (LIMIT, 1), context)
        self.assertIn("memory", err, context)
        self.assertNotIn("HDF5-DIAG", err, context)

    def test_one_message_and_whole_files(self):
        self.old_outputs("q.kir", "r")
        (self.dir / "m.json").write_text("old")
        old = self.contents()
        for args in self.lines():
            self.restore(old)
            self.kasen(*args)
            new = self.contents()
            self.restore(old)
            calls = self.calls_of(*args)
            for variable in ["FAILING_MALLOC", "FAILING_NEW"] if self.every else ["FAILING_MALLOC"]:
                for large in ["", "+"]:
                    self.sweep_of(args, variable, large, calls, old, new)
            self.restore(old)

    def sweep_of(self, args, variable, large, calls, old, new):
        struck = 0
        for n in self.numbers(calls):
            self.restore(old)
            status, err = self.short_of_memory({variable: f"{n}{large}"}, *args)
            context = f"{variable} {n}{large} {args}: {status}\n{err}"
            self.old_or_new(old, new, context)
            if status != 0:  # what is not needed may fail, a buffer for names of processors say
                struck += 1
                self.one_message(status, err, context)
        self.assertGreaterEqual(struck, 1, (args, variable, large))

    def test_what_is_right_is_not_called_wrong(self):
        """`verify` without memory says so, whichever process lacks it, and nothing of the files."""
        line = ["verify", "bundle", "fused.kir"]
        numbers = [f"{n}+" for n in ([*range(1, 2500, 25)] if self.every else [2, *(self.rng.randint(600, 1800) for _ in range(6))])]
        for asked in numbers:
            done = subprocess.run([TOOLS / "kasen", *line], cwd=self.dir, text=True, timeout=100, capture_output=True, check=False,
                                  env={**os.environ, "LD_PRELOAD": str(self.LIBRARY), "FAILING_MALLOC": asked})
            if done.returncode != 0:
                self.one_message(done.returncode, done.stderr, f"verify {asked}\n{done.stderr}")
        struck = set()
        for kilobytes in range(40_000, 700_000, 2_000 if self.every else 60_000):
            done = subprocess.run(["bash", "-c", f"ulimit -v {kilobytes}; exec \"$@\"", "bash", TOOLS / "kasen", *line], cwd=self.dir, text=True, timeout=100,
                                  capture_output=True, check=False)
            if done.returncode == 127 or "shared librar" in done.stderr:  # it has not begun
                continue
            struck.add(done.returncode)
            if done.returncode != 0:
                self.one_message(done.returncode, done.stderr, f"ulimit -v {kilobytes}\n{done.stderr}")
        self.assertIn(0, struck)

    def test_ranks(self):
        """One of several. A call of MPI that lacks memory says only that it failed."""
        line = ["run", "-n", 2, "fused.kir", "--bundle", "bundle", "--code-cache", "none", "-o", "r.h5"]
        for n in [int(1.25**k) for k in range(1, 55)] if self.every else [self.rng.randint(1, 20_000) for _ in range(2)]:
            for large in ["", "+"]:
                (self.dir / "r.h5").unlink(missing_ok=True)
                status, err = self.short_of_memory({"FAILING_MALLOC": f"{n}{large}"}, *line, FAILING_RANK="1")
                context = f"rank 1, {n}{large}: {status}\n{err}"
                if status != 0:
                    self.assertEqual((status, err.count("error:")), (IO if "error: MPI_" in err else LIMIT, 1), context)
                    self.assertFalse((self.dir / "r.h5").exists(), context)
                self.assertEqual(self.half_made(), [], context)
                self.no_process_is_left()


def traced():
    """Whether strace may trace here."""
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@unittest.skipUnless(traced(), "strace is not here, or may not trace")
class Injected(Faulty):
    """HDF5's own calls of the system, which strace has fail."""

    def injected(self, calls, error, n, *args):
        log = self.dir / "strace.log"
        done = subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={n}",
                               TOOLS / f"kasen-{args[0]}", *map(str, args[1:])], cwd=self.dir, capture_output=True, text=True, check=False)
        struck = "INJECTED" in log.read_text()
        log.unlink()
        return struck, done.returncode, done.stderr

    def test_hdf5(self):
        old = self.contents()
        lines = [["partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "b"], [*self.run_line, "-o", "r"]]
        for args in lines:
            for calls, error, reason in [("pwrite64", "ENOSPC", "No space left on device"), ("ftruncate", "ENOSPC", "No space left on device"),
                                         ("pread64", "EIO", "Input/output error")]:
                for n in tried(self.rng, self.every):
                    self.restore(old)
                    struck, status, err = self.injected(calls, error, n, *args)
                    if not struck:
                        break
                    if "loading shared libraries" in err:
                        continue
                    context = f"{calls} {n} {args}\n{err}"
                    self.assertIn(status, (CREATE, IO), context)
                    self.assertIn(reason, err, context)
                    self.assertEqual(err.count("error:"), 1, context)
                    self.assertEqual(self.contents(), old, context)
                    self.assertEqual(self.half_made(), [], context)


    def calls_on(self, part, *args):
        """(call, how often its thread had made it by then) of each call on a path with this part."""
        log = self.dir / "strace.log"
        subprocess.run(["strace", "-f", "-y", "-qq", "-s", "4096", "-o", log, TOOLS / f"kasen-{args[0]}", *map(str, args[1:])], cwd=self.dir,
                       capture_output=True, check=True)
        counts, found = {}, []
        for line in log.read_text(errors="replace").splitlines():
            call = re.match(r"(\d+) +(\w+)\(", line)
            if call:
                counts[call.groups()] = counts.get(call.groups(), 0) + 1
                if part in line:
                    found.append((call[2], counts[call.groups()]))
        log.unlink()
        return found

    def test_the_code_cache_is_needed_for_nothing(self):
        """Whichever calls on it fail, also where it is looked at for what is old: the run goes well, to the same bits."""
        line = ["run", "fused.kir", "--bundle", "bundle", "--threads", 1, "-o", "r.h5", "--code-cache"]
        folder = self.dir.resolve() / "code"
        self.kasen(*line, folder)
        want = (self.dir / "r.h5").read_bytes()
        calls = ["mkdir", "openat", "newfstatat", "read", "write", "close", "renameat", "fcntl", "getdents64", "utimensat", "unlinkat"]
        tries = [(kept, path, call) for kept in (False, True) for path in [folder, *folder.iterdir()] for call in calls]
        must = [(False, folder / "llvmcache.timestamp", "close")]
        for kept, path, call in tries if self.every else must + self.rng.sample(tries, 6):
            if not kept:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                os.utime(folder / "llvmcache.timestamp", (1, 1))
            done = subprocess.run(["strace", "-f", "-qq", "-y", "-o", "/dev/null", "-P", path, "-e", f"trace={call}", "-e", f"inject={call}:error=EIO",
                                   TOOLS / "kasen-run", *map(str, line[1:]), folder], cwd=self.dir, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{call} on {path}, kept: {kept}\n{done.stderr}")
            self.assertEqual((self.dir / "r.h5").read_bytes(), want)
            self.kasen(*line, folder)

    def test_what_is_read_again_of_a_result(self):
        """Digests go into a file that is otherwise complete: a disk that cannot be read then is no fault of ours."""
        reads = self.calls_on("/r.h5.tmp", *self.run_line, "-o", self.dir.resolve() / "r.h5")
        reads = [n for call, n in reads if call == "pread64"]
        self.assertGreater(len(reads), 2)
        (self.dir / "r.h5").unlink()
        for n in reads if self.every else self.rng.sample(reads, 2) + reads[-1:]:
            struck, status, err = self.injected("pread64", "EIO", n, *self.run_line, "-o", "r.h5")
            self.assertEqual((struck, status, err.count("error:")), (True, IO, 1), err)
            self.assertEqual(self.files().count("r.h5"), 0, err)


class EveryFault(FaultPoints):
    every = True


class EveryNoMemory(NoMemory):
    every = True


class EverySaving(Saving):
    every = True


class EveryInjected(Injected):
    every = True

    def test_go(self):
        """The whole pipeline: whichever of its tools comes to the N-th fault."""
        graph = ["go", ROOT / "examples" / "pagerank.ks", "G=graph.txt", "--workers", 2, "--code-cache", "none", "--dir", "g"]
        for tool in ["kasen", "kasen-plan", "kasen-partition", "kasen-fuse", "kasen-run", "kasen-measure"]:
            for point in [*FILES, "allocate"]:
                for n in tried(self.rng, True):
                    shutil.rmtree(self.dir / "g", ignore_errors=True)
                    status, out, err = self.with_fault(f"{point}:fail:{n}@tool={tool}", *graph)
                    context = f"{point}:fail:{n} {tool}: {status}\n{out}\n{err}"
                    self.assertEqual(self.half_made(), [], context)
                    if (self.dir / "g").exists():
                        self.verified("g", context)
                    if status == 0:
                        break
                    self.assertIn(status, STATUS[point], context)
                    # Two plans are made side by side: each may come to its fault before the other's ends it.
                    self.assertIn(err.count("error:"), (1, 2) if tool == "kasen-fuse" else (1,), context)
                    self.assertIn(REASONS[point], err, context)
                    self.no_process_is_left()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
