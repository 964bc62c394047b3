#!/usr/bin/env python3
"""Files of others: HDF5 files made to do harm, and names that lead out of their folder.

Usage: foreign_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import resource
import shutil
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from tools_test import BAD, TOOLS, ToolTest  # noqa: E402

NO = 1  # what `verify` says of a file that is wrong
ROUNDS = 400 if os.environ.get("KASEN_FUZZ_AT_LENGTH") else 12


class Halves(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_128bits.restype = Halves
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def digest(data):
    halves = XXHASH.XXH3_128bits(data, len(data))
    return f"{halves.high:016x}{halves.low:016x}"


def dense(content):
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def little():
    """1 GiB beyond what the libraries map is more than any of these runs may take."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


class Foreign(ToolTest):
    """Each case is a bundle of one part whose digests are right, so that nothing but looking at it helps."""

    def setUp(self):
        super().setUp()
        self.prepare(workers=2)
        self.part = self.dir / "bundle" / "part-0001.h5"
        self.good = self.part.read_bytes()

    def seal(self):
        """The manifest with digests of the parts as they are now."""
        file = self.dir / "bundle" / "manifest.json"
        whole = json.loads(file.read_text())
        for part in whole["content"]["parts"]:
            data = (self.dir / "bundle" / part["file"]).read_bytes()
            part.update(bytes=len(data), digest=digest(data))
        for sealed in [whole] + [whole["told"]] * ("told" in whole):
            sealed["digest"] = digest(dense(sealed["content"]))
        file.write_text(json.dumps(whole, ensure_ascii=False))

    def rebuilt(self, change):
        self.part.write_bytes(self.good)
        with h5py.File(self.part, "r+") as f:
            change(f)
        self.seal()

    def refused(self, says, tool="verify"):
        command = {"verify": ["verify", "bundle"], "measure": ["measure", "fused.kir", "--bundle", "bundle"],
                   "run": ["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5"],
                   "ranks": ["run", "-n", 2, "fused.kir", "--bundle", "bundle", "-o", "r.h5"]}[tool]
        begin = time.monotonic()
        err = self.fault(*command, status=NO if tool == "verify" else BAD, says=["part-0001.h5", says], preexec_fn=None if tool == "ranks" else little)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotIn("r.h5", self.files())
        return err

    def test_what_a_manifest_says_does_not_act_on_the_terminal(self):
        file = self.dir / "bundle" / "manifest.json"
        whole = json.loads(file.read_text())
        whole["content"]["sources"] = ["G=\x1b[2Jweb.txt"]
        whole["told"]["content"]["notes"] = ["\x9bred"]
        file.write_text(json.dumps(whole, ensure_ascii=False))
        self.seal()
        out, _ = self.kasen("partition", "--stats", "bundle")
        self.assertIn("note: ??red\nfrom G=?[2Jweb.txt", out)
        self.assertNotRegex(out, "[\x1b\x80-\x9f]")

    def replaced(self, make, says, tool="verify"):
        """The masters' list is replaced by what `make` puts in its place."""
        def change(f):
            del f["dims/N/masters"]
            make(f["dims/N"])
        self.rebuilt(change)
        self.refused(says, tool)

    def low_level(self, dims, prepare=lambda plist: None, kind=h5py.h5t.STD_I64LE):
        def make(group):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            prepare(plist)
            h5py.h5d.create(group.id, b"masters", kind, h5py.h5s.create_simple(dims), plist)
        return make

    def test_a_resealed_bundle_is_good(self):
        """Else the cases below would be refused for another reason."""
        self.rebuilt(lambda f: None)
        self.kasen("verify", "bundle")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5")

    def test_links(self):
        n = len(h5py.File(self.part)["dims/N/masters"])
        with h5py.File(self.dir / "other.h5", "w") as f:
            f["x"] = numpy.arange(n)
        other = h5py.ExternalLink(str(self.dir / "other.h5"), "/x")
        for tool in ("verify", "measure", "run", "ranks"):
            self.replaced(lambda g: g.__setitem__("masters", other), "is a link to somewhere else", tool)
        self.replaced(lambda g: g.__setitem__("masters", h5py.SoftLink("/dims/N/others")), "is a link to somewhere else")
        self.replaced(lambda g: g.__setitem__("masters", h5py.SoftLink("masters")), "is a link to somewhere else")
        self.rebuilt(lambda f: f.__setitem__("unasked", other))
        self.refused("/unasked: is a link to somewhere else")
        self.rebuilt(lambda f: f["dims"].__setitem__("again", f["dims"]))
        self.refused("linked from elsewhere")
        self.rebuilt(lambda f: f["dims"].__setitem__("again", f["dims/N/masters"]))
        self.refused("linked from elsewhere")

    def test_elements_elsewhere(self):
        n = len(h5py.File(self.part)["dims/N/masters"])
        secret = self.dir / "secret"
        secret.write_bytes(numpy.arange(n, dtype="<i8").tobytes())
        outside = self.low_level((n,), lambda plist: plist.set_external(str(secret).encode(), 0, 8 * n))
        for tool in ("verify", "ranks"):
            self.replaced(outside, "lies in another file", tool)
        with h5py.File(self.dir / "other.h5", "w") as f:
            f["x"] = numpy.arange(n)
        layout = h5py.VirtualLayout((n,), "<i8")
        layout[:] = h5py.VirtualSource(str(self.dir / "other.h5"), "x", shape=(n,))
        self.replaced(lambda g: g.create_virtual_dataset("masters", layout), "is not contiguous")

    def test_sizes(self):
        for dims in [(1 << 40,), (1 << 33, 1 << 33)]:
            self.replaced(self.low_level(dims), "is longer than the file")
        mark = 0x1122334455
        self.replaced(self.low_level((mark,)), "is longer than the file")
        marked = self.part.read_bytes()
        for size in (1 << 61, 1 << 63, (1 << 64) - 1):  # more than the library itself would write
            self.part.write_bytes(marked.replace(mark.to_bytes(8, "little"), size.to_bytes(8, "little")))
            self.seal()
            self.refused("part-0001.h5")
        self.replaced(self.low_level((1,) * 32), "has a rank that is never written")
        self.replaced(self.low_level((8,)), "lies outside the file")  # never stored
        self.replaced(lambda g: g.create_dataset("masters", data=numpy.arange(7)), "has another shape")

    def test_filters(self):
        def zeros(plist):
            plist.set_chunk((1 << 27,))
            plist.set_deflate(9)
        self.replaced(self.low_level((1 << 34,), zeros), "is not contiguous")
        def bomb(group):
            group.create_dataset("masters", data=numpy.zeros(1 << 23, "<i8"), chunks=(1 << 23,), compression=9)
        self.replaced(bomb, "is not contiguous")
        def unknown(plist):
            plist.set_chunk((8,))
            plist.set_filter(h5py.h5z.FILTER_DEFLATE, h5py.h5z.FLAG_OPTIONAL, (9,))
        self.replaced(self.low_level((8,), unknown), "is not contiguous")
        data = self.part.read_bytes()  # the filter's number, made one of a plug-in
        at = data.find(b"\x0b\x00\x03\x00") if b"\x0b\x00\x03\x00" in data else data.find(b"\x01\x00\x07\x00\x01\x00\x01\x00deflate")
        if at >= 0:
            self.part.write_bytes(data[:at] + b"\x05\x7d" + data[at + 2:])
            self.seal()
            self.refused("part-0001.h5")

    def test_types(self):
        text = h5py.string_dtype()
        self.replaced(lambda g: g.create_dataset("masters", data=["a", "b"], dtype=text), "has a type that is never written")
        self.replaced(self.low_level((8,), kind=h5py.h5t.STD_I64BE), "has a type that is never written")
        self.replaced(lambda g: g.__setitem__("masters", numpy.dtype("i8")), "is no dataset")
        self.replaced(lambda g: g.create_group("masters"), "is missing")
        self.replaced(lambda g: g.__setitem__("masters", numpy.arange(8, dtype="<f8")), "has another type")

    def test_shapes_of_groups(self):
        def deep(f):
            for _ in range(200):
                f = f.create_group("g")
        self.rebuilt(deep)
        self.refused("lies too deep")
        def odd(f):
            f.create_group("a b")
        self.rebuilt(odd)
        self.refused("holds a name that is never written")
        self.rebuilt(lambda f: f.create_group("a\x1b[31mb"))
        self.assertNotIn("\x1b", self.refused("holds a name that is never written"))

    def test_bytes(self):
        for data in (b"", b"\x89HDF\r\n\x1a\n", self.good[:100], self.good[:len(self.good) // 2], b"\0" * 512 + self.good,
                     os.urandom(4096), self.good[:8] + b"\x09" + self.good[9:]):
            self.part.write_bytes(data)
            self.seal()
            self.refused("part-0001.h5")

    def test_flipped_metadata(self):
        """With digests that fit; each either refused or read as something well-formed, never a crash."""
        rng, refused = random.Random(11), 0
        for turn in range(ROUNDS):
            data = bytearray(self.good)
            for _ in range(rng.randint(1, 6)):
                data[rng.randrange(2048 if turn % 2 else len(data))] = rng.randrange(256)
            self.part.write_bytes(data)
            self.seal()
            done = self.kasen_any("verify", "bundle")
            self.assertIn(done.returncode, (0, NO), f"turn {turn}: {done.stderr}")
            if done.returncode != 0:
                refused += 1
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertGreater(refused, 0)

    def kasen_any(self, *args):
        import subprocess
        return subprocess.run([TOOLS / "kasen", *args], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False,
                              preexec_fn=little)


class Names(ToolTest):
    """None leads out of the folder in which it stands."""

    def test_links_in_the_folder(self):
        """The folder itself may be one: its user has named it. What it holds may not."""
        self.prepare(workers=2)
        (self.dir / "link").symlink_to("bundle")
        self.kasen("verify", "link")
        self.kasen("run", "fused.kir", "--bundle", "link", "-o", "r.h5")
        for name in ("part-0001.h5", "manifest.json"):
            file = self.dir / "bundle" / name
            file.rename(self.dir / name)
            file.symlink_to(self.dir / name)
            self.fault("verify", "bundle", status=NO, says=[name, "is a link"])
            self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "s.h5", status=BAD, says=[name, "is a link"])
            file.unlink()
            (self.dir / name).rename(file)
        part = self.dir / "bundle" / "part-0001.h5"
        part.unlink()
        os.mkfifo(part)
        self.fault("verify", "bundle", status=NO, says="is not a regular file")

    def test_names_in_manifests(self):
        self.prepare(workers=2)
        file = self.dir / "bundle" / "manifest.json"
        good = json.loads(file.read_text())
        names = ["../G", "/G", "a/b", "..", ".", "", "a\0b", "a\nb", "a b", "a\x1b[2Jb", "x" * 5000, "\u202eG"]
        def refused(change):
            whole = json.loads(json.dumps(good))
            change(whole["content"])
            whole["digest"] = digest(dense(whole["content"]))
            file.write_text(json.dumps(whole, ensure_ascii=False))
            err = self.fault("verify", "bundle", status=NO, says="manifest.json")
            self.assertNotIn("\x1b", err)
        for name in names:
            refused(lambda c, n=name: c["matrices"][0].update(name=n))
            refused(lambda c, n=name: c["dims"][0].update(name=n))
            refused(lambda c, n=name: c["parts"][1].update(file=n))
        refused(lambda c: c["parts"][1].update(file=str(self.dir / "bundle" / "part-0001.h5")))
        refused(lambda c: c["parts"][1].update(file="../bundle/part-0001.h5"))

    def test_names_in_plans(self):
        self.prepare(workers=2)
        plan = (self.dir / "fused.kir").read_text()
        above = self.files()
        (self.dir / "in").mkdir()
        for name in ["../pr", str(self.dir / "pr"), "x/../../pr", "..", "a b", "x" * 300, "a\\\\b", "\x1b[2J", "-"]:
            changed = plan.replace('output "pr"', f'output "{name}"')
            self.assertNotEqual(changed, plan)
            (self.dir / "in" / "odd.kir").write_text(changed)
            for form in ("csv", "npy", "hdf5"):
                self.fault("run", "odd.kir", "--bundle", "../bundle", "-o", "r", "--format", form, status=BAD, cwd="in",
                           says="a name that no program can have")
        self.assertEqual(sorted(p.name for p in (self.dir / "in").iterdir()), ["odd.kir"])
        self.assertEqual([f for f in self.files() if f != "in"], above)

    def test_names_in_checkpoints(self):
        self.prepare(workers=2)
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--checkpoint", "saved", "--every", 5)
        newest = sorted((self.dir / "saved").glob("checkpoint-*"))[-1]
        file = newest / "manifest.json"
        good = json.loads(file.read_text())
        shutil.copy(newest / "rank-0000.h5", self.dir / "rank-0000.h5")
        for name in ["../rank-0000.h5", "/rank-0000.h5", "rank-/../../rank-0000.h5", "rank-\0.h5", ""]:
            whole = json.loads(json.dumps(good))
            for part in whole["content"]["parts"]:
                part["file"] = name
            whole["digest"] = digest(dense(whole["content"]))
            file.write_text(json.dumps(whole))
            self.fault("verify", newest, status=NO, says="manifest.json")
        file.write_text(json.dumps(good))
        self.kasen("verify", newest)
        (newest / "rank-0000.h5").unlink()
        (newest / "rank-0000.h5").symlink_to(self.dir / "rank-0000.h5")
        self.fault("verify", newest, status=NO, says="is a link")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
