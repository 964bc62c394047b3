"""Programs of examples/ beside NumPy scripts, on one to six workers and over meshes; random numbers of the language."""
import sys

import h5py
import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ROOT, ToolTest  # noqa: E402

WORKERS = [("--workers", 1), ("--workers", 4, "-n", 2), ("--workers", 6)]
MESHES = [("--mesh", "2x2"), ("--mesh", "1x4")]
COLUMNS = ("--mesh", "4", "--layout", "A=[N,N/a]", "-n", 2)
FEATURES = ("--mesh", "4", "--layout", "X=[H,W/a]", "-n", 2)


def mix64(a, b):
    """SplitMix64's output number b + 1 from state a."""
    with numpy.errstate(over="ignore"):
        z = numpy.asarray(a).astype("u8") + (numpy.asarray(b).astype("u8") + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return (z ^ (z >> numpy.uint64(31))).astype("i8")


def keys(seed, *sizes):
    """The bits of random(seed, sizes...)."""
    bits = mix64(seed, 0)
    for size in sizes:
        bits = mix64(bits[..., None], numpy.arange(size))
    return bits


def unit(bits):
    return (bits >> 11) * 2.0**-53 + 0.5


def random(seed, *sizes):
    return unit(keys(seed, *sizes))


def normal(seed, *sizes):
    bits = keys(seed, *sizes)
    return numpy.sqrt(-2 * numpy.log(1 - unit(mix64(bits, 0)))) * numpy.cos(2 * numpy.pi * unit(mix64(bits, 1)))


def squares(x, c):
    return ((x[:, None] - c[None]) ** 2).sum(2)


class BesideNumPy(ToolTest):
    def setUp(self):
        super().setUp()
        self.numbers = numpy.random.default_rng(7)

    def entries(self, name, matrix):
        """A sparse input: Matrix Market."""
        rows, cols = numpy.nonzero(matrix)
        lines = ["%%MatrixMarket matrix coordinate real general", f"{matrix.shape[0]} {matrix.shape[1]} {len(rows)}"]
        (self.dir / f"{name}.mtx").write_text("\n".join(lines + [f"{i + 1} {j + 1} {matrix[i, j]:.17g}" for i, j in zip(rows, cols)]) + "\n")
        return f"{name}={name}.mtx"

    def whole(self, name, array):
        numpy.save(self.dir / f"{name}.npy", array)
        return f"{name}={name}.npy"

    def other(self, program, text, instead):
        """The example with one word changed: dense in place of sparse, or the other way round."""
        whole = (ROOT / "examples" / f"{program}.ks").read_text()
        self.assertIn(text, whole)
        (self.dir / f"{program}.ks").write_text(whole.replace(text, instead))
        return self.dir / f"{program}.ks"

    def agrees(self, program, inputs, wanted, *, define=(), layouts=(*WORKERS, *MESHES), close=1e-9, shown=lambda got: got):
        """The program's outputs are those wanted in all layouts; `shown` makes of them what is compared."""
        if isinstance(program, str):
            program = ROOT / "examples" / f"{program}.ks"
        define = [word for value in define for word in ("-D", value)]
        for layout in layouts:
            out, _ = self.kasen("go", program, *inputs, *define, *layout, "--top", 0, "--dir", "go", "-o", "out.h5")
            self.assertIn("Predicted and counted agree to the byte", out)
            with h5py.File(self.dir / "out.h5") as file:
                got = shown({name: file[name][()] for name in file if not name.endswith("_ids")})
            self.assertEqual(sorted(got), sorted(wanted))
            for name, value in wanted.items():
                numpy.testing.assert_allclose(got[name], value, rtol=close, atol=close * numpy.max(numpy.abs(value)), err_msg=f"{name} {layout}")

    def agrees_in_both(self, program, name, matrix, rest, wanted, columns, **options):
        """A program of a sparse matrix: over workers as it is, over meshes with a dense one."""
        self.agrees(program, [self.entries(name, matrix), *rest], wanted, layouts=WORKERS, **options)
        self.agrees(self.other(program, f"input {name} : f64", f"input {name} : dense f64"), [self.whole(name, matrix), *rest], wanted,
                    layouts=[columns, *MESHES], **options)
