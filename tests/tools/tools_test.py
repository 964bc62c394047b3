#!/usr/bin/env python3
"""The tools end to end, as a user runs them: pipes, files, exit statuses, messages.

Usage: tools_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import FolderTest  # noqa: E402

if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    np.set_printoptions(legacy="1.25")  # `{x!r}` is 3.5, without a type around it
TOOLS = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
PAGERANK = ROOT / "examples" / "pagerank.ks"
COMPILED = tempfile.TemporaryDirectory()  # nothing of the user's own cache
os.environ["XDG_CACHE_HOME"] = COMPILED.name
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # ranks that wait take no processor from the tests beside them
EVERY_PLAN = "KASEN_EVERY_STRATEGY" in os.environ  # the long tests
STRATEGIES = ("none", "greedy", "fuse-all", "fuse-no-redundancy", "cost")
PLANS = [(1, 1), (2, 2), (3, 2), (4, 4)]  # workers and ranks
USAGE, BAD, MISSING, LIMIT, CREATE, IO, CONFIG = 64, 65, 66, 69, 73, 74, 78


def small_graph():
    """A few hundred arcs over ids with gaps, some vertices without out- or in-links."""
    rng = random.Random(5)
    ids = sorted(rng.sample(range(10_000), 60))
    return sorted({(rng.choice(ids[:50]), rng.choice(ids)) for _ in range(300)})


def pagerank(arcs, theta=1e-9, r=0.85):
    """Algorithm 1, written straight down: {id: rank}."""
    ids = sorted({v for arc in arcs for v in arc})
    degree = {v: 0 for v in ids}
    for u, _ in arcs:
        degree[u] += 1
    rank = {v: 1.0 for v in ids}
    change = theta + 1
    while change > theta:
        new = {v: 0.0 for v in ids}
        for u, v in arcs:
            new[v] += rank[u] / degree[u]
        new = {v: (1 - r) + r * s for v, s in new.items()}
        change = sum(abs(rank[v] - new[v]) for v in ids)
        rank = new
    return rank


def plans_of_turn(turn):
    """(workers, ranks, strategy) of plans: each strategy once, on one to four workers, other ones each turn; one of the plans
    on several ranks, which take longest to start. All of them where KASEN_EVERY_STRATEGY is set."""
    if EVERY_PLAN:
        return [(workers, ranks, strategy) for workers, ranks in PLANS for strategy in STRATEGIES]
    plans = sorted((*PLANS[(turn + i) % 4], strategy) for i, strategy in enumerate(STRATEGIES))
    several = [i for i, (_, ranks, _) in enumerate(plans) if ranks > 1]
    chosen = several[turn // 4 % len(several)]
    return [(workers, ranks if i == chosen else 1, strategy) for i, (workers, ranks, strategy) in enumerate(plans)]


class ToolTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.arcs = small_graph()
        (self.dir / "graph.txt").write_text("# a comment\n" + "".join(f"{u}\t{v}\n" for u, v in self.arcs))

    def kasen(self, *args, status=0, stdin=None, input_file=None, env=None, cwd="", **options):
        """Runs `kasen ARGS` in the test's folder; returns (stdout, stderr)."""
        source = {"stdin": input_file} if input_file else {"input": stdin}
        done = subprocess.run([TOOLS / "kasen", *map(str, args)], cwd=self.dir / cwd, text=True, timeout=300, capture_output=True,
                              env={**os.environ, **(env or {})}, check=False, **source, **options)
        self.assertEqual(done.returncode, status, f"kasen {args}\nstdout: {done.stdout[-2000:]}\nstderr: {done.stderr[-4000:]}")
        return done.stdout, done.stderr

    def fault(self, *args, status, says, **options):
        """A fault: this status, one message that says all of `says`."""
        _, err = self.kasen(*args, status=status, **options)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertNotIn("terminate called", err)
        return err

    def with_mpirun(self, script):
        """An environment in which this script is mpirun; `$mpirun` is the real one."""
        folder = self.dir / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "mpirun").write_text(f"#!/bin/sh\nmpirun={shutil.which('mpirun')}\n{script}\n")
        (folder / "mpirun").chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    def wait_for(self, condition):
        deadline = time.time() + 60
        while not condition():
            self.assertLess(time.time(), deadline)
            time.sleep(0.02)

    def plans(self):
        """Those of another turn for each test, and each time that it asks."""
        self.turn = getattr(self, "turn", zlib.crc32(self.id().encode())) + 1
        return plans_of_turn(self.turn)

    @staticmethod
    def over(ranks):
        """The option of run: one rank by itself needs no mpirun."""
        return ["-n", ranks] if ranks > 1 or EVERY_PLAN else []

    def prepare(self, workers=3):
        self.kasen("plan", PAGERANK, "-D", "theta=1e-9", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")

    def files(self):
        return sorted(p.name for p in self.dir.iterdir())

    def check_ranks(self, csv):
        want = pagerank(self.arcs)
        rows = [line.split(",") for line in csv.read_text().splitlines()[1:]]
        self.assertEqual([int(row[0]) for row in rows], sorted(want))
        for vertex, rank in rows:
            self.assertAlmostEqual(float(rank), want[int(vertex)], delta=1e-12 * want[int(vertex)] + 1e-9)


class Pipeline(ToolTest):
    def test_pipe(self):
        """plan | fuse | run through pipes, results by original id."""
        self.prepare()
        plan, _ = self.kasen("plan", PAGERANK, "-D", "theta=1e-9")
        fused, _ = self.kasen("fuse", stdin=plan)
        self.assertTrue(fused.startswith("kir 1 level 3\n## kasen-plan "))
        self.assertTrue(fused.endswith("##end\n"))
        self.kasen("run", "--bundle", "bundle", "-o", "ranks.csv", "--format", "csv", stdin=fused)
        self.check_ranks(self.dir / "ranks.csv")

    def test_same_bits_over_threads_and_ranks(self):
        self.prepare()
        results = []
        for extra in [["--threads", 1], ["--threads", 2], ["-n", 1], ["-n", 2], ["-n", 3]]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "ranks.csv", "--format", "csv", *extra)
            results.append((self.dir / "ranks.csv").read_bytes())
        self.assertEqual(len(set(results)), 1)
        self.check_ranks(self.dir / "ranks.csv")

    def test_method_auto(self):
        """The best of the methods for the program, said on standard error and in the manifest; as if it had been asked for."""
        rng = random.Random(3)
        band = [(i, min(i + d, 3999)) for i in range(4000) for d in range(4)]
        ids = list(range(4000))
        rng.shuffle(ids)
        groups = [(ids[20 * g + a], ids[20 * g + (a + b) % 20]) for g in range(200) for a in range(20) for b in range(1, 6)]
        (self.dir / "m.yaml").write_text("network_bandwidth: 1e8\nnetwork_latency: 1e-9\nloop_latency: 1e-9\n")
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        (self.dir / "often.ks").write_text(pathlib.Path(PAGERANK).read_text().replace("expect 30", "expect 100000"))
        self.kasen("plan", "often.ks", "-o", "often.kir")
        fast = ["--machine", "m.yaml"]  # its messages and loops take no time: the bytes of so small a graph count
        for name, arcs, best, machine in [("band", band, "block", []), ("groups", groups, "ml", fast)]:
            (self.dir / f"{name}.txt").write_text("".join(f"{u}\t{v}\n" for u, v in sorted(set(arcs))))
            plan = "often.kir" if best == "ml" else "plan.kir"
            for program, bundle in [(["--program", plan], "auto"), ([], "plain")]:
                asked = ["partition", *program, f"G={name}.txt", "--workers", 6, "--method", "auto", *machine, "-o", bundle, "--replace"]
                _, err = self.kasen(*asked)
                self.assertRegex(err, rf"note: method: {best} \(auto: {best} sends .* bytes, .*; hybrid-cut sends .* imbalance [0-9.]*; -v tells more\)")
                _, err = self.kasen(*asked, "-v")
                self.assertRegex(err, rf"note: method: {best} \(auto: {best} sends .* bytes, .*; hybrid-cut sends .*network bytes of an iteration")
                self.assertEqual("ml sends" in err, best == "ml", err)
                self.assertEqual("ml not tried: it takes some" in err, best != "ml", err)
                self.assertEqual("no program is given" in err, not program)
                self.assertEqual("predicted time of 1000 iterations" in err, not program)
                manifest = json.loads((self.dir / bundle / "manifest.json").read_text())
                self.assertEqual(manifest["content"]["method"], best)
                self.assertTrue(manifest["told"]["content"]["notes"][0].startswith(f"method: {best} (auto: "))
            if best == "ml":  # a program that is soon done has no time for it
                _, err = self.kasen("partition", "--program", "plan.kir", f"G={name}.txt", "--workers", 6, *machine, "-o", "soon", "-v")
                self.assertRegex(err, r"method: (block|hybrid-cut) \(auto: .*; ml not tried: it takes some 20 ms and saves [0-9.]+ [um]s at most\)")
            self.kasen("partition", "--program", plan, f"G={name}.txt", "--workers", 6, "--method", best, "-o", "asked", "--replace")
            for part in sorted((self.dir / "asked").glob("part-*.h5")):
                self.assertEqual(part.read_bytes(), (self.dir / "auto" / part.name).read_bytes())
            named = [json.loads((self.dir / b / "manifest.json").read_text()) for b in ("asked", "auto")]
            self.assertEqual(*[(m["digest"], m["content"]) for m in named])  # whatever was said of the choice
            self.kasen("fuse", plan, "--bundle", "asked", "-o", "fitted.kir")
            self.kasen("run", "fitted.kir", "--bundle", "auto", "-o", "fitted.h5")
            out, _ = self.kasen("partition", "--stats", "auto")
            self.assertIn(f"method {best}", out)
            self.assertIn(f"note: method: {best} (auto: ", out)
        (self.dir / "go.yaml").write_text(f"program: {PAGERANK}\ndata:\n  G: groups.txt\nworkers: 3\ndir: went\n")
        _, err = self.kasen("go", "--config", "go.yaml")
        self.assertRegex(err, r"note: method: [a-z-]+ \(auto: ")
        self.fault("partition", "band.txt", "--machine", "m.yaml", "--method", "ml", "-o", "b", status=USAGE, says="--method auto")
        self.fault("partition", "band.txt", "--method", "best", "-o", "b", status=USAGE, says=["block", "hybrid-cut", "ml", "auto"])
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        for more in ([], ["--sample", "1"]):
            out, _ = self.kasen("measure", "fused.kir", "--workers", "6", "--data", "G=band.txt", *more)
            self.assertRegex(out, r"\n6 +block +4,000 ")
        self.kasen("measure", "fused.kir", "--workers", "2,4", "--data", "G=band.txt", "--method", "ml")

    def test_same_files_over_ranks(self):
        """Each rank writes its range: values by id, tables with ids as values, rows of a matrix."""
        (self.dir / "p.ks").write_text("dim N\ndim K local = 3\ninput G : null[N, N]\n"
                                       "n : f64[N] = f64(index(N)) * 0.1\nparent : id[N][N] = index(N)\n"
                                       "rows : f64[N, K] = f64(index(N)) + 0.5\ntotal = sum(n)\n"
                                       "output n, parent, rows, total\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "G=graph.txt", "--workers", 4, "-o", "bundle")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        for kind in ["hdf5", "csv", "npy"]:
            contents = []
            usual = {"hdf5": 3, "csv": 2, "npy": 4}[kind]
            for ranks in [[], *(["-n", count] for count in ((1, 2, 3, 4) if EVERY_PLAN else (usual,)))]:
                folder = self.dir / f"{kind}-{len(contents)}"
                folder.mkdir()
                self.kasen("run", "f.kir", "--bundle", "bundle", "-o", folder / "r", "--format", kind, *ranks)
                contents.append({p.name: p.read_bytes() for p in folder.iterdir()})
            self.assertEqual(len(contents[0]), {"hdf5": 1, "csv": 4, "npy": 5}[kind])
            for other in contents[1:]:
                self.assertEqual(other, contents[0])
        ids = sorted({v for arc in self.arcs for v in arc})
        lines = (self.dir / "csv-1" / "r-parent").read_text().splitlines()
        self.assertEqual(lines, ["N,parent", *(f"{v},{v}" for v in ids)])

    def test_interpreter_agrees(self):
        self.prepare()
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "a.csv", "--format", "csv")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "b.csv", "--format", "csv", "--kernels", "interpreter")
        self.assertEqual((self.dir / "a.csv").read_text(), (self.dir / "b.csv").read_text())

    def test_masters_as_given(self):
        """The order of masters is a matter of speed alone; this graph is large enough for another one."""
        self.kasen("generate", "rmat", "--scale", 18, "--edges", 900000, "-o", "g.npy")
        self.kasen("plan", PAGERANK, "-D", "theta=1", "-o", "plan.kir")
        self.kasen("fuse", "--epilogue", "on", "plan.kir", "-o", "fused.kir")
        self.kasen("partition", "--program", "plan.kir", "G=g.npy", "-o", "bundle")
        for order in ["best", "given"]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "--masters", order, "-o", f"{order}.npy", "--format", "npy")
        self.assertEqual((self.dir / "best.npy").read_bytes(), (self.dir / "given.npy").read_bytes())
        self.fault("run", "fused.kir", "--bundle", "bundle", "--masters", "worst", status=USAGE, says="worst")

    def test_names_of_results_that_are_not_given(self):
        """The program's name, or in go the word `result`, and the format's ending."""
        self.prepare()
        for name, ending in [("hdf5", "h5"), ("csv", "csv"), ("npy", "npy")]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "--format", name)
            self.assertTrue((self.dir / f"pagerank.{ending}").exists(), name)
            self.kasen("go", PAGERANK, "G=graph.txt", "--dir", "all", "-D", "theta=1e-3", "--format", name)
            self.assertTrue((self.dir / "all" / f"result.{ending}").exists(), name)
            self.assertIn("hdf5, csv, npy, mtx or npz", self.kasen("run", "--help")[0])

    def test_go(self):
        out, err = self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "-n", 2, "--dir", "all", "-D", "theta=1e-9",
                              "--format", "csv")
        self.check_ranks(self.dir / "all" / "result.csv")
        for name in ["plan.kir", "fused.kir", "report.txt", "run.json", "bundle"]:
            self.assertTrue((self.dir / "all" / name).exists(), name)
        self.assertIn("iterations", out)
        self.assertRegex(out, r"pool: 5 buffers of [1-9][0-9,]* bytes, at most [1-9][0-9,]* on a worker; "
                              r"allocations after a loop's first iteration: 0\n")
        steps = [line.split()[0] for line in err.splitlines() if line]
        # The run, which verifies its result, and the description of the plan go side by side.
        self.assertIn("kasen-run:", steps)
        self.assertEqual([s for s in steps if s not in ("partition", "kasen-partition:", "kasen-run:")], ["plan", "fuse", "measure", "picture", "page"])
        self.assertIn("product_epilogue", (self.dir / "all" / "fused.kir").read_text())
        _, err = self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "-n", 2, "--dir", "all", "-D", "theta=1e-9",
                            "--format", "csv")
        self.assertIn("as it was", err)

    def test_go_finds_slips_before_it_partitions(self):
        for wrong, status, says in [(["--param", "thetta=1"], USAGE, "theta"), (["--param", "theta=x"], USAGE, "x"),
                                    (["--threads", "-1"], USAGE, "threads"), (["--theta", "-1"], USAGE, "theta"),
                                    (["-o", "no/such/r.h5"], CREATE, "no/such"),
                                    (["--trace", "no/such/t.json"], CREATE, "no/such")]:
            self.fault("go", PAGERANK, "G=graph.txt", "--dir", "early", *wrong, status=status, says=says)
            self.assertFalse((self.dir / "early" / "bundle").exists(), wrong)

    def test_go_finds_wrong_words_before_anything_is_done(self):
        for option in ["method", "sync", "strategy", "epilogue", "kernels", "repeats", "format"]:
            self.fault("go", PAGERANK, "G=graph.txt", "--dir", "early", f"--{option}", "odd", status=USAGE, says="odd")
        for wrong in [["--workers", "0"], ["--workers", "2", "-n", "3"], ["--top", "-1"]]:
            self.fault("go", PAGERANK, "G=graph.txt", "--dir", "early", *wrong, status=USAGE, says=wrong[-1])
        (self.dir / "odd.yaml").write_text("method: odd\n")
        self.fault("go", PAGERANK, "G=graph.txt", "--dir", "early", "--config", "odd.yaml", status=CONFIG, says="odd")
        self.assertFalse((self.dir / "early").exists())

    def test_go_draws_large_plans_without_graphviz(self):
        rng = random.Random(7)
        rows = "".join(f"{rng.random():.6f},{rng.random():.6f}\n" for _ in range(200))
        (self.dir / "points.csv").write_text(rows)
        _, err = self.kasen("go", ROOT / "examples" / "kmeans.ks", "X=points.csv", "-D", "k=20", "-D", "d=2", "-D", "turns=2",
                            "--kernels", "interpreter", "--dir", "all")
        self.assertIn("all/plan.svg", err)
        self.assertTrue((self.dir / "all" / "plan.dot").exists())
        self.assertIn(">kmeans, from ", (self.dir / "all" / "plan.svg").read_text())

    def test_go_hands_on_epilogue_and_trace(self):
        for choice, found in [("on", True), ("off", False)]:
            self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", choice, "-D", "theta=1e-9", "--format", "csv",
                       "--epilogue", choice, "--trace", f"{choice}.json")
            self.check_ranks(self.dir / choice / "result.csv")
            self.assertEqual("product_epilogue" in (self.dir / choice / "fused.kir").read_text(), found)
            self.assertIn("traceEvents", json.loads((self.dir / f"{choice}.json").read_text()))

    def test_predicted_equals_counted(self):
        self.prepare()
        for ranks in [[], ["-n", 2]]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", *ranks)
            self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check")
        report = json.loads((self.dir / "run.json").read_text())
        text = (self.dir / "run.json").read_text()
        self.assertTrue(report)
        # A run that sent one byte more is noticed.
        worker_bytes = report["traffic"]["worker_bytes"]
        (self.dir / "wrong.json").write_text(text.replace(f'"worker_bytes": {worker_bytes}', f'"worker_bytes": {worker_bytes + 1}'))
        self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "wrong.json", "--check", status=1)

    def test_measure_without_a_bundle(self):
        plan, _ = self.kasen("plan", ROOT / "examples" / "pagerank-i32.ks")
        fused, _ = self.kasen("fuse", stdin=plan)
        out, _ = self.kasen("measure", "--model", stdin=fused)
        self.assertIn("20 N + 24 nnz", out)
        self.assertIn("16 N + 8 nnz", out)

    def test_same_input_same_bytes(self):
        self.prepare()
        first = (self.dir / "fused.kir").read_bytes()
        manifest = (self.dir / "bundle" / "manifest.json").read_bytes()
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "--replace", "-o", "bundle")
        self.assertEqual((self.dir / "fused.kir").read_bytes(), first)
        self.assertEqual((self.dir / "bundle" / "manifest.json").read_bytes(), manifest)

    def test_generated_graphs(self):
        self.kasen("generate", "rmat", "--scale", 8, "--edges", 900, "-o", "g.npy")
        self.kasen("generate", "rmat", "--scale", 8, "--edges", 900, "-o", "g.txt")
        for name in ["npy", "txt"]:
            self.kasen("partition", f"g.{name}", "--workers", 2, "-o", name)
        for part in ["part-0000.h5", "part-0001.h5"]:
            self.assertEqual((self.dir / "npy" / part).read_bytes(), (self.dir / "txt" / part).read_bytes())
        self.kasen("generate", "star", "--scale", 2, "-o", "star.txt")
        self.assertEqual((self.dir / "star.txt").read_text(), "0\t1\n0\t2\n0\t3\n1\t0\n2\t0\n3\t0\n")
        self.kasen("generate", "grid", "--scale", 2, "-o", "grid.txt")
        self.assertEqual((self.dir / "grid.txt").read_text(), "0\t1\n0\t2\n1\t0\n1\t3\n2\t0\n2\t3\n3\t1\n3\t2\n")
        for kind in ["uniform", "small-world", "communities"]:
            self.kasen("generate", kind, "--scale", 8, "--edges", 2048, "--rewired", 0, "--leaving", 0, "-o", f"{kind}.txt")
            self.kasen("partition", f"{kind}.txt", "-o", kind)
        for wrong, says in [([], "kind of graph"), (["ring", "-o", "x"], "'ring'"), (["rmat"], "no output file"),
                            (["rmat", "--scale", 40, "-o", "x"], "scale 40"), (["rmat", "--a", 2, "-o", "x"], "probabilities")]:
            self.fault("generate", *wrong, status=USAGE, says=says)
        self.assertFalse((self.dir / "x").exists())

    def test_every_tool_has_help_and_version(self):
        for tool in ["plan", "partition", "fuse", "run", "measure", "go", "verify", "generate"]:
            out, _ = self.kasen(tool, "--help")
            self.assertIn("Example:", out)
            self.assertIn("Usage:", out)
            out, _ = self.kasen(tool, "--version")
            self.assertRegex(out, r"^kasen[- ]\w+ \d+\.\d+\.\d+\n$")
        out, _ = self.kasen("--version")
        self.assertRegex(out, r"^kasen \d+\.\d+\.\d+\nsources +[0-9a-f]{12}\n")
        for library in ["compiler", "mpi", "hdf5", "llvm"]:
            self.assertRegex(out, rf"\n{library} +.*\d\.\d")

    def test_a_filter_at_a_terminal_shows_its_help(self):
        terminal, slave = pty.openpty()
        try:
            for tool in ["plan", "fuse", "measure", "run"]:
                done = subprocess.run([TOOLS / "kasen", tool], stdin=slave, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn("Example:", done.stdout)
        finally:
            os.close(terminal)
            os.close(slave)


class Compiled(ToolTest):
    """The cache of compiled kernels, as the user meets it."""

    @staticmethod
    def code(folder):
        return [path for path in folder.iterdir() if path.suffix != ".timestamp"]

    def run_with(self, *args, **options):
        self.kasen("run", "fused.kir", "--bundle", "bundle", "--format", "csv", "-o", "r.csv", *args, **options)
        return (self.dir / "r.csv").read_bytes()

    def test_kernels_are_kept_for_the_next_run(self):
        self.prepare()
        none = self.run_with("--code-cache", "none", env={"XDG_CACHE_HOME": str(self.dir / "xdg")})
        self.assertFalse((self.dir / "xdg").exists())
        self.assertEqual(self.run_with(env={"XDG_CACHE_HOME": str(self.dir / "xdg")}), none)
        kept = self.code(self.dir / "xdg" / "kasen")
        self.assertEqual([oct(path.stat().st_mode & 0o777) for path in kept], ["0o600"] * len(kept))
        self.assertGreater(len(kept), 0)
        self.assertEqual(self.run_with("--code-cache", "code"), none)
        before = {path.name: path.stat().st_ino for path in self.code(self.dir / "code")}
        self.assertEqual(self.run_with("--code-cache", "code"), none)
        after = {path.name: path.stat().st_ino for path in self.code(self.dir / "code")}
        self.assertEqual(before, after)

    def test_every_level_gives_the_same_bits(self):
        """A level that this processor lacks is an error; its code can be written all the same."""
        self.prepare()
        (self.dir / "curve.ks").write_text("dim N\ninput x : f64[N]\ny = tanh(x) ^ 2 + sin(x)\noutput y\n")
        want = self.run_with("--code-cache", "code", "--stats", "native.json")
        ran = 0
        for level in ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"]:
            line = ["run", "fused.kir", "--bundle", "bundle", "--format", "csv", "-o", "r.csv", "--target", level]
            done = subprocess.run([TOOLS / "kasen", *line, "--code-cache", "code", "--stats", f"{level}.json"], cwd=self.dir, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                ran += 1
                self.assertEqual((self.dir / "r.csv").read_bytes(), want)
                self.assertIn(f"{level} by --target, " if level != "aarch64" else "generic by --target, ",
                              json.loads((self.dir / f"{level}.json").read_text())["processor"])
                continue
            self.assertEqual(done.returncode, 64, done.stderr)
            for word in [f"--target {level}: this processor cannot run such code; it lacks ", "leave --target out"]:
                self.assertIn(word, done.stderr)
            self.fault("go", "curve.ks", "x=x.csv", "--target", level, status=64, says=f"--target {level}")
        self.assertGreater(ran, 0)
        for level, machine in [("x86-64-v2", 62), ("aarch64", 183)]:
            self.kasen("run", "fused.kir", "--target", level, "--emit-kernels", "k.o")
            self.kasen("run", "fused.kir", "--target", level, "--emit-kernels", "k.s")
            code = (self.dir / "k.o").read_bytes()
            self.assertEqual((code[:4], code[18]), (b"\x7fELF", machine))
            self.assertIn(".text", (self.dir / "k.s").read_text())

    def loaded(self, *args):
        """The libraries that a run loads."""
        env = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(self.dir / "loaded")}
        self.run_with(*args, env=env)
        texts = [path for path in self.dir.iterdir() if path.name.startswith("loaded.")]
        text = "".join(path.read_text(errors="replace") for path in texts)
        for path in texts:
            path.unlink()
        self.assertTrue("libhwloc" in text)  # so it was written down
        return text

    def test_the_compiler_is_loaded_only_where_something_is_compiled(self):
        self.prepare()
        first = self.loaded("--code-cache", "code")
        self.assertTrue("kasen-compiler.so" in first and "libLLVM" in first)
        self.assertFalse("libLLVM" in self.loaded("--code-cache", "code"))
        self.assertFalse("libLLVM" in self.loaded("--kernels", "interpreter"))

    def test_a_compiler_that_is_not_there(self):
        """Said with what to do about it; what needs none goes on."""
        self.prepare()
        want = self.run_with("--code-cache", "code")
        alone = self.dir / "alone"
        alone.mkdir()
        shutil.copy(TOOLS / "kasen-run", alone)
        line = [alone / "kasen-run", "fused.kir", "--bundle", "bundle", "--format", "csv", "-o", "r.csv", "--code-cache"]
        for module, says in [(None, "it is neither beside the program nor in lib"), (b"", "file too short"),
                             ((TOOLS / "kasen-loopback.so").read_bytes(), "of another version of Kasen; install Kasen anew")]:
            if module is not None:
                (alone / "kasen-compiler.so").write_bytes(module)
            done = subprocess.run([*line, "none"], cwd=self.dir, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, MISSING, done.stderr)
            self.assertIn("cannot load the compiler of kernels, 'kasen-compiler.so'", done.stderr)
            self.assertIn(says, done.stderr)
            self.assertIn("or run with --kernels=interpreter", done.stderr)
            done = subprocess.run([*line, "code"], cwd=self.dir, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, (self.dir / "r.csv").read_bytes()), (0, want), done.stderr)

    def test_what_others_could_have_written_is_not_taken(self):
        self.prepare()
        want = self.run_with("--code-cache", "code")
        for path in self.code(self.dir / "code"):
            path.write_bytes(b"\0" * path.stat().st_size)
        self.assertEqual(self.run_with("--code-cache", "code"), want)
        self.assertEqual(self.run_with("--code-cache", "fused.kir/code"), want)  # cannot be made: as if it were none
        open_to_all = self.dir / "open"
        open_to_all.mkdir()
        open_to_all.chmod(0o777)
        self.assertEqual(self.run_with("--code-cache", "open"), want)
        self.assertEqual(list(open_to_all.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
