#!/usr/bin/env python3
"""docs/python.md: each block of Python, run on freshly made outputs, against the same computed with NumPy alone.

Usage: python_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]
"""
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
import console  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
PAGE = ROOT / "docs" / "python.md"
BLOCKS = re.findall(r"^## (.*?)$|^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
N = 40


def blocks():
    """{section: [block]}"""
    found = {}
    for section, block in BLOCKS:
        if section:
            found[current := section] = []
        else:
            found[current].append(block)
    return found


def links(rng):
    """A graph without gaps: every node has a link; what leaves a node sums up to 1."""
    G = np.where(rng.random((N, N)) < 0.1, 1.0, 0.0)
    G[np.arange(N), (np.arange(N) + 1) % N] = 1
    return G / G.sum(1, keepdims=True)


def ranks(G, turns=None):
    """(rank, turns), by the program's own words; at most so many turns."""
    rank, change, done = np.ones(len(G)), np.inf, 0
    while change > 1e-6 and done != turns:
        new = 0.15 + 0.85 * (G.T @ rank)
        rank, change, done = new, np.abs(new - rank).sum(), done + 1
    return rank, done


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        rng = np.random.default_rng(7)
        cls.G, cls.x = links(rng), rng.random((N, 3))
        cls.env = {"PATH": f"{BUILD}/tools:/usr/bin:/bin", "HOME": folder.name, "LC_ALL": "C.UTF-8"}
        pathlib.Path("links.txt").write_text("".join(f"{u} {v} {cls.G[u, v]!r}\n" for u, v in zip(*np.nonzero(cls.G))))
        np.savetxt("places.csv", cls.x, "%.17g", ",")
        pathlib.Path("communities.ks").write_text(re.search(r"^```\n(dim N.*?)^```$", PAGE.read_text(), re.M | re.S)[1])
        for command, shown, printed, status in console.run(PAGE, folder.name, cls.env):
            assert status == 0 and console.agrees(shown, printed), (command, printed)
        cls.blocks = blocks()
        cls.rank, cls.turns = ranks(cls.G)

    def run_blocks(self, section, place=slice(None)):
        """What the section's blocks define, one after the other; and what they print."""
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            for block in self.blocks[section][place]:
                exec(compile(block, f"{PAGE.name}: {section}", "exec"), names)  # the page's own text
        return names, printed.getvalue()

    def test_six_lines(self):
        self.assertEqual(sum(len(b) for b in self.blocks.values()), 10)
        for section, found in self.blocks.items():
            for block in found:
                self.assertLessEqual(len(block.splitlines()), 6, f"{section}\n{block}")

    def test_hdf5(self):
        got, _ = self.run_blocks("Results", slice(0, 1))
        np.testing.assert_allclose(got["rank"], self.rank, rtol=1e-12)
        self.assertEqual(json.loads(got["dims"]), ["N"])
        np.testing.assert_array_equal(got["weight"], got["rank"])
        np.testing.assert_allclose(got["dot"], self.x @ self.x.sum(0), rtol=1e-12)
        np.testing.assert_array_equal(got["ids"], np.arange(N))

    def test_hdf5_with_gaps_in_the_ids(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            pathlib.Path("p.ks").write_text("dim N\ninput G : null[N, N]\nones : f64[N] = 1\nrank = G @ ones\n"
                                            "output rank, near = (rank, 2 * rank)\n")
            pathlib.Path("g.txt").write_text("70 10\n70 30\n10 30\n")
            page = pathlib.Path("page.md")
            page.write_text("```console\n$ kasen go p.ks G=g.txt --workers 2 -o result.h5\n...\n```\n")
            ((_, _, printed, status),) = console.run(page, folder, self.env)
            self.assertEqual(status, 0, printed)
            got, _ = self.run_blocks("Results", slice(0, 1))
            os.chdir(here)
        self.assertEqual(dict(zip(got["ids"].tolist(), got["rank"].tolist())), {10: 1, 30: 0, 70: 2})

    def test_npy_and_csv(self):
        got, _ = self.run_blocks("Results", slice(1, 2))
        np.testing.assert_allclose(got["rank"], self.rank, rtol=1e-12)
        table, _ = self.run_blocks("Results", slice(2, 3))
        self.assertEqual([table["rank"][v] for v in range(N)], got["rank"].tolist())

    def test_counters_and_cost(self):
        got, printed = self.run_blocks("Counters of a run")
        self.assertRegex(printed, r"^3 workers on 1 ranks; \d+ bytes sent; slowest: .+")
        self.assertEqual(max(op["turns"] for op in got["run"]["operators"]), self.turns)
        self.assertEqual(got["numbers"]["network_bytes"].sum(), got["run"]["traffic"]["worker_bytes"])
        total, _ = self.run_blocks("The cost report")
        sizes = total["report"]["sizes"]["values"]
        formula, value = total["total"]["network_bytes"]
        self.assertIn("16 P trips", formula)
        # Predicted for 30 turns, which the program expects; counted for those that there were.
        per_turn = 8 * sizes["S(G.rows)"] + 8 * sizes["S(G.cols)"] + 16 * (sizes["P"] - 1)
        self.assertEqual(value - got["numbers"]["network_bytes"].sum(), (30 - self.turns) * per_turn)

    def test_trace(self):
        got, _ = self.run_blocks("A trace")
        self.assertTrue(any("mxv" in name for name in got["busy"]), got["busy"])
        self.assertGreater(min(got["busy"].values()), 0)

    def test_bundle(self):
        got, _ = self.run_blocks("A bundle")
        for slaves in ("row_slaves", "col_slaves"):  # the cut has both
            self.assertGreater(sum(len(part["matrices/G"][slaves]) for part in got["parts"]), 0)
        np.testing.assert_array_equal(got["G"].toarray(), self.G)
        self.assertEqual(got["G"].nnz, np.count_nonzero(self.G))
        np.testing.assert_array_equal(got["x"], self.x)

    def test_checkpoints(self):
        got, _ = self.run_blocks("Checkpoints")
        self.assertEqual(sorted(got["saved"]), [0, 1, 2])
        bundle, _ = self.run_blocks("A bundle")
        want, _ = ranks(self.G, self.turns // 5 * 5)
        for worker, part in enumerate(bundle["parts"]):
            (rank,) = (data for data in got["saved"][worker].values() if data.shape == part["dims/N/masters"].shape)
            np.testing.assert_allclose(rank, want[part["dims/N/masters"][:]], rtol=1e-12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], warnings="ignore")  # six lines leave files to be closed
