#!/usr/bin/env python3
"""What is said of a run is true: the memory that it needs, the sizes that a plan is for, the strategy that has an effect,
and what to do where something does not go.

Usage: told_runs_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import resource
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import numpy  # noqa: E402
from tools_test import BAD, LIMIT, USAGE, ToolTest  # noqa: E402

NO = 1  # of `verify`
ROWS, COLUMNS = 300_000, 20
DESCENT = """dim N, F local
input X : f64[N, F], y : f64[N]
param steps = 4, rate = 1e-3
w = fill(0.0, F)
for i in 0..steps {
  e = X @ w - y
  w = w - rate / f64(size(N)) * (X' @ e)
}
output w, pred = X @ w
"""


class NeededMemory(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(2)
        numpy.save(self.dir / "X.npy", random.normal(size=(ROWS, COLUMNS)))
        numpy.save(self.dir / "y.npy", random.normal(size=ROWS))
        (self.dir / "p.ks").write_text(DESCENT)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def partition(self, workers):
        self.kasen("partition", "--program", "p.kir", "X=X.npy", "y=y.npy", "--workers", workers, "-o", "b", "--replace")

    def run_in(self, memory, *ranks):
        self.kasen("run", *ranks, "f.kir", "--bundle", "b", "-o", "r.h5", "--force", "--stats", "s.json", "--memory", memory)
        report = json.loads((self.dir / "s.json").read_text())
        read, written = (sum(op.get(f"disk_{way}_bytes", 0) for op in report["operators"]) for way in ("read", "written"))
        held = sum(part[key] for part in report["parts"] for key in part if key.endswith("_bytes") and key not in ("sent_bytes", "received_bytes"))
        return read, written, held

    def test_what_fits_whole_does_not_go_by(self):
        """Whatever the number of workers: all rows are read once, and what is held is within the limit."""
        rows, results = 8 * ROWS * (COLUMNS + 1), 8 * ROWS
        for workers in (1, 2, 3, 4):
            self.partition(workers)
            enough = rows + results + (200 << 10)
            read, written, held = self.run_in(enough)
            self.assertLess(read, rows + 2 * workers * (5 << 20), workers)  # blocks at the ends of parts are read by two workers
            self.assertEqual(written, 0)
            self.assertLessEqual(held, enough)
            read, _, held = self.run_in("36M")
            self.assertGreater(read, 2 * rows)
            self.assertLessEqual(held, 36 << 20)
            self.kasen("measure", "f.kir", "--bundle", "b", "--memory", "36M", "--against", "s.json", "--check")

    def test_the_number_that_is_told_is_enough(self):
        """Of `measure` and of `run`, which say the same; one byte less is not."""
        for workers in (1, 2, 3):
            self.partition(workers)
            told = [int(re.search(r"needs (\d+) bytes", self.fault(*command, "--memory", "1000", status=LIMIT, says="allowed (--memory)"))[1])
                    for command in (["measure", "f.kir", "--bundle", "b"], ["run", "f.kir", "--bundle", "b", "-o", "r.h5"])]
            self.assertEqual(*told)
            least = told[0]
            self.assertLess(least, 36 << 20)
            out, _ = self.kasen("measure", "f.kir", "--bundle", "b", "--memory", least)
            self.assertIn(f"for one process of {workers} worker{'s' if workers > 1 else ''} (the least is {least:,})", out)
            self.run_in(least)
            for command in (["measure", "f.kir", "--bundle", "b"], ["run", "f.kir", "--bundle", "b", "-o", "r.h5", "--force"]):
                self.fault(*command, "--memory", least - 1, status=LIMIT, says=f"needs {least} bytes")
            report = json.loads(self.kasen("measure", "f.kir", "--bundle", "b", "--memory", least, "--format", "json")[0])
            self.assertEqual((report["processes"], report["least_bytes"]), (1, least))

    def test_advice_that_helps(self):
        """More processes on one machine have no more memory than it has."""
        (self.dir / "huge.ks").write_text("dim N local = 2000000000, K local = 1000\nx : f64[N, K] = 1\noutput s = sum(sum(x, over K) / sum(x))\n")
        err = self.fault("go", "huge.ks", status=LIMIT, says="machines like this one, with a worker on each")
        self.assertNotIn("use as many processes", err)
        (self.dir / "s.ks").write_text("dim N local = 1000\nx : f64[N] = 1\noutput x\n")
        err = self.fault("go", "s.ks", "--memory", "10", status=LIMIT, says="allow more (--memory)")
        self.assertNotRegex(err, "some [0-9]+ workers")

    def test_a_limit_on_addresses_is_the_cause(self):
        self.partition(1)
        for kilobytes in (80_000, 90_000, 100_000, 110_000, 130_000):
            limit = kilobytes << 10
            self.fault("run", "f.kir", "--bundle", "b", "-o", "r.h5", "--force", status=LIMIT,
                       says=["kasen-run: error: ", f"the process may have no more than {kilobytes} KiB of addresses (ulimit -v); raise that limit, or"],
                       preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


class ToldPlans(ToolTest):
    def test_sizes_of_another_bundle(self):
        """A plan that was made for other sizes is refused alike by all that take a bundle, and by `verify` beside it."""
        (self.dir / "x.csv").write_text("1,2,3,4\n5,6,7,8\n9,10,11,12\n")
        (self.dir / "p.ks").write_text("dim N, K local\ninput X : f64[N, K]\noutput s = sum(X, over K)\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "X=x.csv", "-o", "b")
        self.kasen("fuse", "p.kir", "--bundle", "b", "-o", "f.kir")
        for dim, size, was, data in (("K local", 5, "K local = 4", 4), ("N", 10, "N", 3)):
            says = f"dimension '{dim[0]}' has {data} indices in the data; the plan was made for {size}; plan again, or partition other data"
            plans = {}
            for name, line in (("p.kir", dim), ("f.kir", was)):
                text = (self.dir / name).read_text()
                plans[name] = re.sub(rf"(?m)^  dim {line}$", f"  dim {dim} = {size}", text)
                self.assertNotEqual(plans[name], text)
                (self.dir / f"other-{name}").write_text(plans[name])
            for command in (["fuse", "other-p.kir"], ["measure", "other-p.kir"], ["measure", "other-f.kir"], ["run", "other-f.kir", "-o", "r.h5"]):
                self.fault(*command, "--bundle", "b", status=BAD, says=says)
            self.fault("verify", "other-f.kir", "b", status=NO, says=says)
            self.kasen("verify", "f.kir", "b")

    def test_a_strategy_without_effect(self):
        (self.dir / "p.ks").write_text("dim N, F local\ninput X : f64[N, F], y : f64[N]\noutput w = lstsq(X, y), c = cumsum(y)\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        out, err = self.kasen("fuse", "p.kir", "--strategy", "greedy", "-o", "f.kir", "--format", "json")
        self.assertIn("note: --strategy greedy has no effect; whatever the strategy, regions hold vector work alone", err)
        self.assertEqual(json.loads(out)["strategy"], "none")
        self.assertIn('planned "strategy=none', (self.dir / "f.kir").read_text())
        for quiet in ([], ["--strategy", "none"], ["--strategy", "auto"]):
            self.assertNotIn("has no effect", self.kasen("fuse", "p.kir", *quiet, "-o", "f.kir")[1])
        self.assertIn("regions hold vector work alone", self.kasen("fuse", "p.kir", "-o", "f.kir", "--explain")[1])

    def test_an_experiment_plans_as_go_does(self):
        (self.dir / "p.ks").write_text("dim N\ninput X : f64[N]\noutput s = sum(X)\n")
        (self.dir / "x.csv").write_text("1\n2\n")
        (self.dir / "e.yaml").write_text("program: p.ks\ndata:\n  X: x.csv\n")
        out, _ = self.kasen("experiment", "e.yaml", "--dry-run")
        self.assertIn(" strategy=auto,", out)

    def test_numbers_and_names_that_are_near(self):
        (self.dir / "p.ks").write_text("dim N\nx : f64[N] = 1\noutput s = sum(x)\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        for size in ("99999999999999999999", "1e16", "1e400"):
            self.fault("measure", "p.kir", "--sizes", f"N={size}", status=USAGE, says=[f"'N={size}' gives no size; it is too large"])
        self.fault("measure", "p.kir", "--sizes", "N=-3", status=USAGE, says="not negative")
        err = self.fault("go", "p.ks", "--times", status=USAGE, says=["unknown option '--times'", "-v", "--trace FILE"])
        self.assertNotIn("did you mean", err)
        self.assertIn("did you mean '--workers'?", self.fault("go", "p.ks", "--wrokers", 2, status=USAGE, says="unknown option"))
        self.assertNotIn("did you mean", self.fault("go", "p.ks", "--tails", status=USAGE, says="unknown option"))


class ToldData(ToolTest):
    def test_edges_of_an_empty_array(self):
        numpy.save(self.dir / "e.npy", numpy.empty((0, 2), "i8"))
        for more in ([], ["--memory", "56M"]):
            self.kasen("partition", "G=e.npy", "-o", "b", "--replace", *more)
            self.assertIn("G [N, N]: 0 entries", self.kasen("partition", "--stats", "b")[0])

    def test_ids_that_are_none(self):
        for kind, value in (("i8", -5), ("u8", 2**63 + 7), ("i8", 2**63 - 1)):
            numpy.save(self.dir / "e.npy", numpy.array([[0, 1], [2, value]], kind))
            for order in ("C", "F"):
                numpy.save(self.dir / "e.npy", numpy.array([[0, 1], [2, value]], kind, order=order))
                self.fault("partition", "G=e.npy", "-o", "b", status=BAD,
                           says=["e.npy", f"element [1, 1] is {value}", "ids are 0 to 2^63 - 2", "from 0 on"])

    def test_integers_that_are_rounded(self):
        (self.dir / "p.ks").write_text("dim N, K local\ninput X : f64[N, K]\noutput X\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        values = numpy.array([[1, 2**53, 2**54], [2**53 + 1, -2**53 - 1, 2**62 + 1]], "i8")
        for kind in ("<i8", ">i8"):
            for order in ("C", "F"):
                numpy.save(self.dir / "x.npy", numpy.array(values, kind, order=order))
                _, err = self.kasen("partition", "--program", "p.kir", "X=x.npy", "-o", "b", "--replace")
                self.assertIn("note: x.npy: 3 integers were rounded to f64, which holds integers up to 2^53 exactly; the first one is "
                              "9007199254740993 in element [1, 0]; to keep them, declare the input i64", err)
        numpy.save(self.dir / "x.npy", values[:1])
        self.assertNotIn("rounded", self.kasen("partition", "--program", "p.kir", "X=x.npy", "-o", "b", "--replace")[1])
        numpy.save(self.dir / "x.npy", numpy.array([[2**24 + 1]], "u4"))
        (self.dir / "p.kir").write_text((self.dir / "p.kir").read_text().replace("f64", "f32"))
        self.assertIn("an integer was rounded to f32", self.kasen("partition", "--program", "p.kir", "X=x.npy", "-o", "b", "--replace")[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
