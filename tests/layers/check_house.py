#!/usr/bin/env python3
"""Measures how easily the tree takes what comes next, and fails where a figure is worse than its limit.

    check_house.py SOURCE_ROOT              prints the table: figure, now, limit, goal
    check_house.py SOURCE_ROOT --check      and ends with 1 where a figure is above its limit

A change that makes a figure smaller lowers its limit here, in the same commit.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOMS = ("libcore", "libopt", "libcomm", "libkernels", "tools", "datasets")
CODE = (".cpp", ".h", ".def", ".in")

# By what files would name one format of data files, and one of results: enumerator, row, functions, source, word.
FORMATS = {
    "data format `idx`": r"FileFormat::idx\b|READER\(idx\b|\w+_idx(?:_\w+)?\(|read/idx\.cpp|\"idx\"",
    "result format `npy`": r"ResultFormat::npy\b|RESULTS\(npy\b|make_npy_results|results/npy\.cpp",
}

# figure: (limit, goal)
LIMITS = {
    "product files that name operator `at`": (2, 6),
    "product files that name operator `fold_rows`": (2, 6),
    "product files that name function `tanh`": (0, 0),
    "product files that name function `pow`": (13, 6),
    "product files that name region kind `row_chain`": (3, 5),
    "files that name data format `idx`": (2, 3),
    "files that name result format `npy`": (2, 2),
    "files in one folder of libcore": (30, 30),
    "files in one folder of libcomm/data": (30, 30),
    "files in one folder of libopt": (30, 30),
    "files in one folder of libkernels": (30, 30),
    "files in one folder of tools": (30, 30),
    "product files over 400 lines": (0, 0),
    "rooms that write SVG": (1, 1),
    "build files' paths that lead to nothing": (0, 0),
    "docs: words of nine sentences in ten": (28, 28),
    "docs: sentences of more than 60 words": (0, 0),
}


class Tree:
    def __init__(self, root):
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True,
                               check=True).stdout.splitlines()
        self.root, self.names = root, [name for name in names if (root / name).is_file()]
        self.builds = {name: (root / name).read_text() for name in self.names if name.startswith(ROOMS) and name.endswith("meson.build")}
        self.all_builds = [name for name in self.names if name.endswith("meson.build")]
        self.product = {name: (root / name).read_text() for name in self.names if name.startswith(ROOMS) and name.endswith(CODE)}

    def naming(self, word):
        """Files whose code says it, of which generic tables are none."""
        pattern = re.compile(rf"\b{word}\b")
        return sum(bool(pattern.search(text)) for text in self.product.values())

    def naming_format(self, pattern):
        return sum(bool(re.search(pattern, text)) for text in (self.product | self.builds).values())

    def rooms_with(self, pattern):
        return len({name.rpartition("/")[0] for name, text in self.product.items() if re.search(pattern, text)})

    def broken_paths(self):
        """Paths out of a build file's folder to no file: what only an option builds is not seen by other builds."""
        for name in self.all_builds:
            folder = self.root / pathlib.Path(name).parent
            for path in re.findall(r"'(\.\./[^'@]*\.\w+)'", (self.root / name).read_text()):
                if not (folder / path).is_file():
                    yield f"{name}: {path}"

    def flat(self, folder):
        """The most files side by side in the folder or one below."""
        count = collections.Counter(name.rpartition("/")[0] for name in self.product if name.startswith(folder + "/"))
        return max(count.values())

    def sentences(self):
        """Words of each sentence of the pages, without code and tables."""
        for name in self.names:
            if not name.endswith(".md") or name.startswith(("tests/", "datasets/")):
                continue
            text = re.sub(r"^```.*?^```", "", (self.root / name).read_text(), flags=re.M | re.S)
            text = "\n".join("" if line.startswith(("|", "#", "<")) else re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "\n", line) for line in text.splitlines())
            for paragraph in re.split(r"\n\s*\n", text):
                for sentence in re.split(r"(?<=[.:?!])\s+(?=[A-Z`*\[])", " ".join(paragraph.split())):
                    if sentence:
                        yield len(sentence.split())


def figures(tree):
    for kind, enum, names in [("operator", "OpCode", ["at", "fold_rows"]), ("function", "ScalarOp", ["tanh", "pow"]),
                              ("region kind", "RegionKind", ["row_chain"])]:
        for name in names:
            yield f"product files that name {kind} `{name}`", tree.naming(f"{enum}::{name}")
    for what, pattern in FORMATS.items():
        yield f"files that name {what}", tree.naming_format(pattern)
    for folder in ["libcore", "libcomm/data", "libopt", "libkernels", "tools"]:
        yield f"files in one folder of {folder}", tree.flat(folder)
    yield "product files over 400 lines", sum(text.count("\n") > 400 for text in tree.product.values())
    yield "rooms that write SVG", tree.rooms_with(r"<(?:svg|path|line|polyline|polygon|rect|circle|text|tspan)\b")
    yield "build files' paths that lead to nothing", len(list(tree.broken_paths()))
    lengths = sorted(tree.sentences())
    yield "docs: words of nine sentences in ten", lengths[len(lengths) * 9 // 10]
    yield "docs: sentences of more than 60 words", sum(length > 60 for length in lengths)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tree = Tree(args.root.resolve())
    print(f"{'':50} {'now':>6} {'limit':>6} {'goal':>6}")
    worse = 0
    for figure, now in figures(tree):
        limit, goal = LIMITS[figure]
        worse += now > limit
        print(f"{figure:50} {now:6} {limit:6} {goal:6}{'  worse' if now > limit else ''}")
    for path in tree.broken_paths():
        print(path)
    lines = sum(text.count("\n") for text in tree.product.values())
    print(f"{'lines of product code':50} {lines:6}")
    sys.exit(1 if worse and args.check else 0)


if __name__ == "__main__":
    main()
