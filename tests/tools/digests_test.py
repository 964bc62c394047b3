#!/usr/bin/env python3
"""The digests of results: what h5py reads of a result that `kasen verify` calls right is what the run wrote.

Usage: digests_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from foreign_test import digest  # noqa: E402
from tools_test import TOOLS, ToolTest  # noqa: E402

PROGRAM = """dim N, K local
input G : f64[N, N], x : f64[N, K]
y = G @ sum(x, over K)
output y, near = (y, x @ sum(x, over N)), most = max(y), seen = y > 1
"""
AT_LENGTH = bool(os.environ.get("KASEN_FUZZ_AT_LENGTH"))
MASKS = [1 << b for b in range(8)] + [0xff] if AT_LENGTH else [0]  # 0: another bit of each byte


def content(file):
    """All that h5py reads, or why it does not."""
    try:
        with h5py.File(file, "r") as f:
            found = {"/": {k: f.attrs[k] for k in f.attrs}}
            def visit(name, thing):
                data = (thing.dtype.str, thing.shape, thing[()].tobytes()) if isinstance(thing, h5py.Dataset) else ()
                found[name] = (data, {k: thing.attrs[k] for k in thing.attrs})
            f.visititems(visit)
            return found
    except Exception as error:  # of the library: whatever it says of what it cannot read
        return repr(error)


class Digests(ToolTest):
    def setUp(self):
        super().setUp()
        (self.dir / "p.ks").write_text(PROGRAM)
        (self.dir / "g.txt").write_text("10 20 1.5\n20 40 2\n40 10 3\n40 20 0.25\n")
        (self.dir / "x.csv").write_text("1,2,3\n4,5,6\n7,8,9.5\n")
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        (self.dir / "ids.txt").write_text("0 1 1.5\n1 2 2\n2 0 3\n2 1 0.25\n")
        self.kasen("partition", "--program", "plan.kir", "G=ids.txt", "x=x.csv", "--workers", 3, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")

    def result(self, name, *ranks):
        self.kasen("run", *ranks, "fused.kir", "--bundle", "bundle", "-o", name)
        return (self.dir / name).read_bytes()

    def test_each_data_set_has_one(self):
        """Of its bytes, whatever the ranks; and the same result is the same file."""
        whole = self.result("r.h5")
        with h5py.File(self.dir / "r.h5") as f:
            sets = [f[name] for name in ("y", "near/0", "near/1", "most", "seen")]
            self.assertEqual([s.attrs["xxh3_128"].decode() for s in sets], [digest(s[()].tobytes()) for s in sets])
        self.assertEqual(self.kasen("verify", "r.h5")[0], "r.h5: right (a result of 4 arrays)\n")
        for ranks in 2, 3:
            self.assertEqual(self.result("ranks.h5", "-n", ranks), whole)

    def test_ids_have_one(self):
        (self.dir / "ids.ks").write_text("dim N\ninput G : f64[N, N]\none : f64[N] = 1\ny = G @ one\noutput y\n")
        self.kasen("go", "ids.ks", "G=g.txt", "--workers", 2)
        file = self.dir / "ids.run" / "result.h5"
        with h5py.File(file, "r+") as f:
            self.assertEqual(f["N_ids"].attrs["xxh3_128"].decode(), digest(f["N_ids"][()].tobytes()))
            f["N_ids"][1] += 1
        self.fault("verify", file, status=1, says=["was altered", "'N_ids'", "run the plan again"])

    def test_every_flipped_byte(self):
        self.flip(self.result("r.h5"))

    def test_a_flipped_byte_among_many_outputs(self):
        """A group of more than eight objects is stored in another way."""
        names = [f"out_{k}" for k in range(12)]
        (self.dir / "many.ks").write_text("dim N\ninput G : f64[N, N]\none : f64[N] = 1\ny = G @ one\n" +
                                          "".join(f"{name} = y * {k}.5\n" for k, name in enumerate(names)) + f"output {', '.join(names)}\n")
        self.kasen("go", "many.ks", "G=g.txt", "--workers", 1)
        os.replace(self.dir / "many.run" / "result.h5", self.dir / "r.h5")
        self.flip((self.dir / "r.h5").read_bytes(), every=1 if AT_LENGTH else 5)

    def flip(self, whole, every=1):
        expected = content(self.dir / "r.h5")
        folder = self.dir / "flipped"
        folder.mkdir()
        right = harmless = 0
        for begin in range(0, len(whole), 500):
            names = {}
            for at in range(begin, min(begin + 500, len(whole)), every):
                for mask in MASKS:
                    mutant = bytearray(whole)
                    mutant[at] ^= mask or 1 << at % 8
                    name = f"flipped/{at}-{mask}.h5"
                    (self.dir / name).write_bytes(mutant)
                    names[name] = at
            done = subprocess.run([TOOLS / "kasen", "verify", *names], cwd=self.dir, text=True, capture_output=True, check=False, timeout=300)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            said = done.stdout.splitlines()
            good = {line.split(":")[0] for line in said if ": right (" in line}
            self.assertEqual(len(good), len(said), said)
            for name, at in names.items():
                found = content(self.dir / name) if name in good else None
                self.assertTrue(found is None or found == expected, f"{name}: right, but h5py reads {found}")
                right += name in good
                (self.dir / name).unlink()
                harmless += 1
        # Each byte of values, names, types, shapes and attributes is told; room between them is not.
        self.assertGreater(right, 0)
        self.assertLess(right, harmless * 9 // 10)
        print(f"{harmless} flipped, {harmless - right} told, {right} in which h5py reads the same", file=sys.stderr)

    def test_without_digests(self):
        """Not called wrong, and not right; nor is a set that was put in later."""
        self.result("r.h5")
        with h5py.File(self.dir / "r.h5", "r+") as f:
            f["later"] = numpy.zeros(3)
        self.fault("verify", "r.h5", status=1, says=["'later' has no digest", "added later"])
        with h5py.File(self.dir / "r.h5", "r+") as f:
            del f["later"]
            for name in ("y", "near/0", "near/1", "most", "seen"):
                del f[name].attrs["xxh3_128"]
        self.assertEqual(self.kasen("verify", "r.h5")[0],
                         "r.h5: whole (a result of 4 arrays, without digests: altered values cannot be detected)\n")

    def test_a_digest_that_is_none(self):
        self.result("r.h5")
        for wrong in (b"0" * 31, b"x" * 32, 7, numpy.array([b"0" * 32] * 2), "0" * 32):
            with h5py.File(self.dir / "r.h5", "r+") as f:
                f["y"].attrs["xxh3_128"] = wrong
            self.fault("verify", "r.h5", status=1, says=["/y", "a digest that is never written"])

    def test_csv_and_npy_have_none(self):
        for name in "most.csv", "most.npy":
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r" + name[-4:])
        for name in "r.csv", "r.npy":
            self.fault("verify", name, status=1, says=["nothing to be checked against", "as HDF5"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
