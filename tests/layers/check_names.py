#!/usr/bin/env python3
"""Finds names that clash once several files are one unit (-Dunity=on): in unnamed namespaces of a library's or program's
.cpp files, a type or variable of one name, or a function of one name and the same parameters (defaults left away, too); and
such a name beside a public one of the same namespace. Compiled one by one, the files know nothing of each other. Of
public types of one name it finds two even in different libraries: a program that has both is wrong without a word.

universal-ctags finds the names, Meson the files of each target. Usage: check_names.py SOURCE_ROOT BUILD_ROOT
With `--self-test` it checks itself on wrong and right files.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

UNNAMED = re.compile(r"(^|::)__anon\w+")
TYPES = {"struct", "class", "enum", "union"}
# Whose value ctags may not understand; then it leaves out the name.
CONSTANT = re.compile(r"^((?:inline |static |constexpr |const )+[^=({;]*?\w+(?:\[[^\]\n]*\])?) = [^;]*;", re.M)
Name = collections.namedtuple("Name", "file line name kind space unnamed parameters needed pattern")


def parameters(tag):
    """The types of a function's parameters, without names; a template's by position. How many of them have no default."""
    signature = tag.get("signature", "()")
    text = signature[1:signature.rfind(")")]
    parts, depth, part = [], 0, ""
    for c in text + ",":
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    words = re.findall(r"(\w+)\s*(?:=[^,>]*)?[,>]", tag.get("template", ""))
    types = []
    needed = sum("=" not in part for part in parts)
    for part in parts:
        part = " ".join(part.split("=")[0].split())
        named = re.fullmatch(r"(.*[\s&*>])[A-Za-z_]\w*", part)
        if named and named[1].strip() not in ("", "const", "unsigned", "typename"):
            part = named[1]
        for place, word in enumerate(words):
            part = re.sub(rf"\b{word}\b", f"#{place}", part)
        types.append(re.sub(r"\s+", "", part))
    return types, needed


def further_names(value):
    """Of `1, b = f(2, 3), c = 4` what follows the first value: b, c."""
    depth, parts = 0, [""]
    for c in value:
        depth += (c in "({[") - (c in ")}]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [name[1] for part in parts[1:] if (name := re.match(r"\s*(\w+)(?:\[[^\]]*\])?\s*[={]", part))]


def in_one_line(match):
    """Lines keep their numbers."""
    value = match[0][len(match[1]) + 3:-1]
    names = "".join(f", {name} = 0" for name in further_names(value))
    return f"{match[1]} = 0{names};" + "\n" * match[0].count("\n")


def names_of(texts):
    """Of every file, what stands in namespaces."""
    with tempfile.TemporaryDirectory() as folder:
        for file, text in texts.items():
            path = pathlib.Path(folder) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(CONSTANT.sub(in_one_line, text))
        done = subprocess.run(["ctags", "--languages=C++", "--map-C++=+.h", "--kinds-C++=+p", "--fields=+nSZKse",
                               "--fields-C++=+{template}", "--sort=no", "--output-format=json", "-f", "-", "-L", "-"],
                              input="\n".join(sorted(texts)), cwd=folder, capture_output=True, text=True, check=True)
    found = collections.defaultdict(list)
    for tag in map(json.loads, done.stdout.splitlines()):
        scope = tag.get("scope", "")
        if tag["kind"] in ("namespace", "macro", "enumerator") or tag["name"].startswith("__anon"):
            continue
        if scope and tag.get("scopeKind") != "namespace" or "::" in tag["name"]:
            continue
        kind = "function" if tag["kind"] in ("function", "prototype") else tag["kind"]
        types, needed = parameters(tag) if kind == "function" else ([], 0)
        found[tag["path"]].append(Name(tag["path"], tag["line"], tag["name"], kind, UNNAMED.sub("", scope), bool(UNNAMED.search(scope)),
                                       types, needed, tag["pattern"]))
    return found


class Sources:
    def __init__(self, root, targets):
        self.root, self.targets = root, targets  # name -> .cpp files
        self.texts = {}
        wanted = sorted({file for files in targets.values() for file in files})
        for file in wanted:
            self.read(file)
        self.names = names_of(self.texts)

    def read(self, file):
        if file in self.texts or not (self.root / file).is_file():
            return
        self.texts[file] = (self.root / file).read_text()
        for header in self.includes(file):
            self.read(header)

    def includes(self, file):
        return re.findall(r'^#include "([^"]+)"', self.texts.get(file, ""), re.M)

    def headers(self, files):
        seen, left = set(), list(files)
        while left:
            for header in self.includes(left.pop()):
                if header not in seen:
                    seen.add(header)
                    left.append(header)
        return seen

    def clashes(self, files):
        """Of one target. What `using namespace` opens in one of its files is as good as global in all."""
        opened = {space for file in files for space in re.findall(r"^using namespace ([\w:]+);", self.texts.get(file, ""), re.M)}
        by_name = collections.defaultdict(list)
        for file in [*files, *sorted(self.headers(files))]:
            for name in self.names[file]:
                by_name["" if name.space in opened else name.space, name.name].append(name)
        return [pair for group in by_name.values() for pair in self.pairs(group)]

    @staticmethod
    def pairs(group):
        for at, one in enumerate(group):
            for other in group[at + 1:]:
                if one.file != other.file and (one.unnamed or other.unnamed) and clash(one, other):
                    yield one, other


def clash(one, other):
    if one.kind == "function" and other.kind == "function":
        least, most = max(one.needed, other.needed), min(len(one.parameters), len(other.parameters))
        return any(one.parameters[:count] == other.parameters[:count] for count in range(least, most + 1))
    if "typedef" in (one.kind, other.kind) and one.pattern == other.pattern:
        return False  # the same alias twice is none
    # A function hides a type of its name, as struct stat.
    return not (one.kind in TYPES and other.kind in TYPES and one.pattern.endswith(";$/") and one.pattern == other.pattern)


def is_public_type(name):
    """And said what it is made of, not only that there is one."""
    return name.kind in TYPES and not name.unnamed and not re.search(r";(\s*\\/\\/.*)?\$/$", name.pattern) and "template <>" not in name.pattern


def public_pairs(names):
    """Types of one name; tests are programs of their own."""
    by_name = collections.defaultdict(list)
    for file, found in sorted(names.items()):
        for name in found:
            if is_public_type(name) and not file.startswith(("tests/", "bench/")):
                by_name[name.space, name.name].append(name)
    for group in by_name.values():
        yield from ((group[0], other) for other in group[1:] if other.file != group[0].file)


def check(root, targets):
    sources = Sources(root, targets)
    told = set()
    for target, files in sorted(targets.items()):
        for one, other in sources.clashes(files):
            told.add(f"{one.file}:{one.line}: {one.kind} '{one.name}' clashes with {other.file}:{other.line} where both are one unit; rename one")
    for one, other in public_pairs(sources.names):
        told.add(f"{one.file}:{one.line}: {one.kind} '{one.name}' is another one than that of {other.file}:{other.line}; rename one")
    return sorted(told)


def joined(unit):
    """What a unit that Meson has made includes; files that a generator has made do not name others so."""
    text = unit.read_text() if "-unity" in unit.name and unit.is_file() else ""
    return [os.path.normpath(file) for file in re.findall(r'^#include\s*["<](/[^">]+)[">]', text, re.M)]


def targets_of(build, root):
    """Those that Meson may join, or has joined; the benchmarks are left file by file."""
    targets = {}
    for target in json.loads((build / "meson-info" / "intro-targets.json").read_text()):
        parts = target["target_sources"]
        files = [pathlib.Path(file) for part in parts for file in part.get("sources", [])]
        files += [pathlib.Path(file) for part in parts for unit in part.get("generated_sources", []) for file in joined(pathlib.Path(unit))]
        files = [file.relative_to(root).as_posix() for file in files if file.suffix == ".cpp" and file.is_relative_to(root)]
        files = [file for file in files if not file.startswith(("bench/", "build"))]
        if len(files) > 1:
            targets[target["id"]] = files
    return targets


WRONG = {
    "second constants": ("constexpr int a = f(1, 2), b = 2;", "constexpr int b = 3, c = 4;"),
    "types": ("struct A { int x; };", "class A {};"),
    "variables": ("constexpr int most = 3;", "constexpr double most = 4;"),
    "functions": ("int f(const char* text, int n) { return n; }", "void f(const char* words, int m) {}"),
    "templates": ("template <class T>\nint g(const T& t) { return 0; }", "template <class Range>\nint g(const Range& r) { return 1; }"),
    "a type and a function": ("struct B {};", "int B(int n) { return n; }"),
    "constants": ("constexpr int most = int{1} << 3;", "constexpr int most = 4;"),
    "defaults": ("int f(int n) { return n; }", "int f(int n, const char* words = nullptr) { return 1; }"),
    "public types": ("}\nstruct C {\n  int x;\n};\nnamespace {", "}\nstruct C {\n  double x;\n};\nnamespace {"),
    "public": ("int h(int n) { return n; }", "}\nint h(int m) { return m; }\nnamespace {"),
}
RIGHT = {
    "announced": ("}\nstruct C;\nnamespace {", "}\nstruct C {\n  double x;\n};\nnamespace {"),
    "overloads": ("int f(int n) { return n; }", "int f(double n) { return 1; }"),
    "aliases": ("using Words = int;", "using Words = int;"),
    "members": ("struct A { int size() { return 1; } };", "struct B { int size() { return 1; } };"),
    "names inside": ("int f() { int x = 1; return x; }", "int g() { int x = 1; return x; }"),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for cases, wanted in [(WRONG, True), (RIGHT, False)]:
            for case, pair in cases.items():
                for file, text in zip(["a.cpp", "b.cpp"], pair):
                    (root / file).write_text("namespace k {\nnamespace {\n" + text + "\n}  // namespace\n}  // namespace k\n")
                if bool(check(root, {"t": ["a.cpp", "b.cpp"]})) != wanted:
                    sys.exit(f"the checker itself is wrong about {case}")


if __name__ == "__main__":
    self_test()
    top = pathlib.Path(sys.argv[1]).resolve()
    units = targets_of(pathlib.Path(sys.argv[2]), top)
    faults = check(top, units)
    print("\n".join(faults))
    if not units:
        sys.exit("no targets found")
    print(f"{sum(map(len, units.values()))} files of {len(units)} targets, {len(faults)} clashes")
    sys.exit(1 if faults else 0)
