#!/usr/bin/env python3
"""Times that are predicted, and other numbers of workers.

Usage: times_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import re
import sys
import unittest
from unittest import mock

import h5py

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import CONFIG, MISSING, PAGERANK, ROOT, USAGE, ToolTest  # noqa: E402


class Times(ToolTest):
    profile = None
    MACHINE = "memory_bandwidth: 2e9\nnetwork_bandwidth: 1e8\nnetwork_latency: 1e-3\n"
    SIZES = "N=1000000,S=500000,nnz=8000000,P=4"
    COMPUTE = ["plain_operation", "compound_operation", "division", "exp", "log", "erf", "tanh", "sine", "power", "dense_term", "near_entry", "middle_entry", "far_entry", "loop_latency"]
    CHOICES = {choice: (first, second) for choice, first, second in
               re.findall(r'^CHOICE\((\w+), (\w+), "[^"]*",\s*(\w+), ', (ROOT / "libcore/kernels/choices.def").read_text(), re.MULTILINE)}

    def test_bytes_over_bandwidths(self):
        self.prepare()
        (self.dir / "m.yaml").write_text(self.MACHINE + "".join(f"{key}: 0\n" for key in self.COMPUTE))
        out, _ = self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--machine", "m.yaml")
        turn = json.loads(self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--format", "json")[0])["loops"][0]["actual"]
        reads = 8 * 8000000  # of the product's vector: priced by entry, here with nothing
        memory = (turn["read_bytes"]["value"] + turn["written_bytes"]["value"] - reads) / 4 / 2e9
        network = turn["network_bytes"]["value"] / 4 / 1e8
        messages = (2 + 2 * 2) * 1e-3  # gather and scatter; both of the shared change in log2(4) rounds
        found = re.search(r"an iteration of the while at line 10: ([0-9.]+) ms \(memory ([0-9.]+) ms, computing beyond that 0 us, network ([0-9.]+) ms, messages ([0-9.]+) ms; ([0-9.]+) ms of these hidden behind work\)", out)
        self.assertIsNotNone(found, out)
        # The gather travels while the product runs the rows of owned elements: 2 of 3. It reads entries, pointers, writes.
        hidden = (4 * 8e6 + 8 * 1.5e6 + 8 * 1.5e6) / 4 / 2e9 * 1e6 / 1.5e6
        for text, seconds in zip(found.groups(), [memory + network + messages - hidden, memory, network, messages, hidden]):
            self.assertAlmostEqual(float(text), seconds * 1e3, delta=0.006 * seconds * 1e3)
        out, _ = self.kasen("measure", "fused.kir", "--machine", "m.yaml")
        self.assertIn("whole program: not known", out)

    def test_computing(self):
        """A product's entries take longer than their bytes; a file with the old keys alone stands for the built-in rest."""
        self.prepare()
        for text, least, most in [(self.MACHINE + "near_entry: 50e-9\nfar_entry: 50e-9\n", 8e6 / 4 * 50e-9, 2 * 8e6 / 4 * 50e-9), (self.MACHINE, 0, 8e6 / 4 * 50e-9)]:
            (self.dir / "m.yaml").write_text(text)
            out, _ = self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--machine", "m.yaml")
            total = float(re.search(r"an iteration of the while at line 10: ([0-9.]+) ms", out).group(1)) / 1e3
            self.assertTrue(least < total < most, out)

    def test_against_what_was_measured(self):
        self.prepare()
        (self.dir / "m.yaml").write_text(self.MACHINE)
        for ranks in [[], ["-n", 2]]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", *ranks)
            out, _ = self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check", "--machine", "m.yaml")
            self.assertRegex(out, r"time of an iteration of the while at line 10: predicted [0-9.]+ [um]?s, measured [0-9.]+ [um]?s \([+-][0-9]+ %\)")

    def calibrated(self):
        """The profile of this machine, made once."""
        if Times.profile is None:
            self.kasen("measure", "--calibrate", "-o", "m.yaml")
            Times.profile = (self.dir / "m.yaml").read_text()
        (self.dir / "m.yaml").write_text(Times.profile)

    def test_calibrate(self):
        self.calibrated()
        lines = (self.dir / "m.yaml").read_text().splitlines()
        keys = dict(line.split("  #")[0].split(": ") for line in lines if not line.startswith("#"))
        trials = [key for ways in self.CHOICES.values() for key in ways]
        self.assertEqual(sorted(keys), sorted(self.COMPUTE + trials + ["processor", "build", "memory_bandwidth", "write_bandwidth", "row_bandwidth", "narrow_row_bandwidth", "fresh_bandwidth", "cache_bytes", "cache_bandwidth", "threads", "disk_read_bandwidth", "disk_write_bandwidth", "network_bandwidth", "network_latency"]))
        self.assertTrue(all(1e-13 < float(keys[key]) < 1e-3 for key in self.COMPUTE), keys)
        self.assertGreater(float(keys["exp"]), float(keys["plain_operation"]))
        self.assertEqual(int(keys["threads"]), len(os.sched_getaffinity(0)))
        self.assertTrue(all(1e8 < float(keys[key]) < 1e13 for key in ["memory_bandwidth", "fresh_bandwidth"]), keys)
        self.assertTrue(all(1e6 < float(keys[f"{name}_bandwidth"]) < 1e13 for name in ("network", "disk_read", "disk_write")), keys)
        self.assertTrue(0 < float(keys["network_latency"]) < 1, keys)
        self.assertTrue(all(0 <= float(keys[key]) < 1e-5 for key in trials), keys)
        self.assertGreater(float(keys["streamed_store"]), 0)
        self.assertEqual((float(keys["with_rows"]), float(keys["behind_rows"])), (0, 0))  # a run's own data decide
        self.assertRegex(keys["processor"], r'^"[^"]+, [0-9]+-bit vectors"$')
        self.assertRegex(keys["build"], r'^"[0-9a-f]{64}"$')
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "--sync", "auto", "--machine", "m.yaml", "-o", "auto.kir")
        self.assertEqual(self.files(), ["auto.kir", "graph.txt", "m.yaml", "plan.kir"])

    def choices_of_run(self, *options, **env):
        """What a run chose, {choice: (way, by whom)}; the bits of its result; what it told."""
        with mock.patch.dict(os.environ, env):
            _, told = self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", "--stats", "run.json", "--code-cache", "none", *options)
        choices = json.loads((self.dir / "run.json").read_text())["choices"]
        return {made["choice"]: (made["way"], made["by"]) for made in choices}, (self.dir / "r.npy").read_bytes(), told

    def test_a_profile_for_all_tools(self):
        """KASEN_PROFILE stands for --machine; kernels choose by its trials if it is of their processor and build; results keep their bits."""
        self.prepare()
        self.calibrated()
        lines = (self.dir / "m.yaml").read_text().splitlines(keepends=True)
        origin = {key: next(line for line in lines if line.startswith(key + ": ")) for key in ("processor", "build")}
        own, bits, told = self.choices_of_run()
        self.assertEqual((set(own), told), (set(self.CHOICES), ""))

        def profile(name, first, second, **origins):
            trials = "".join(f"{ways[0]}: {first}\n{ways[1]}: {second}\n" for ways in self.CHOICES.values())
            (self.dir / name).write_text("".join({**origin, **origins}.values()) + self.MACHINE + trials)
            return name

        profile("m.yaml", 9e-9, 1e-9)
        by_profile = {choice: (way, "profile") for choice, (way, _) in self.choices_of_run("--machine", "m.yaml")[0].items()}
        for options, env in [((), {"KASEN_PROFILE": "m.yaml"}), (("--machine", "m.yaml"), {"KASEN_PROFILE": "missing.yaml"}), (("-n", 2), {"KASEN_PROFILE": "m.yaml"})]:
            self.assertEqual(self.choices_of_run(*options, **env), (by_profile, bits, ""))
        fast, fast_bits, _ = self.choices_of_run("--machine", profile("fast.yaml", 1e-9, 9e-9))
        self.assertEqual(fast_bits, bits)
        self.assertTrue(all(fast[choice][0] != by_profile[choice][0] for choice in self.CHOICES), (fast, by_profile))
        others = [("other.yaml", {"processor": 'processor: "z80, 8-bit vectors"\n'}, "they are of z80, 8-bit vectors"),
                  ("old.yaml", {"build": 'build: "0"\n'}, "another build"), ("none.yaml", {"build": ""}, "another build")]
        for name, origins, why in others:
            chosen, other_bits, told = self.choices_of_run("--machine", profile(name, 9e-9, 1e-9, **origins))
            self.assertEqual(({by for _, by in chosen.values()} - {"trial", "default"}, other_bits), (set(), bits))
            self.assertIn(f"kasen-run: warning: the trials in the machine profile are not used: {why}", told)
        (self.dir / "rates.yaml").write_text("".join(origin.values()) + self.MACHINE)  # without trials
        self.assertEqual(self.choices_of_run("--machine", "rates.yaml")[2], "")
        (self.dir / "damaged.yaml").write_text("".join(origin.values()) + self.MACHINE + "gather: -1\n")
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", "--machine", "damaged.yaml", status=CONFIG, says=["damaged.yaml:6", "'gather' is -1"])
        with mock.patch.dict(os.environ, KASEN_PROFILE="m.yaml"):
            out, _ = self.kasen("measure", "fused.kir", "--sizes", self.SIZES)
            self.assertEqual(out, self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--machine", "m.yaml")[0])
            self.assertIn("an iteration of the while", out)
            self.kasen("measure", "fused.kir", "--format", "json", "-o", "m.json")
            self.kasen("measure", "fused.kir", "--format", "html", "-o", "m.html")
        with mock.patch.dict(os.environ, KASEN_PROFILE="missing.yaml"):
            self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", status=MISSING, says="missing.yaml")

    def test_what_does_not_go_together(self):
        (self.dir / "m.yaml").write_text(self.MACHINE)
        plan, _ = self.kasen("plan", PAGERANK)
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.fault("measure", "plan.kir", "--calibrate", status=USAGE, says="--calibrate")
        self.fault("measure", "--calibrate", "--machine", "m.yaml", status=USAGE, says=["--calibrate", "'machine'"])
        self.fault("measure", "--against", "-", stdin=plan, status=USAGE, says="standard input")
        self.fault("measure", "--workers", 2, "--data", "G=-", stdin=plan, status=USAGE, says="standard input")
        self.fault("measure", "--machine", "m.yaml", "--format", "dot", stdin=plan, status=USAGE, says="--format")
        self.fault("run", "--network-profile", "-n", 1, status=USAGE, says=["two ranks", "-n 2"])


class Scaling(ToolTest):
    def table(self, out, header):
        """The rows of the table whose first line begins with `header`, as lists of words."""
        lines = out[out.index(header):].split("\n\n")[0].splitlines()[1:]
        return [line.split() for line in lines]

    def test_as_bundles_would_be(self):
        self.prepare()
        for method in ["hybrid-cut", "block"]:
            out, _ = self.kasen("measure", "fused.kir", "--workers", "5,1,3", "--data", "G=graph.txt", "--method", method, "--theta", 2,
                                "--plot", "scale.svg")
            rows = self.table(out, "workers  method")
            self.assertEqual([row[0] for row in rows], ["1", "3", "5"])
            turns = self.table(out, "workers  network bytes")
            for row, turn in zip(rows, turns):
                workers = int(row[0])
                self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "--method", method, "--theta", 2,
                           "-o", "cut", "--replace")
                stats = json.loads((self.dir / "cut" / "manifest.json").read_text())["content"]
                dim, matrix = stats["dims"][0], stats["matrices"][0]
                want = [dim["size"], dim["slaves"], matrix["entries"], max(dim["masters_by_worker"]), max(dim["slaves_by_worker"]),
                        max(matrix["entries_by_worker"])]
                self.assertEqual([int(n.replace(",", "")) for n in row[2:8]], want)
                self.assertEqual(row[1], method)
                report = json.loads(self.kasen("measure", "fused.kir", "--bundle", "cut", "--format", "json")[0])
                self.assertEqual(int(turn[1].replace(",", "")), report["loops"][0]["actual"]["network_bytes"]["value"])
            picture = (self.dir / "scale.svg").read_text()
            self.assertIn("</svg>", picture)
            self.assertIn("sent between workers", picture)

    @staticmethod
    def cells(out, header):
        """The numbers of a table: by row, by column; of an estimate with how far it may be off."""
        lines = out[out.index(header):].split("\n\n")[0].splitlines()[1:]
        number = lambda text: [int(n.replace(",", "")) for n in text.split(" +- ")] if re.fullmatch(r"[0-9,]+( \+- [0-9,]+)?", text) else [text]
        return [[number(text) for text in re.split("  +", line)] for line in lines]

    def test_exact_numbers_lie_within_the_error_bars_of_a_sample(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "--epilogue", "on", "-o", "fused.kir")
        folders = [ROOT / "datasets", pathlib.Path(os.environ.get("KASEN_DATA", ROOT / "datasets"))]
        for graph in [folder / name for folder, name in zip(folders, ["cnr-2000.txt.xz", "soc-Slashdot0902.txt.xz"]) if (folder / name).exists()]:
            args = ["measure", "fused.kir", "--workers", "4,16,256", "--data", f"G={graph}", "--method", "hybrid-cut"]
            exact, _ = self.kasen(*args)
            every, _ = self.kasen(*args, "--sample", 1)
            self.assertEqual(every.split("\n", 1)[1], exact.split("\n", 1)[1])
            for fraction in [0.1, 0.02]:
                sampled, _ = self.kasen(*args, "--sample", fraction)
                for header in ["workers  method", "workers  network bytes"]:
                    uncertain = 0
                    for want, got in zip(self.cells(exact, header), self.cells(sampled, header)):
                        for a, b in zip(want, got):
                            if b == ["hybrid-cut"]:
                                self.assertEqual(a, b)
                            elif len(b) == 2:
                                uncertain += 1
                                self.assertLessEqual(abs(a[0] - b[0]), b[1], f"{graph} {fraction} {header}: {want} {got}")
                                self.assertLess(b[1], (0.3 if fraction == 0.1 else 1) * b[0], f"{graph} {fraction} {header}: {got}")
                            elif header == "workers  method":
                                self.assertEqual(a, b)
                    self.assertEqual(uncertain, 6)  # two columns, three numbers of workers

    def test_what_does_not_go_together(self):
        self.prepare()
        for fraction in ["0", "1.5", "-1"]:
            self.fault("measure", "fused.kir", "--workers", "2", "--data", "G=graph.txt", f"--sample={fraction}", status=USAGE, says=["--sample"])
        self.fault("measure", "fused.kir", "--sample", "0.1", status=USAGE, says=["--workers"])
        for args, says in [(["--workers", "2"], ["--data"]), (["--data", "G=graph.txt"], ["--workers"]),
                           (["--workers", "2,x", "--data", "G=graph.txt"], ["'x'"]), (["--workers", "0", "--data", "G=graph.txt"], ["'0'"]),
                           (["--workers", "2", "--data", "G=graph.txt", "--bundle", "bundle"], ["--bundle"]),
                           (["--workers", "2", "--data", "H=graph.txt"], ["no input 'H'"])]:
            self.fault("measure", "fused.kir", *args, status=USAGE, says=says)
        self.fault("measure", "plan.kir", "--workers", 2, "--data", "G=graph.txt", status=USAGE, says="needs a plan")


class Methods(ToolTest):
    """kasen measure --method all against a count of its own over the parts that kasen partition makes."""
    METHODS = ["block", "hybrid-cut", "ml"]

    def counted(self, workers, method, theta):
        """Entries and indices of each worker, and the bytes that it sends and receives in an iteration of PageRank."""
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "--method", method, "--theta", theta,
                   "-o", "cut", "--replace")
        parts = []
        for w in range(workers):
            with h5py.File(self.dir / "cut" / f"part-{w:04}.h5") as file:
                parts.append({name: file[place][()].tolist() for name, place in
                              [("owned", "dims/N/masters"), ("rows", "matrices/G/row_slaves"), ("cols", "matrices/G/col_slaves"),
                               ("entries", "matrices/G/indices_1")]})
        owner = {index: w for w, part in enumerate(parts) for index in part["owned"]}
        sent, received = [0] * workers, [0] * workers

        def move(source, target):
            sent[source] += 8
            received[target] += 8

        for w, part in enumerate(parts):
            for index in part["rows"]:
                move(owner[index], w)  # a rank over its degree
            for index in part["cols"]:
                move(w, owner[index])  # a part of a sum
        step = 1
        while step < workers:  # the change of all ranks goes up a tree and down again
            for w in range(0, workers - step, 2 * step):
                move(w + step, w)
                move(w, w + step)
            step *= 2
        return [len(part["entries"]) for part in parts], [len(part["owned"]) for part in parts], sent, received

    def rows_of(self, *more):
        out, _ = self.kasen("measure", "fused.kir", "--workers", "5,1,3", "--data", "G=graph.txt", "--method", "all", "--theta", 2, *more)
        lines = out[out.index("workers  method"):].split("\n\n")[0].splitlines()[1:]
        return [re.split("  +", line.strip()) for line in lines]

    @staticmethod
    def seconds(text):
        number, unit = text.split()
        return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]

    def test_bytes_and_balance_are_those_of_the_parts(self):
        self.prepare()
        rows = self.rows_of()
        self.assertEqual([row[:2] for row in rows], [[workers, method] for workers in "135" for method in self.METHODS])
        number = lambda text: int(text.replace(",", ""))
        for row in rows:
            workers = int(row[0])
            entries, owned, sent, received = self.counted(workers, row[1], 2)
            self.assertEqual([number(row[2]), number(row[3])], [sum(sent), max(sent + received)], row)
            self.assertEqual(row[4:6], [f"{max(of) * workers / sum(of):.3f}" for of in (entries, owned)])

    def test_times_have_the_busiest_and_the_slowest_worker_in_them(self):
        self.prepare()
        free = "".join(f"{key}: 0\n" for key in Times.COMPUTE)
        (self.dir / "network.yaml").write_text("memory_bandwidth: 1e18\nnetwork_bandwidth: 1e3\nnetwork_latency: 1e-15\n" + free)
        (self.dir / "memory.yaml").write_text("memory_bandwidth: 1e3\nnetwork_bandwidth: 1e18\nnetwork_latency: 1e-15\n" + free)
        for row in self.rows_of("--machine", "network.yaml"):
            _, _, sent, received = self.counted(int(row[0]), row[1], 2)
            self.assertAlmostEqual(self.seconds(row[6]), max(sent + received) / 1e3, delta=0.003 * self.seconds(row[6]) + 1e-9)
        rows = self.rows_of("--machine", "memory.yaml")
        for workers in "135":
            of = [(max(float(row[4]), float(row[5])), self.seconds(row[6])) for row in rows if row[0] == workers]
            self.assertEqual(of.index(min(of, key=lambda pair: pair[1])), [row[-1] for row in rows if row[0] == workers].index("best"))
        block, hashed = (self.seconds(row[6]) / max(float(row[4]), float(row[5])) for row in rows[3:5])
        self.assertLess(abs(block / hashed - 1), 0.5)  # but for what ghosts take

    def test_a_sample_is_near(self):
        self.prepare()
        exact, sampled = self.rows_of(), self.rows_of("--sample", 0.99)
        for a, b in zip(exact, sampled):
            self.assertEqual((a[:2], a[4:6]), (b[:2], b[4:6]))

    def test_what_does_not_go_together(self):
        self.prepare()
        line = ["measure", "fused.kir", "--method", "all"]
        self.fault(*line, status=USAGE, says="--method all goes with --workers")
        self.fault(*line, "--workers", "2,3", "--bundle", "bundle", status=USAGE, says="--method all goes with --data")
        self.kasen(*line, "--workers", "2,3", "--data", "G=graph.txt", "--plot", "p.svg")
        self.assertIn("hybrid-cut", (self.dir / "p.svg").read_text())
        self.fault("partition", "G=graph.txt", "--method", "all", "-o", "b", status=USAGE, says="does not know 'all'")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
