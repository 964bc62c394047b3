#!/usr/bin/env python3
"""The libraries of the language: each call that docs/library.md shows gives NumPy's values, for arrays of rank 0 to 3, along
every dimension, of all types and sizes, in the usual layouts and in random ones over a mesh.

Usage: library_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import itertools
import pathlib
import re
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from library_calls import ALONG, ELEMENTS, LOCAL, ORDER, OTHERS, PLACES, STORED  # noqa: E402
from library_data import (FITTING, OF_PAGE, TYPES, arrays_of, axes_of, declared, dims_text, layout_of, names_in, page_of,  # noqa: E402
                          wanted)
from tools_test import BAD, MISSING, ToolTest  # noqa: E402

ROOT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
PAGE = (ROOT / "docs" / "library.md").read_text()
SHAPES = [(), (23,), (7, 5), (5, 4, 3)]
# Of no elements, where NumPy has no value: the one of docs/library.md, by the name of the function.
NOTHING = {"amax": -np.inf, "ptp": -np.inf, "logsumexp": -np.inf, "amin": np.inf, "nanargmax": np.iinfo(np.int64).max,
           "nanargmin": np.iinfo(np.int64).max, "cross_entropy_logits": 0.0}
IN_F64 = ("ecdf", "accuracy", "hamming_distance", "jaccard", "float_power", "pairwise_hamming")  # of f32, too


def calls_of(tables, of):
    return {call: value for table in tables for group, calls in table.items() if of in FITTING[group] for call, value in calls.items()}


def of_nothing(call, v, axis):
    """The value for an empty reduction that NumPy refuses."""
    name = call.split("(")[0]
    if name in ("softmax", "log_softmax", "rescale"):
        return v.X
    value = NOTHING.get(name, np.nan)
    if v.X.dtype.kind == "i" and np.isinf(value):
        info = np.iinfo(v.X.dtype)
        value = info.max if value > 0 else info.min
    return np.full(v.X.sum(axis=axis).shape, value)


class LibraryTest(ToolTest):
    uses = re.search(r"```\n(use .*\n)", PAGE)[1]
    derived = "".join(re.findall(r"^dim \w+ = .*\n", PAGE, re.M))

    def run_program(self, data, options):
        """Step by step: kasen go draws pictures as well, which takes longest."""
        step_of = {"--workers": "partition", "--dim": "partition", "-n": "run", "--verify": "run", "--kernels": "run"}

        def of(step):
            return [text for pair in zip(options[::2], options[1::2]) for text in pair if step_of.get(pair[0], "fuse") == step]

        bundle = ["--bundle", "bundle"]
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *data, *of("partition"), "-o", "bundle", "--replace")
        self.kasen("fuse", "p.kir", *of("fuse"), *bundle, "-o", "f.kir")
        self.kasen("run", "f.kir", *bundle, *of("run"), "--program", "p.kir", "-o", "out.npy", "--stats", "run.json")
        out, _ = self.kasen("measure", "f.kir", *bundle, "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)

    def check(self, head, calls, dims_of, v, options=()):
        """The calls, whose values are given, in one program."""
        lines, places = [], []
        for number, (call, value) in enumerate(calls.items()):
            several = re.fullmatch(r"(\w+(?:, \w+)+) = (.*)", call)
            names = [f"r{number}"] if not several else [f"r{number}{name.strip()}" for name in several[1].split(",")]
            lines.append(f"output {names[0]} = {call}" if not several else f"{', '.join(names)} = {several[2]}\noutput {', '.join(names)}")
            places += zip(names, [value] if not several else value, itertools.repeat(call))
        (self.dir / "p.ks").write_text(self.uses + head + "\n".join(lines) + "\n")
        for name in dims_of:
            np.save(self.dir / f"{name}.npy", getattr(v, name))
        self.run_program([f"{name}={name}.npy" for name in dims_of], options)
        single = v.x.dtype == np.float32
        for number, (name, value, call) in enumerate(places):
            got, value = np.load(self.dir / ("out.npy" if number == 0 else f"out-{name}.npy")), np.asarray(value)
            at = f"{call} of {v.x.dtype}, {head}{options}"
            self.assertEqual(got.dtype.kind, value.dtype.kind, at)
            if single and got.dtype.kind == "f" and not call.startswith(IN_F64) and names_in([call], v):
                self.assertEqual(got.dtype, np.float32, at)
            np.testing.assert_allclose(got, value, rtol=1e-3 if single else 1e-8, atol=1e-4 if single else 1e-11, err_msg=at)

    def check_shape(self, shape, of, seed, along=None, every=1):
        """Of arrays of one shape: all functions of elements, or reductions along these axes, a tuple. `every` N-th of them, others
        for each seed."""
        random = np.random.default_rng(seed)
        v, dims = arrays_of(random, shape, TYPES[of]), "NMK"[:len(shape)]
        if along is None:
            calls = {call: wanted(value, v) for call, value in calls_of([ELEMENTS], of).items()}
        else:
            axis = None if along == () else along if len(along) > 1 else along[0]
            over = ", over " + ", ".join(dims[a] for a in along) if along else ""
            calls = {}
            for call, value in calls_of([ALONG, PLACES, ORDER] if len(along) == 1 or len(shape) == 1 else [ALONG], of).items():
                try:
                    calls[call.replace(", over N", over)] = wanted(value, v, axis)
                except (ValueError, ZeroDivisionError):
                    self.assertEqual(v.X.size, 0, call)
                    calls[call.replace(", over N", over)] = of_nothing(call, v, axis)
        calls = dict(list(calls.items())[seed % every::every])
        names = names_in(calls, v)
        sizes = [option for dim, size in zip(dims, shape) for option in ("--dim", f"{dim}={size}")]
        local = [d for d in dims[1:] if random.random() < 0.3]
        head = dims_text(dims, local) + "".join(declared(name, getattr(v, name), dims, local) for name in names)
        if not dims:
            return self.check(head, calls, {}, v, ["--kernels", "interpreter"])
        dims_of = {name: dims for name in names}
        return self.check(head, calls, dims_of, v, [*sizes, *layout_of(random, dims_of, local)])

    def check_page(self, of, sizes, seed, tables=(OTHERS,), local="", options=None):
        random = np.random.default_rng(seed)
        v = page_of(random, TYPES[of], *sizes)
        calls = {}
        for call, value in calls_of(tables, of).items():
            try:
                calls[call] = wanted(value, v)
            except Exception:  # what NumPy refuses of nothing is not looked at here
                self.assertLess(min(sizes), 2, call)
        calls = {call: value for call, value in calls.items() if not (call.endswith("linear_fit(x, y)") and sizes[0] < 2)}
        dims_of = {name: OF_PAGE.get(name, "N" if name.islower() else "NF") for name in names_in(calls, v)}
        head = dims_text("NFK", local) + "dim M local = 9\n" + self.derived + "".join(declared(name, getattr(v, name), dims, local) for name, dims in dims_of.items())
        options = options if options is not None else layout_of(random, {name: dims for name, dims in dims_of.items() if name not in "uw"})
        self.check(head, calls, dims_of, v, [*(option for d, size in zip("NFK", sizes) for option in ("--dim", f"{d}={size}")), *options])


class Library(LibraryTest):
    def test_the_page_shows_every_function(self):
        calls = re.findall(r"^\| `([^`]+)` \|", PAGE, re.M)
        self.assertEqual(len(calls), len(set(calls)))
        along = [call for call in calls_of([ALONG, PLACES, ORDER, OTHERS, LOCAL, ELEMENTS], "f64") | calls_of([OTHERS, ELEMENTS], "i64")]
        self.assertEqual(sorted(calls), sorted([*along, *STORED]))  # patterns_test.py computes those of stored entries
        for library in sorted((ROOT / "libcore/lang/library").glob("*.ks")):
            table = re.search(rf"## {library.stem}\n(.*?)(?=\n## |\Z)", PAGE, re.S)
            for name in re.findall(r"^(?:def|fn) (\w+)", library.read_text(), re.M):
                self.assertRegex(table[1], rf"(?m)^\| `(?:[\w, ]+ = )?{name}\(", library.name)
            self.assertIn(f'"{library.stem}"', self.uses)

    def test_the_page_is_a_program(self):
        head = re.search(r"```\n(.*?)```", PAGE, re.S)[1]
        calls = [call for call in re.findall(r"^\| `([^`]+)` \|", PAGE, re.M) if call not in STORED]
        lines = [call if "=" in call else f"output r{number} = {call}" for number, call in enumerate(calls)]
        self.kasen("plan", "-", "-o", "p.kir", stdin=head + "\n".join(lines) + "\noutput a\n")

    def test_values_are_those_of_the_interpreter(self):
        """What a run made is computed again, on ranks, and in a plan without fusion."""
        for seed, options in enumerate([["--workers", "3", "-n", "3"], ["--workers", "3", "--strategy", "none"]]):
            self.check_page("f64", (20, 3, 4), seed, [OTHERS, LOCAL], "FK", [*options, "--verify", "all"])

    def test_elements(self):
        for seed, (of, shape) in enumerate(zip(["f32", "i32", "f64", "i64"], SHAPES)):
            self.check_shape(shape, of, seed)

    def test_elements_of_single_values(self):
        """What works for the elements of arrays works for single values, of every type; so do the tests of all elements."""
        for seed, of in enumerate(["i64", "f64", "i32"]):
            self.check_shape((), of, seed)
        v = arrays_of(np.random.default_rng(0), (), np.float64)
        calls = {"gcd(48, 18)": 6, "lcm(-4, 6)": 12, "gcd(0, 0)": 0, "allclose(x, x)": True, "allclose(1.0, 1.1)": False, "array_equal(x, x)": True,
                 "array_equiv(2, 3)": False, "any(x == x)": True, "all(1 > 2)": False}
        self.check(declared("x", v.x, ""), calls, {}, v, ["--kernels", "interpreter"])

    def test_truth(self):
        """Functions of numbers that take bool, too."""
        v = arrays_of(np.random.default_rng(0), (6, 5), np.float64)
        calls = {"count_nonzero(b, over N)": np.count_nonzero(v.b, axis=0), "count_zero(b)": (~v.b).sum(), "accuracy(b, c)": (v.b == v.c).mean(),
                 "array_equal(b, b)": True, "where(b, b, c)": np.where(v.b, v.b, v.c), "hamming_distance(b, c)": (v.b != v.c).mean(),
                 "jaccard(b, c)": (v.b != v.c).sum() / (v.b | v.c).sum(), "logical_not(b)": ~v.b, "equal(b, c)": v.b == v.c,
                 "amax(i64(b), over M)": v.b.max(axis=1).astype(int), "broadcast_like(b, x)": v.b}
        names = names_in(calls, v)
        head = "dim N, M\n" + "".join(declared(name, getattr(v, name), "NM") for name in names)
        self.check(head, calls, {name: "NM" for name in names}, v, ["--mesh", "2x2"])

    def test_in_index_notation(self):
        """fns of a library work on elements."""
        v = arrays_of(np.random.default_rng(0), (6, 5), np.float64)
        calls = {"[i in N: sum(j in M: relu(X[i, j] - Y[i, j]))]": np.maximum(v.X - v.Y, 0).sum(axis=1),
                 "reduce(fmax, G)": np.nanmax(v.G), "sum(map(clip, X, -1.0, 1.0), over M)": np.clip(v.X, -1, 1).sum(axis=1)}
        head = "dim N, M\n" + "".join(declared(name, getattr(v, name), "NM") for name in "XYG")
        self.check(head, calls, {name: "NM" for name in "XYG"}, v, ["--mesh", "2x2"])


class LibraryShapes(LibraryTest):
    """Some axes and sizes of each type, in a random layout."""

    def test_along_dimensions(self):
        cases = [("f64", (23,), ()), ("f32", (7, 5), (0,)), ("i64", (7, 5), (1,)), ("f64", (5, 4, 3), (0, 2)), ("i32", (5, 4, 3), (1,))]
        for seed, (of, shape, along) in enumerate(cases):
            self.check_shape(shape, of, seed, along, every=2)

    def test_arrays_of_given_dimensions(self):
        self.check_page("i64", (9, 3, 4), 0)
        self.check_page("f64", (9, 3, 4), 1, options=["--mesh", "2x2"])

    def test_greatest_along_every_axis(self):
        cases = [((23,), 0, "f64"), ((7, 5), 1, "i64"), ((5, 4, 3), 1, "f32"), ((5, 4, 3), 2, "i32"), ((0, 3), 0, "f64"), ((1,), 0, "i64"), ((3, 0), 0, "f64")]
        for seed, (shape, axis, of) in enumerate(cases):
            random = np.random.default_rng(seed)
            v, dims = arrays_of(random, shape, TYPES[of]), "NMK"[:len(shape)]
            d = dims[axis]
            for count in (1, 3):
                first = tuple(slice(count) if a == axis else slice(None) for a in range(len(shape)))
                order = np.argsort(-v.X, axis, kind="stable")[first]
                place = min(count, max(shape[axis] - 1, 0))
                calls = {f"topk(X, over {d}, Top)": np.take_along_axis(v.X, order, axis), f"argtopk(X, over {d}, Top)": order,
                         f"partition(X, {place}, over {d})": np.sort(v.X, axis)}
                if shape[axis] > 0:  # at this place stands what NumPy puts there
                    one = tuple(slice(place, place + 1) if a == axis else slice(None) for a in range(len(shape)))
                    calls[f"slice(partition(X, {place}, over {d}), One)"] = np.partition(v.X, place, axis)[one]
                head = f"dim {', '.join(dims)}\ndim Top = {d}[:{count}], One = {d}[{place}:{place + 1}]\n" + declared("X", v.X, dims)
                sizes = [option for dim, size in zip(dims, shape) for option in ("--dim", f"{dim}={size}")]
                self.check(head, calls, {"X": dims}, v, [*sizes, *layout_of(random, {"X": dims})])

    def test_sizes_of_0_and_1(self):
        self.check_shape((0, 3), "f64", 0, every=2)
        self.check_shape((0, 3), "f64", 1, (0,), every=2)
        self.check_shape((1, 0), "f64", 2, (), every=2)
        self.check_shape((1,), "i64", 3, (0,))
        self.check_page("f64", (0, 3, 2), 4)


class LibraryAtLength(LibraryTest):
    """All ranks, axes and types, each in a layout of its own."""

    def test_elements(self):
        for seed, (of, shape) in enumerate(itertools.product(TYPES, SHAPES)):
            self.check_shape(shape, of, 100 + seed)

    def test_along_dimensions(self):
        cases = [(of, shape, axes) for of in TYPES for shape in SHAPES[1:] for axes in axes_of(len(shape))]
        for seed, (of, shape, axes) in enumerate(cases):
            self.check_shape(shape, of, 200 + seed, () if axes is None else tuple(np.atleast_1d(axes)))

    def test_arrays_of_given_dimensions(self):
        for seed, of in enumerate([*TYPES] * 3):
            self.check_page(of, (9, 3, 4), 300 + seed)
        for seed, of in enumerate(["f64", "f32"]):
            self.check_page(of, (20, 3, 4), 320 + seed, [LOCAL], "FK", ["--workers", "3"])

    def test_sizes_of_0_and_1(self):
        shapes = [(0,), (1,), (0, 3), (3, 0), (1, 1), (0, 0), (1, 0, 2), (1, 1, 1), (2, 1, 0)]
        for seed, (of, shape) in enumerate(itertools.product(["f64", "i64"], shapes)):
            self.check_shape(shape, of, 400 + seed)
            for axes in axes_of(len(shape)):
                self.check_shape(shape, of, 500 + seed, () if axes is None else tuple(np.atleast_1d(axes)))
        pages = [(1, 1, 1), (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 1, 3), (1, 3, 1)]
        for seed, (of, sizes) in enumerate(itertools.product(["f64", "i64"], pages)):
            self.check_page(of, sizes, 600 + seed)


class UsedFiles(ToolTest):
    PROGRAM = 'use "lib.ks"\ndim N\ninput x : f64[N]\noutput z = f(x)\n'

    def setUp(self):
        super().setUp()
        np.save(self.dir / "x.npy", np.arange(5.0))
        (self.dir / "p.ks").write_text(self.PROGRAM)
        (self.dir / "lib.ks").write_text("def f(a) = sum(a)\n")

    def go(self):
        self.kasen("go", "p.ks", "x=x.npy", "--format", "npy", "-o", "out.npy")
        return float(np.load(self.dir / "out.npy"))

    def test_a_changed_file_makes_another_plan(self):
        self.assertEqual(self.go(), 10)
        (self.dir / "lib.ks").write_text("def f(a) = max(a)\n")
        self.assertEqual(self.go(), 4)

    def test_an_experiment_does_not_keep_a_plan_of_a_changed_file(self):
        (self.dir / "e.yaml").write_text("program: p.ks\ndata: {x: x.npy}\nworkers: 1\n")
        digests = []
        for body in ["sum(a)", "max(a)", "sum(a)"]:
            (self.dir / "lib.ks").write_text(f"def f(a) = {body}\n")
            self.kasen("experiment", "e.yaml", "-o", "results")
            digests.append(sorted(path.name for path in (self.dir / "results").rglob("*.kir")))
        self.assertGreater(len(digests[1]), len(digests[0]))
        self.assertEqual(digests[1], digests[2])

    def test_files_are_beside_the_program(self):
        (self.dir / "sub").mkdir()
        for name in ["p.ks", "lib.ks"]:
            (self.dir / name).rename(self.dir / "sub" / name)
        self.kasen("plan", "sub/p.ks", "-o", "p.kir")
        self.kasen("plan", "p.ks", "-o", "p.kir", cwd="sub")
        self.fault("plan", "-", "-o", "p.kir", stdin=self.PROGRAM, status=MISSING, says=["<stdin>:1:5:", "cannot open 'lib.ks'"])

    def test_a_fault_is_told_in_its_file(self):
        (self.dir / "lib.ks").write_text("def f(a) {\n  return a @ a @ a\n}\n")
        self.fault("plan", "p.ks", status=BAD, says=["lib.ks:2:16: error:", "in def 'f', called at p.ks:4:12", "return a @ a @ a"])

    def test_a_plan_explains_itself_without_the_file(self):
        self.kasen("plan", "p.ks", "-o", "p.kir")
        (self.dir / "lib.ks").unlink()
        self.kasen("partition", "--program", "p.kir", "x=x.npy", "--workers", "2", "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--verify", "all")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
