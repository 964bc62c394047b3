#!/usr/bin/env python3
"""kasen pack: packings that a checker of its own accepts, limits of memory and steps, and wrong files."""
import csv
import io
import json
import random
import sys
import unittest

sys.dont_write_bytecode = True
from tools_test import BAD, LIMIT, MISSING, USAGE, ToolTest  # noqa: E402

SIZE = 1 << 16


def cut(numbers, pieces):
    """A rectangle of 100 times by SIZE bytes in pieces, as (id, lower, upper, size): no pool is smaller than SIZE."""
    whole = [(0, 100, 0, SIZE)]
    while len(whole) < pieces:
        chosen = max((numbers.randrange(len(whole)) for _ in range(4)), key=lambda i: (whole[i][1] - whole[i][0]) * (whole[i][3] - whole[i][2]))
        lower, upper, bottom, top = whole.pop(chosen)
        if upper - lower > 1 and numbers.random() < 0.5:
            at = numbers.randrange(lower + 1, upper)
            whole += [(lower, at, bottom, top), (at, upper, bottom, top)]
        elif top - bottom > 1:
            at = numbers.randrange(bottom + 1, top)
            whole += [(lower, upper, bottom, at), (lower, upper, at, top)]
        else:
            whole.append((lower, upper, bottom, top))
    numbers.shuffle(whole)
    return [(f"b{i}", lower, upper, top - bottom) for i, (lower, upper, bottom, top) in enumerate(whole)]


def largest_live_set(buffers):
    return max(sum(size for _, lower, upper, size in buffers if lower <= moment < upper) for _, moment, _, _ in buffers)


class Pack(ToolTest):
    def write(self, buffers, name="buffers.csv"):
        lines = ["id,lower,upper,size"] + [",".join(map(str, buffer)) for buffer in buffers]
        (self.dir / name).write_text("\n".join(lines) + "\n")

    def offsets(self, text, buffers, alignments=None):
        """The size of the pool that the written offsets need; they are the input's buffers, and none overlaps another."""
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["id"], int(row["lower"]), int(row["upper"]), int(row["size"])) for row in rows], buffers)
        placed = [(int(row["lower"]), int(row["upper"]), int(row["offset"]), int(row["offset"]) + int(row["size"])) for row in rows]
        for i, (lower, upper, bottom, top) in enumerate(placed):
            self.assertGreaterEqual(bottom, 0)
            self.assertEqual(bottom % (alignments[i] if alignments else 1), 0)
            for lower2, upper2, bottom2, top2 in placed[:i]:
                if lower < upper2 and lower2 < upper:
                    self.assertFalse(bottom < top2 and bottom2 < top, "buffers overlap")
        return max((top for _, _, _, top in placed), default=0)

    def packed(self, buffers, *options):
        self.write(buffers)
        out, _ = self.kasen("pack", "buffers.csv", "--format", "json", "-o", "offsets.csv", *options)
        report = json.loads(out)
        text = (self.dir / "offsets.csv").read_text()
        self.assertTrue(text.startswith("id,lower,upper,size,offset\n"))
        self.assertEqual(report["size"], self.offsets(text, buffers))
        self.assertGreaterEqual(report["bound"], largest_live_set(buffers))
        self.assertLessEqual(report["bound"], report["size"])
        self.assertEqual(report["certified"], report["bound"] == report["size"])
        self.assertEqual(report["gap"], report["size"] - report["bound"])
        self.assertEqual(report["buffers"], len(buffers))
        return report

    def test_cut_rectangles(self):
        numbers = random.Random(1)
        for pieces in (1, 2, 20, 60):
            with self.subTest(pieces=pieces):
                report = self.packed(cut(numbers, pieces))
                self.assertEqual((report["size"], report["bound"], report["certified"]), (SIZE, SIZE, True))

    def test_random_buffers(self):
        numbers = random.Random(2)
        for count in (1, 5, 30, 200):
            lowers = [numbers.randrange(-50, 50) for _ in range(count)]
            buffers = [(f"b{i}", lower, lower + numbers.randrange(1, 30), 64 * numbers.randrange(0, 40)) for i, lower in enumerate(lowers)]
            with self.subTest(count=count):
                report = self.packed(buffers, "--steps", 20_000)
                self.assertLessEqual(report["steps"], 20_000)
                if report["certified"] and count <= 30:
                    self.assertGreaterEqual(report["size"], largest_live_set(buffers))

    def test_the_check_can_fail(self):
        with self.assertRaises(AssertionError):
            self.offsets("id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,3\n", [("a", 0, 2, 4), ("b", 1, 3, 4)])
        self.assertEqual(self.offsets("id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,4\n", [("a", 0, 2, 4), ("b", 1, 3, 4)]), 8)

    def test_memory(self):
        buffers = cut(random.Random(3), 40)
        self.assertLessEqual(self.packed(buffers, "--memory", 2 * SIZE)["size"], 2 * SIZE)
        self.assertEqual(self.packed(buffers, "--memory", "64KiB")["size"], SIZE)
        (self.dir / "offsets.csv").unlink()
        _, messages = self.kasen("pack", "buffers.csv", "--memory", SIZE - 1, "-o", "offsets.csv", status=LIMIT)
        self.assertIn(f"no packing within {SIZE - 1} bytes (--memory); there is none: every pool has at least {SIZE} bytes", messages)
        self.assertFalse((self.dir / "offsets.csv").exists())

    def test_too_few_steps(self):
        self.write(cut(random.Random(4), 200))
        _, messages = self.kasen("pack", "buffers.csv", "--memory", SIZE, "--steps", 0, status=LIMIT)
        self.assertIn(f"none was found in 0 steps, but there may be one: the bound is {SIZE} bytes", messages)
        self.assertIn("--steps", messages)

    def test_text_and_streams(self):
        text = "size,id,upper,lower\n4,a,2,0\n4,b,3,1\n"
        out, _ = self.kasen("pack", "-", stdin=text)
        self.assertEqual(out, "buffers    2\nsize       8 bytes\nbound      8 bytes\ncertified  yes: no pool is smaller\n"
                              "gap        0 bytes, 0.00 %\nsteps      0\n")
        out, messages = self.kasen("pack", "-", "-o", "-", stdin=text)
        self.assertEqual(self.offsets(out, [("a", 0, 2, 4), ("b", 1, 3, 4)]), 8)
        self.assertIn("certified  yes", messages)
        self.assertIn("size       0 bytes", self.kasen("pack", "-", stdin="id,lower,upper,size\n")[0])

    def test_alignments(self):
        buffers = [("a", 0, 5, 3), ("b", 0, 5, 8), ("c", 4, 9, 1)]
        text = "id,lower,upper,size,alignment\na,0,5,3,8\nb,0,5,8,8\nc,4,9,1,1\n"
        out, _ = self.kasen("pack", "-", "-o", "-", stdin=text)
        self.assertTrue(out.startswith("id,lower,upper,size,alignment,offset\n"))
        self.assertLessEqual(self.offsets(out, buffers, [8, 8, 1]), 16)

    def test_equal_input_gives_equal_output(self):
        self.write(cut(random.Random(5), 150))
        for name in ("one.csv", "two.csv"):
            self.kasen("pack", "buffers.csv", "--steps", 30_000, "-o", name)
        self.assertEqual((self.dir / "one.csv").read_bytes(), (self.dir / "two.csv").read_bytes())

    def test_wrong_files(self):
        head = "id,lower,upper,size\n"
        for text, place in [("", "wrong.csv: "), ("id,lower,upper\n", "wrong.csv:1:1: "), ("id,lower,upper,sise\n", "wrong.csv:1:16: "),
                            (head + "a,0,1\n", "wrong.csv:2:5: "), (head + "a,0,x,1\n", "wrong.csv:2:5: "), (head + "a,3,3,1\n", "wrong.csv:2:5: "),
                            (head + "a,0,1,4\nb,0,1,-4\n", "wrong.csv:3:7: "), (head + "a,0,1,99999999999999999999\n", "wrong.csv:2:7: ")]:
            (self.dir / "wrong.csv").write_text(text)
            with self.subTest(text=text):
                _, messages = self.kasen("pack", "wrong.csv", "-o", "none.csv", status=BAD)
                self.assertIn(place, messages)
                self.assertFalse((self.dir / "none.csv").exists())
        self.assertIn("<stdin>:2:5: ", self.kasen("pack", "-", stdin=head + "a,0,x,1\n", status=BAD)[1])
        self.kasen("pack", "-", stdin=head + f"a,0,1,{2**62}\nb,0,1,{2**62}\n", status=LIMIT)

    def test_wrong_options(self):
        self.write([("a", 0, 2, 4)])
        for words, status, text in [([], USAGE, "no buffers"), (["none.csv"], MISSING, "none.csv"), (["buffers.csv", "--memory", "much"], USAGE, "memory"),
                                    (["buffers.csv", "--steps", -1], USAGE, "steps"), (["buffers.csv", "--format", "yaml"], USAGE, "yaml"),
                                    (["buffers.csv", "-o", "buffers.csv"], USAGE, "buffers.csv")]:
            with self.subTest(text=text):
                self.assertIn(text, self.kasen("pack", *words, status=status)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
