#!/usr/bin/env python3
"""What clusters are given: the batch jobs of configs/, run by stand-ins for Slurm's commands (slurm/), the module file and the
Spack recipe.

Usage: slurm_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]
"""
import ast
import json
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
EDGES = ROOT / "docs" / "outside" / "edges.txt"


class Job(unittest.TestCase):
    """A checkout in small: the examples, the tools, and a graph of eight pages in the real one's place."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        for place, target in [("build", BUILD), ("configs", ROOT / "configs")]:
            (self.dir / place).symlink_to(target)
        shutil.copytree(ROOT / "examples", self.dir / "examples")
        (self.dir / "datasets").mkdir()
        (self.dir / "datasets" / "cnr-2000.txt.xz").write_bytes(lzma.compress(EDGES.read_bytes()))
        self.env = {"PATH": f"{ROOT}/tests/docs/slurm:/usr/bin:/bin", "HOME": folder.name, "SBATCH_TASKS": "2", "SBATCH_CPUS": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def submit(self, *command, status=0, **env):
        done = subprocess.run(command, cwd=self.dir, env={**self.env, **env}, text=True, capture_output=True, timeout=250, check=False)
        told = done.stdout + done.stderr + "".join(p.read_text() for p in self.dir.glob("slurm-*.out"))
        self.assertEqual(done.returncode, status, told)
        return told

    def ranks(self, file):
        with h5py.File(self.dir / file) as result:
            return result["pr"][:]


def pagerank(r):
    """Of the eight pages, as the solution of its linear system."""
    edges = np.loadtxt(EDGES, dtype=int)
    G = np.zeros((8, 8))
    G[edges[:, 0], edges[:, 1]] = 1
    return np.linalg.solve(np.eye(8) - r * (G / G.sum(1, keepdims=True)).T, np.full(8, 1 - r))


class Slurm(Job):
    def test_syntax(self):
        jobs = sorted((ROOT / "configs").glob("*.sbatch"))
        self.assertGreaterEqual(len(jobs), 2)
        for job in jobs:
            subprocess.run(["bash", "-n", job], check=True)

    def test_pagerank(self):
        told = self.submit("sbatch", "configs/pagerank.sbatch")
        self.assertIn("16 workers on 2 ranks", told)
        self.assertIn("Predicted and counted agree to the byte.", told)
        np.testing.assert_allclose(self.ranks("ranks.h5"), pagerank(0.85), atol=1e-5)
        self.assertFalse((self.dir / "scontrol.log").exists())

    def test_array_has_a_result_for_each_value(self):
        self.assertIn("Submitted batch job 1\n", self.submit("bash", "configs/sweep.sbatch"))
        values = re.search(r"values=\((.*?)\)", (ROOT / "configs" / "sweep.sbatch").read_text())[1].split()
        self.assertEqual(len(values), 5)
        for r in values:
            np.testing.assert_allclose(self.ranks(f"sweep/ranks-r{r}.h5"), pagerank(float(r)), atol=1e-4)
            self.assertEqual(json.loads((self.dir / f"sweep/run-r{r}.json").read_text())["ranks"], 2)


class Requeued(Job):
    def test_job_goes_on_in_the_queue(self):
        """Told to stop, twice, in a program of many turns; the third time it is left alone, and gives an undisturbed run's bits."""
        program = self.dir / "examples" / "pagerank.ks"
        text = program.read_text().replace("not_converged = true", "turn = 0\nnot_converged = true")
        text = text.replace("not_converged = diff > theta", "turn = turn + 1\n  not_converged = turn < 100000 || diff > 1e9")
        self.assertEqual(text.count("turn"), 4)
        program.write_text(text)
        turns = [0]
        for stop in (1, 2):
            (self.dir / "saved" / ".lock").unlink(missing_ok=True)  # it comes back when the run has begun
            self.submit("sbatch", "configs/pagerank.sbatch", SRUN_USR1_WHEN="saved/.lock")
            self.assertEqual((self.dir / "scontrol.log").read_text(), "requeue 1\n" * stop)
            newest = max((self.dir / "saved").glob("checkpoint-*"))
            turns.append(json.loads((newest / "manifest.json").read_text())["content"]["turns"])
        self.assertEqual(turns, sorted(set(turns)))  # each went further
        self.assertFalse((self.dir / "ranks.h5").exists())
        told = self.submit("sbatch", "configs/pagerank.sbatch")
        self.assertIn(f"iteration {turns[-1]:,}".replace(",", ""), told.replace(",", ""))
        after = self.ranks("ranks.h5")
        self.submit("build/tools/kasen-run", "fused.kir", "--bundle", "web-16", "-o", "alone.h5")
        np.testing.assert_array_equal(after, self.ranks("alone.h5"))


class Modules(unittest.TestCase):
    """The module file as Tcl reads it, in the place where it would be installed."""

    @unittest.skipUnless(shutil.which("tclsh"), "no tclsh")
    def test_paths(self):
        version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder).resolve() / "kasen home"
            file = home / "share" / "modulefiles" / "kasen" / version
            file.parent.mkdir(parents=True)
            shutil.copy(BUILD / "packaging" / version, file)
            self.assertTrue(file.read_text().startswith("#%Module"))
            script = ("foreach c {module-whatis conflict setenv prepend-path} { proc $c args \"puts \\\"$c \\[join \\$args |\\]\\\"\" }\n"
                      f"set ModulesCurrentModulefile {{{file}}}\nsource $ModulesCurrentModulefile\nModulesHelp\n")
            done = subprocess.run(["tclsh"], input=script, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Kasen {version}", done.stderr)
        lines = dict(line.removeprefix("prepend-path ").split("|") for line in done.stdout.splitlines() if line.startswith("prepend"))
        self.assertEqual(lines["PATH"], f"{home}/bin")
        self.assertEqual(lines["CMAKE_PREFIX_PATH"], str(home))
        self.assertRegex(lines["PKG_CONFIG_PATH"], f"^{re.escape(str(home))}/lib.*/pkgconfig$")
        self.assertIn("conflict kasen", done.stdout)


# What scripts/packages.txt names, as Spack names it; tools of development and of tests are not what a build needs.
SPACK = {"meson": "meson", "ninja-build": "ninja", "pkg-config": "pkgconfig", "python3": "python", "libfmt-dev": "fmt",
         "libboost-program-options-dev": "boost", "libboost-dev": "boost", "libyaml-cpp-dev": "yaml-cpp",
         "nlohmann-json3-dev": "nlohmann-json", "libz3-dev": "z3", "libxxhash-dev": "xxhash", "zlib1g-dev": "zlib-api",
         "liblzma-dev": "xz", "libzstd-dev": "zstd", "libmetis-dev": "metis", "libhdf5-dev": "hdf5", "libhwloc-dev": "hwloc",
         "libseccomp-dev": "libseccomp", "libopenmpi-dev": "mpi", "llvm-16-dev": "llvm", "libblis-dev": "blis",
         "libgraphblas-dev": "suite-sparse", "libgtest-dev": "googletest", "libgmock-dev": "googletest",
         "libmpfr-dev": "mpfr", "libbenchmark-dev": "benchmark"}


class Spack(unittest.TestCase):
    def test_dependencies_are_those_of_the_packages(self):
        tree = ast.parse((ROOT / "packaging" / "spack" / "package.py").read_text())
        (recipe,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
        calls = [n.value for n in recipe.body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
        names = {re.match(r"[\w-]+", c.args[0].value)[0] for c in calls if c.func.id == "depends_on"}
        debian = {p for p in (ROOT / "scripts" / "packages.txt").read_text().splitlines() if p and not p.startswith("#")}
        debian = {p.split(" | ")[0] for p in debian}  # others on its line serve as well
        built_on = {p for p in debian if p in SPACK or p.endswith("-dev")} - {"dpkg-dev", "libclang-rt-dev", "libomp-dev"}  # of packing and of fuzzing
        self.assertEqual(built_on, set(SPACK), "a package came or went: say so in packaging/spack/package.py and here")
        self.assertEqual(names - {"c", "cxx", "openblas"}, set(SPACK.values()))
        versions = [c.args[0].value for c in calls if c.func.id == "version"]
        self.assertIn(re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1], versions)
        self.assertTrue(any(c.func.id == "license" for c in calls))

    def test_options_are_the_projects(self):
        """Each -Doption that the recipe sets is one of meson_options.txt."""
        recipe = (ROOT / "packaging" / "spack" / "package.py").read_text()
        options = re.findall(r"^option\('(\w+)'", (ROOT / "meson_options.txt").read_text(), re.M)
        self.assertLessEqual({"bench", "blas"}, set(re.findall(r"-D(\w+)=", recipe)))
        self.assertLessEqual(set(re.findall(r"-D(\w+)=", recipe)), set(options))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
