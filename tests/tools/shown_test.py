#!/usr/bin/env python3
"""What files hold does not act on a terminal: every way in (programs, IR, manifests, counters, data, YAML, names), every way out.

Usage: shown_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import PAGERANK, TOOLS, ToolTest  # noqa: E402

EVIL = "\x1b]0;title\x07\x1b[2J\u202eevil\u2066\x9b31m\u2028\x7f"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\ufffd")
NAME = "n\x1b[2J\u202e\x9b"  # of a file


class Shown(ToolTest):
    def setUp(self):
        super().setUp()
        self.outputs = 0

    def shown(self, *args, statuses=(0,), stdin=b"", **env):
        """Runs `kasen ARGS`: nothing acts on the terminal. Returns standard output."""
        done = subprocess.run([TOOLS / "kasen", *map(str, args)], cwd=self.dir, input=stdin, capture_output=True, timeout=100,
                              env={**os.environ, **env}, check=False)
        for stream in [done.stdout, done.stderr]:
            text = stream.decode("utf-8", errors="replace")  # what is no UTF-8 acts on other terminals
            found = ACTS.search(text)
            self.assertIsNone(found, f"{args}: {text[max(0, found.start() - 80):found.start() + 40]!r}" if found else "")
        self.assertIn(done.returncode, statuses, f"{args}: {done.stderr}")
        self.outputs += 1
        return done.stdout

    def evil_program(self, name="p.ks"):
        lines = PAGERANK.read_text().splitlines()
        lines = [line + f"  # {EVIL}" for line in lines]
        (self.dir / name).write_bytes("\n".join(lines).encode() + b"\n# \xff \x9b2J\r\n")
        return name

    def every_view_of(self, plan, fused, bundle):
        for view in [["--format", "text"], ["--format", "json"], ["--format", "html"], ["--format", "dot"], ["--explain"], ["--compare", plan]]:
            self.shown("measure", fused, "--bundle", bundle, *view)
        self.shown("fuse", plan, "--bundle", bundle, "--explain")
        for view in ["--print-memo", "--print-plans"]:
            self.shown("fuse", plan, "--strategy", "cost", view)
        self.shown("run", fused, "--bundle", bundle, "--top", 3, "-o", "r.h5", "--stats", "run.json")
        self.shown("measure", fused, "--bundle", bundle, "--against", "run.json")
        self.shown("measure", fused, "--bundle", bundle, "--against", "run.json", "--format", "json")

    def test_programs(self):
        """Their lines go through IR into every report; on standard output IR has the bytes that it has in a file."""
        program = self.evil_program()
        plan = self.shown("plan", program, "-o", "/dev/stdout")
        self.shown("plan", program, "-o", "plan.kir")
        strip = lambda text: re.sub(rb"(?m)^## .*$", b"", text)
        self.assertEqual(strip(plan), strip((self.dir / "plan.kir").read_bytes()))
        self.assertIsNone(ACTS.search((self.dir / "plan.kir").read_text()))
        fused = self.shown("fuse", stdin=plan)
        (self.dir / "fused.kir").write_bytes(fused)
        self.shown("verify", stdin=fused)
        self.shown("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "bundle")
        self.every_view_of("plan.kir", "fused.kir", "bundle")
        self.shown("run", "-n", 2, "fused.kir", "--bundle", "bundle", "--top", 3, "-o", "r.h5")
        self.shown("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--timeout", 1e-9, statuses=(69,))
        self.shown("go", program, "G=graph.txt", "--workers", 2)
        (self.dir / "wrong.ks").write_text(f"dim N\nx = y  # {EVIL}\n")
        for line in [f"x = y  # {EVIL}", f"{EVIL} = 1", f"input {EVIL} : f64", f"x = {EVIL}", f'"{EVIL}"']:
            (self.dir / "wrong.ks").write_text(f"dim N\n{line}\n")
            self.shown("plan", "wrong.ks", statuses=(65,))

    def test_ir_of_others(self):
        self.prepare(2)
        for name in ["plan.kir", "fused.kir"]:
            text = (self.dir / name).read_bytes()
            text = re.sub(rb"(?m)^\|", b"| " + EVIL.encode(), text)
            text = re.sub(rb"(?m)^## (?=kasen)", b"## " + EVIL.encode(), text)
            text = text.replace(b'source "', b'source "' + EVIL.encode())
            (self.dir / name).write_bytes(text)
        self.shown("fuse", "plan.kir")
        self.every_view_of("plan.kir", "fused.kir", "bundle")
        text = (self.dir / "plan.kir").read_text().splitlines()
        for n, line in enumerate(text):
            if line.startswith("|") or line.startswith("##") or '"' not in line and "%" not in line:
                continue
            (self.dir / "wrong.kir").write_text("\n".join([*text[:n], line.replace('"', f'"{EVIL}', 1).replace("%", f"%{EVIL}", 1), *text[n + 1:]]))
            self.shown("verify", "wrong.kir", statuses=(0, 1, 65))

    def texts_in(self, value, place=()):
        """The places of all texts in JSON."""
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
        found = [place] if isinstance(value, str) else []
        for key, below in items:
            found += self.texts_in(below, (*place, key))
        return found

    def replaced(self, whole, place):
        copy = json.loads(json.dumps(whole))
        at = copy
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = EVIL
        return copy

    def places(self, whole):
        """One of each kind."""
        kinds = {}
        for place in self.texts_in(whole):
            kinds.setdefault(tuple("#" if isinstance(key, int) else key for key in place), place)
        return list(kinds.values())

    def test_manifests_and_counters(self):
        from foreign_test import dense, digest
        self.prepare(2)
        self.shown("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
        file = self.dir / "bundle" / "manifest.json"
        whole = json.loads(file.read_text())
        any_of = (0, 1, 65)
        for place in self.places(whole):
            changed = self.replaced(whole, place)
            if place != ("digest",):
                changed["digest"] = digest(dense(changed["content"]))
            file.write_text(json.dumps(changed, ensure_ascii=False))
            self.shown("partition", "--stats", "bundle", statuses=any_of)
            self.shown("measure", "fused.kir", "--bundle", "bundle", "--format", "html", statuses=any_of)
            self.shown("verify", "bundle", statuses=any_of)
        file.write_text(json.dumps(whole, ensure_ascii=False))
        counters = json.loads((self.dir / "run.json").read_text())
        for place in self.places(counters):
            (self.dir / "other.json").write_text(json.dumps(self.replaced(counters, place), ensure_ascii=False))
            for view in [[], ["--format", "html"]]:
                self.shown("measure", "fused.kir", "--bundle", "bundle", "--against", "other.json", *view, statuses=any_of)

    def test_data(self):
        (self.dir / "table.ks").write_text("dim M\ninput a : f64[M], b : f64[M]\noutput s = sum(a + b)\n")
        self.shown("plan", "table.ks", "-o", "table.kir")
        any_of = (0, 65)
        for name, text in [("t.csv", f"a,{EVIL}\n1,2\n"), ("t.csv", f"a,b\n1,{EVIL}\n"), ("t.csv", f"a,b\n{EVIL},{EVIL}x\n"), ("t.csv", f"{EVIL}\n"),
                           ("t.txt", f"{EVIL} 1\n"), ("t.svm", f"1 1:{EVIL}\n"), ("t.npy", f"\x93NUMPY\x01\x00v\x00{EVIL}"),
                           ("t.mtx", f"%%MatrixMarket {EVIL} coordinate real general\n")]:
            (self.dir / name).write_text(text)
            for data in [[f"a={name}", f"b={name}"], [f"a+b={name}"]]:
                self.shown("partition", "--program", "table.kir", *data, "-o", "b", "--replace", statuses=(0, 64, 65))
        (self.dir / "g.txt").write_text(f"1 2\n{EVIL} 3\n")
        self.shown("partition", "G=g.txt", "-o", "b", "--replace", statuses=any_of)

    def test_names_and_configurations(self):
        program = self.evil_program(NAME + ".ks")
        (self.dir / "folder").mkdir()
        plan = f"folder/{NAME}.kir"
        self.shown("plan", program, "-o", plan)
        self.shown("verify", plan)
        for left in [f"folder/{NAME}.h5.tmp-123", f"folder/{NAME}"]:
            (self.dir / left).write_text("x")
        self.shown("verify", "folder")
        self.shown("partition", "--program", plan, "G=graph.txt", "--workers", 2, "-o", NAME)
        self.shown("partition", "--stats", NAME)
        self.shown("fuse", plan, "--bundle", NAME, "-o", "fused.kir")
        self.shown("run", "fused.kir", "--bundle", NAME, "-o", NAME + ".h5", "--stats", NAME + ".json", "--trace", NAME + ".trace")
        self.shown("go", program, "G=graph.txt", "--dir", NAME + "-run")
        usage = (64, 65, 66, 73, 78)
        for args in [["plan", EVIL], ["plan", f"--{EVIL}"], ["run", plan, "--bundle", EVIL], ["fuse", plan, "--strategy", EVIL], [EVIL], ["help", EVIL],
                     ["measure", plan, "--sizes", EVIL], ["run", "fused.kir", "--bundle", NAME, "-D", EVIL], ["plan", program, "-o", f"none/{EVIL}"],
                     ["doctor", "--only", EVIL], ["generate", EVIL]]:
            self.shown(*args, statuses=usage)
        for text in [f"{EVIL}: 1\n", f"workers: '{EVIL}'\n", f"workers: [{EVIL}\n", f"# {EVIL}\nworkers: x\n", f'workers: "\\e[2J\\u202e"\n']:
            (self.dir / "c.yaml").write_text(text)
            self.shown("partition", "--config", "c.yaml", statuses=usage)
            self.shown("experiment", "c.yaml", statuses=usage)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
