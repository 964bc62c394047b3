#!/usr/bin/env python3
"""NumPy's names: each form of docs/library.md gives NumPy's values, on numbers of workers and over meshes that divide the
arrays and that do not.

Usage: numpy_names_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import pathlib
import re
import sys
import unittest
import warnings

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from applications_test import normal, random  # noqa: E402
from array_cases import ArrayTest  # noqa: E402
from library_data import OF_PAGE, arrays_of, declared, names_in, page_of  # noqa: E402
from library_numpy import orth, svd  # noqa: E402

ROOT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
PAGE = (ROOT / "docs" / "library.md").read_text()
SECTION = PAGE[PAGE.index("## NumPy's names"):]
SHAPES = [(12, 8, 3), (13, 7, 4), (1, 5, 2), (100, 1, 3)]  # of N, F and K
# How the programs are planned, where {} is an array of two dimensions, and how each plan runs. Blocks divide some of the
# sizes, not all; of one index only there may be fewer than blocks.
PLANS = {"plain": "", "2x2": "--mesh 2x2", "1x3": "--mesh 1x3", "cyclic": "--mesh 2x2 --layout {}=[{}/a:3,{}/b:2]",
         "blocks": "--mesh 2x2 --spread lshs --grid {}=4x2", "thin": "--mesh 3 --spread owner --grid {}=13x1",
         "dealt": "--mesh 2x3 --nodes a --spread round-robin --grid {}=5x4"}
RUNS = [("plain", ["--workers", "1"]), ("plain", ["--workers", "3", "-n", "3"]), ("plain", ["--workers", "4"]), ("2x2", []), ("1x3", []),
        ("cyclic", ["-n", "2"]), ("blocks", []), ("thin", []), ("dealt", ["-n", "2"])]
MISSING = {"isnat"}  # there are no dates

# What NumPy gives for each form of a name. Of elements it is its function of that name.
ARRAYS = {
    "all": lambda v: [v.b.all(), (v.X > 0).all(0)],
    "allclose": lambda v: [np.allclose(v.x, v.y)],
    "any": lambda v: [v.b.any(), (v.X > 0).any(0)],
    "arange": lambda v: [np.arange(v.N)],
    "argmax": lambda v: [np.argmax(v.x), np.argmax(v.X, 1)],
    "argmin": lambda v: [np.argmin(v.x), np.argmin(v.X, 1)],
    "array": lambda v: [np.array(v.X)],
    "array_equal": lambda v: [True],
    "array_equiv": lambda v: [np.array_equiv(v.X, v.x[:, None]), True],
    "atleast_1d": lambda v: [np.atleast_1d(v.N)],
    "atleast_2d": lambda v: [np.atleast_2d(v.x)],
    "atleast_3d": lambda v: [np.atleast_3d(v.X)],
    "average": lambda v: [np.average(v.X, 0, v.P)],
    "column_stack": lambda v: [np.column_stack([v.x, v.y])],
    "concatenate": lambda v: [np.concatenate([v.x, v.y])],
    "copy": lambda v: [v.X.copy()],
    # np.cov takes one row for one variable; here rows are observations always.
    "cov": lambda v: [np.atleast_2d(np.cov(v.X, rowvar=False)) if v.N > 1 else np.full((v.F, v.F), np.nan)],
    "diag": lambda v: [np.diag(v.S), np.diag(v.z)],
    "dot": lambda v: [np.dot(v.x, v.y), np.dot(v.X, v.z)],
    "dstack": lambda v: [np.dstack([v.X, v.Y])],
    "empty": lambda v: [0 * np.empty(v.X.shape)],
    "empty_like": lambda v: [np.zeros_like(v.X)],
    "expand_dims": lambda v: [np.expand_dims(v.X, 0)],
    "eye": lambda v: [np.eye(*v.X.shape, 1)],
    "hstack": lambda v: [np.hstack([v.X, v.Y])],
    "identity": lambda v: [np.identity(v.K)],
    "inner": lambda v: [np.inner(v.X, v.C)],
    "linalg.cholesky": lambda v: [np.linalg.cholesky(v.D)],
    "linalg.inv": lambda v: [np.linalg.inv(v.D)],
    "linalg.qr": lambda v: orth(v.D),
    "linalg.solve": lambda v: [np.linalg.solve(v.D, v.d)],
    "linalg.svd": lambda v: svd(v.D),
    "linspace": lambda v: [np.linspace(1, 3, v.N)],
    "logspace": lambda v: [np.logspace(0, 2, v.N)],
    "matmul": lambda v: [v.X @ v.S, v.T @ v.W],
    "max": lambda v: [v.X.max(), v.X.max(0)],
    "mean": lambda v: [v.X.mean(), v.X.mean(1)],
    "median": lambda v: [np.median(v.X, 1)],
    "min": lambda v: [v.X.min(), v.X.min(0)],
    "nanmax": lambda v: [np.nanmax(v.G, 0)],
    "nanmean": lambda v: [np.nanmean(v.G, 0)],
    "nanmin": lambda v: [np.nanmin(v.G, 0)],
    "nanstd": lambda v: [np.nanstd(v.G, 0)],
    "nansum": lambda v: [np.nansum(v.G, 0)],
    "nanvar": lambda v: [np.nanvar(v.G, 0)],
    "ones": lambda v: [np.ones(v.X.shape)],
    "ones_like": lambda v: [np.ones_like(v.X)],
    "outer": lambda v: [np.outer(v.x, v.z)],
    "percentile": lambda v: [np.percentile(v.X, 80, 0)],
    "prod": lambda v: [np.prod(v.X, 1)],
    "quantile": lambda v: [np.quantile(v.X, 0.3, 0)],
    "random.normal": lambda v: [normal(7, *v.X.shape)],
    "random.randint": lambda v: [np.floor(5 * random(7, *v.X.shape) - 2).astype(int)],
    "random.random": lambda v: [random(7, *v.X.shape)],
    "reshape": lambda v: [np.reshape(v.X, -1), v.X],
    "row_stack": lambda v: [np.row_stack([v.X, v.Y])],
    "split": lambda v: np.split(v.X, [2]),
    "squeeze": lambda v: [np.squeeze(v.V, 1)],
    "std": lambda v: [np.std(v.X, 0)],
    "sum": lambda v: [v.X.sum(), v.X.sum(1)],
    "swapaxes": lambda v: [np.swapaxes(v.T, 0, 1)],
    "tensordot": lambda v: [np.tensordot(v.T, v.Z, 2), np.tensordot(v.X, v.C, (1, 1))],
    "top_k": lambda v: [-np.sort(-v.X, axis=0)[:3], np.argsort(-v.X, axis=0, kind="stable")[:3]],
    "trace": lambda v: [np.trace(v.S)],
    "transpose": lambda v: [np.transpose(v.X), v.X.T],
    "var": lambda v: [np.var(v.X, 0)],
    "vstack": lambda v: [np.vstack([v.X, v.Y])],
    "zeros": lambda v: [np.zeros(v.X.shape)],
    "zeros_like": lambda v: [np.zeros_like(v.X)],
}


def rows_of(part):
    """The forms of each name in a table of the page."""
    return {names.replace("np.", "").split(", ")[0]: re.findall(r"`([^`]+)`", forms)
            for names, forms in re.findall(r"^\| (\S.*?) \| (.*`) \|$", part, re.M)}


ELEMENTS, OF_ARRAYS = (rows_of(part) for part in SECTION.split("\nOf arrays:"))


class NumpyNames(ArrayTest):
    uses = re.search(r"```\n(use .*\n)", PAGE)[1]
    derived = "".join(re.findall(r"^dim \w+ = .*\n", PAGE, re.M))

    def test_the_page_has_all_names(self):
        functions = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
        self.assertGreater(len(functions), 80)
        self.assertEqual(functions - set(ELEMENTS) - set(OF_ARRAYS), MISSING)
        self.assertEqual(set(OF_ARRAYS), set(ARRAYS))
        every = re.findall(r"(?m)^\| ((?:np\.\S+(?:, )?)+|top_k) \|", SECTION)
        names = {name.removeprefix("np.") for names in every for name in names.split(", ")}
        for name in names - {"top_k"}:  # they are NumPy's
            owner = np.linalg if name.startswith("linalg.") else np.random if name.startswith("random.") else np
            self.assertTrue(hasattr(owner, name.split(".")[-1]), name)
        self.assertLessEqual({"asarray", "loadtxt", "top_k"}, names)

    def outputs(self, rows):
        """Lines of a program, and the names of the results of each form."""
        lines, places = [], []
        for number, (name, forms) in enumerate(rows.items()):
            for turn, form in enumerate(forms):
                several = re.fullmatch(r"(\w+(?:, \w+)+) = (.*)", form)
                names = [f"r{number}_{turn}"] if several is None else several[1].split(", ")
                lines.append(f"output {names[0]} = {form}" if several is None else f"{form}\noutput {several[1]}")
                places.append((name, names))
        return "\n".join(lines) + "\n", places

    def plan(self, head, rows, blocked):
        """`blocked`: an input and its two dimensions."""
        text, places = self.outputs(rows)
        (self.dir / "p.ks").write_text(self.uses + head + text)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        for name, options in PLANS.items():
            self.kasen("fuse", "p.kir", *options.format(*blocked).split(), "-o", f"{name}.kir")
            self.assertEqual("region blocks[" in (self.dir / f"{name}.kir").read_text(), "--spread" in options)
        return places

    def check(self, seed, places, values, files, sizes):
        """Every other run on these data: `values` are the results in their order."""
        sizes_given = [option for name, size in zip("NMFK", sizes) if size for option in ("--dim", f"{name}={size}")]
        self.kasen("partition", "--program", "p.kir", *files, *sizes_given, "--workers", "4", "-o", "bundle", "--replace")
        for plan, options in RUNS[seed % 2::2]:
            self.kasen("run", f"{plan}.kir", "--bundle", "bundle", "-o", "out.npy", *options)
            for i, ((name, result), value) in enumerate(zip(places, values)):
                got = np.load(self.dir / ("out.npy" if i == 0 else f"out-{result}.npy"))
                at = f"{name} as {result}, sizes {sizes}, {plan} {options}"
                self.assertEqual(got.shape, np.shape(value), at)
                self.assertEqual(got.dtype.kind, np.asarray(value).dtype.kind, at)
                np.testing.assert_allclose(got, value, rtol=1e-11, atol=1e-12, err_msg=at)

    def test_functions_of_elements(self):
        v = arrays_of(np.random.default_rng(0), (1, 1), np.float64)
        letters = names_in([form for forms in ELEMENTS.values() for form in forms], v)
        head = "dim N, M\n" + "".join(declared(name, getattr(v, name), "NM") for name in letters)
        places = [(name, result) for name, names in self.plan(head, ELEMENTS, (letters[0], "N", "M")) for result in names]
        for seed, (rows, columns, _) in enumerate(SHAPES):
            v = arrays_of(np.random.default_rng(seed), (rows, columns), np.float64)
            files = self.save({name: getattr(v, name) for name in letters})
            values = []
            for name, (form,) in ELEMENTS.items():
                call = form.split(" = ")[-1]
                arguments = [getattr(v, letter) for letter in re.findall(r"\b[a-z]\b", call)]
                with np.errstate(all="ignore"):
                    given = getattr(np, name)(*arguments)
                values += given if isinstance(given, tuple) else [given]
            self.check(seed, places, values, files, (rows, columns))

    def page(self, seed, N, F, K):
        v = page_of(np.random.default_rng(seed), np.float64, N, F, K)
        part = np.random.default_rng(seed).normal(size=(4, 4))
        v.D, v.d = part @ part.T + np.eye(4), part[0]
        return v

    def test_functions_of_arrays(self):
        v = self.page(0, *SHAPES[0])
        letters = names_in([form for forms in OF_ARRAYS.values() for form in forms], v)
        dims = {**OF_PAGE, "D": "LL", "d": "L"}
        dims_of = {name: dims.get(name, "N" if name.islower() else "NF") for name in letters}
        head = "dim N, F, K, L local\n" + self.derived + "".join(declared(name, getattr(v, name), dims_of[name], "L") for name in letters)
        places = [(name, result) for name, names in self.plan(head, OF_ARRAYS, ("X", "N", "F")) for result in names]
        for seed, (N, F, K) in enumerate(SHAPES):
            v = self.page(seed, N, F, K)
            files = self.save({name: getattr(v, name) for name in letters})
            np.savetxt(self.dir / "X.csv", v.X, fmt="%.17g", delimiter=",")  # np.loadtxt
            files = ["X=X.csv" if file.startswith("X=") else file for file in files]
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                values = [value for name in OF_ARRAYS for value in ARRAYS[name](v)]
            self.check(seed, places, values, files, (N, None, F, K))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
