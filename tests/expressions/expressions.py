#!/usr/bin/env python3
"""The table of docs/expressions.md: every expression of table.py is planned for a large matrix, run on a small one beside NumPy, and
counted: the passes over data as large as the matrix, and the bytes that are read. The run counts its bytes, too.

Usage: expressions.py FOLDER_OF_TOOLS SOURCE_ROOT [--rewrite] [--only TEXT]

The exit status is 1 if results differ from NumPy's or the table from that of the page, which --rewrite replaces. --only runs the
expressions with TEXT in them, and prints their lines.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from table import CELLS, OUTER, PRODUCTS, ROWS, TABLE, TWO, softmax  # noqa: E402

LARGE = {"N": 1_000_000, "F": 100, "K": 5}  # what plans are for
STORED = 0.01                               # of a sparse matrix there
SMALL = {"N": 1000, "F": 20, "K": 5}        # what runs
INPUTS = {"X": "NF", "G": "NF", "Y": "NF", "Z": "NF", "P": "NF", "A": "NF", "V": "FK", "W": "FK", "U": "NK", "Q": "NK", "B": "KK", "C": "KF",
          "T": "KF", "u": "N", "w": "N", "y": "N", "v": "F", "c": "K"}
SECTIONS = [("Cells", CELLS), ("Rows", ROWS), ("Rows and products", PRODUCTS), ("Outer products", OUTER), ("Two sparse matrices", TWO)]
SPARSE = "sr"
MATRICES = "XG"                             # which are sparse there
REFUSED = 65                                # the status of a program that is refused
FORMS = {"d": "dense", "s": "sparse", "r": "sparse rows"}


class Refused(Exception):
    """A program that is refused, with the message."""


class Wrong(Exception):
    """A tool that fails, or a result that is not NumPy's."""


class Data:
    """All inputs: as numbers, and as files of a folder."""

    def __init__(self, form, folder):
        rng = np.random.default_rng(5)
        for name, dims in INPUTS.items():
            self.__dict__[name] = rng.normal(size=[SMALL[dim] for dim in dims])
        for name in ("A", "V", "W", "U", "Q", "u", "w"):
            self.__dict__[name] = abs(self.__dict__[name]) + 0.01
        self.P, self.y, self.s = softmax(self.P), np.sign(self.y), 0.3
        self.V, self.W = self.V / 5, self.W / 5
        if form in SPARSE:
            for name in MATRICES:
                self.__dict__[name] = np.where(rng.random(self.X.shape) < 0.1, self.__dict__[name], 0)
        folder.mkdir()
        self.files = []
        for name in INPUTS:
            self.files.append(f"{name}={name}.npy")
            np.save(folder / f"{name}.npy", self.__dict__[name])
        if form in SPARSE:
            for number, name in enumerate(MATRICES):
                array = self.__dict__[name]
                (folder / f"{name}.txt").write_text("".join(f"{i} {j} {array[i, j]:.17g}\n" for i, j in np.argwhere(array)))
                self.files[number] = f"{name}={name}.txt"


def named(text):
    """The inputs that a text names."""
    return [name for name in INPUTS if re.search(rf"\b{name}\b", text)]


def program(form, text, names):
    """The text as a program. Columns are local where X is dense, or has whole sparse rows."""
    local = "" if form == "s" else " local"
    kinds = {name: "" if name in MATRICES or len(dims) == 1 else "dense " for name, dims in INPUTS.items()}
    if form == "r":
        kinds |= dict.fromkeys(MATRICES, "sparse ")
    inputs = [f"input {name} : {kinds[name]}f64[{', '.join(INPUTS[name])}]" for name in names]
    *statements, outputs = text.split("; ")
    outputs = [f"output e{i} = {output}" for i, output in enumerate(outputs.split(" and "))]
    return "\n".join([f"dim N, F{local}, K local = {LARGE['K']}", "param s = 0.3", *inputs, *statements, *outputs]) + "\n"


class Runner:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.data = {}
        for form in FORMS:
            self.data[form] = Data(form, folder / form)
            every = program(form, " and ".join(f"sum({name})" for name in INPUTS), list(INPUTS))
            (folder / form / "every.ks").write_text(every)
            self.kasen(folder / form, "plan", "every.ks", "-o", "every.kir")
            sizes = [word for dim in "NF" for word in ("--dim", f"{dim}={SMALL[dim]}")]
            self.kasen(folder / form, "partition", "--program", "every.kir", *self.data[form].files, "--workers", "2", *sizes, "-o", "bundle")

    def kasen(self, folder, *words):
        done = subprocess.run([self.tools / "kasen", *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == REFUSED:
            raise Refused(done.stderr)
        if done.returncode:
            raise Wrong(f"kasen {' '.join(map(str, words))} ends with status {done.returncode}: {done.stderr}")
        return done.stdout

    def row(self, form, text, wanted):
        """The cells of a table's row for one form."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        names = named(text)
        (folder / "p.ks").write_text(program(form, text, names))
        try:
            self.kasen(folder, "plan", "p.ks", "-o", "plan.kir")
        except Refused as refused:
            return f"refused: {reason(str(refused))}"
        patterns = patterns_of((folder / "plan.kir").read_text())
        self.kasen(folder, "fuse", "plan.kir", "--strategy", "cost", *sizes_of(form, names, patterns), "-o", "fused.kir")
        fused = (folder / "fused.kir").read_text().partition("module")[2]  # behind the command
        report = json.loads(self.kasen(folder, "measure", "fused.kir", *sizes_of(form, names, patterns, fused), "--format", "json"))
        bundle = self.folder / form / "bundle" if not patterns else self.bundle_of(form, folder)
        self.kasen(folder, "run", "fused.kir", "--bundle", bundle, "-o", "r.h5", "--stats", "run.json", "--threads", 1)
        self.kasen(folder, "measure", "fused.kir", "--bundle", bundle, "--against", "run.json", "--check")
        compare(folder / "r.h5", wanted(self.data[form]))
        read = report["program_actual"]["read_bytes"]["value"]
        return f"{passes(report, (folder / 'fused.kir').read_text(), names)}, {read / least(form, names):.2f}"


    def bundle_of(self, form, folder):
        """One that has the patterns of this plan."""
        needed = set(named((folder / "p.ks").read_text()))
        files = [f"{file[0]}={self.folder / form / file[2:]}" for file in self.data[form].files if file[0] in needed]
        sizes = [word for dim in "NF" for word in ("--dim", f"{dim}={SMALL[dim]}")]
        self.kasen(folder, "partition", "--program", "plan.kir", *files, "--workers", "2", *sizes, "-o", "bundle")
        return folder / "bundle"


def patterns_of(plan):
    """Those that partition makes of the matrices' own."""
    return [name for name in re.findall(r'= input "([^"]+)" : .*sparse', plan) if name not in MATRICES]


def entries_of(pattern):
    """By chance, independent of each other; of a product over [F, F] all. In most rows and columns the first place stores nothing."""
    own = int(STORED * LARGE["N"] * LARGE["F"])
    if "~" in pattern:
        return LARGE["F" if "'" in pattern else "N"]
    return {"|": 2 * own, "&": int(STORED * own), "@": LARGE["F"] ** 2}[re.search("[|&@]", pattern)[0]]


def sizes_of(form, names, patterns, plan=None):
    """Of ghosts as far as the plan has any; values alone need none."""
    sizes = {"N": LARGE["N"], "P": 1}
    if any("F" in INPUTS[name] for name in names):
        sizes["F"] = LARGE["F"]
    matrices = [name for name in MATRICES if form in SPARSE and name in names]
    single = len(matrices) == 1 and not patterns
    for name in matrices:
        sizes["nnz" if single else f"nnz({name})"] = int(STORED * LARGE["N"] * LARGE["F"])
    sizes.update({f"nnz({pattern})": entries_of(pattern) for pattern in patterns})
    if form == "s" and plan is None:
        sizes.update({f"S({name}.{axis})": 0 for name in [*matrices, *(f'"{pattern}"' for pattern in patterns)] for axis in ("rows", "cols")})
    for ghosts in set(re.findall(r"\{([^{}]*\.(?:rows|cols))\}", plan or "")):
        sizes[f"S({ghosts.replace(', ', ',')})"] = 0
    return ["--sizes", ",".join(f"{name}={size}" for name, size in sizes.items())]


def reason(message):
    """The message of a refusal, without its place and its advice."""
    text = re.search(r"error: (.*)", message)[1]
    return text.split(";")[0]


def array_of(item):
    """A result as an array: a group holds the rows, columns and values of a sparse one."""
    if isinstance(item, h5py.Dataset):
        return item[()]
    array = np.zeros(json.loads(item.attrs["matrix"])["shape"])
    rows, columns, values = (item[str(part)][()] for part in range(3))
    array[rows, columns] = values
    return array


def compare(path, wanted):
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    with h5py.File(path) as file:
        for i, value in enumerate(wanted):
            got, value = array_of(file[f"e{i}"]), np.asarray(value)
            if got.shape != value.shape:
                raise Wrong(f"output {i} has the shape {got.shape}, and NumPy's {value.shape}")
            if not np.allclose(got, value, rtol=1e-9, atol=1e-9 * np.max(np.abs(value))):
                raise Wrong(f"output {i} is off by {np.max(np.abs(got - value))}")
        if f"e{len(wanted)}" in file:
            raise Wrong("the program has an output more than NumPy")


def dims_of(plan):
    """The dimensions of every value outside of regions, by its name."""
    found = {}
    for names, types in re.findall(r"^ +(%[^=]*?) = .* : ([^:]*?) at [^ ]+(?: \{)?$", plan, re.MULTILINE):
        dims = re.findall(r"(?:\[([A-Za-z_,]*)\])? (?:sparse )?@", types)
        for name, of in zip(names.split(", "), dims):
            found[name.lstrip("%")] = of.replace(",", "")
    return found


def passes(report, plan, names):
    """The operators that read an array as large as the largest input, or a sparse matrix, or the values of one."""
    dims = dims_of(plan)
    size = max((np.prod([LARGE[dim] for dim in INPUTS[name]]), INPUTS[name]) for name in names)[1]
    count = 0
    for operator in report["operators"]:
        what = operator["operator"].split(" = ")[-1]
        reads = operator.get("actual", {}).get("read_bytes", {}).get("value", 0)
        moves = re.match(r"(gather|scatter|output|input)\b", what)
        count += bool(reads and not moves and any(dims.get(word, "").endswith("entries") or dims.get(word) == size for word in re.findall(r"[\w.]+", what)))
    return count


def least(form, names):
    """The bytes of all inputs once: 8 for a number, 12 for a stored entry."""
    return sum((12 * STORED if form in SPARSE and name in MATRICES else 8) * np.prod([LARGE[dim] for dim in INPUTS[name]]) for name in names)


def forms_of(forms):
    """What is sparse is also run with local columns."""
    return forms + "r" if "s" in forms else forms


def lines_of(rows, results):
    made = ["| expression | template | dense | sparse | sparse rows |", "| --- " * 5 + "|"]
    for number, (template, forms, text, _) in rows:
        cells = [results[number, form] if form in forms_of(forms) else "" for form in FORMS]
        shown = text.replace("|", "\\|")
        made.append(f"| `{shown}` | {template} | {' | '.join(cells)} |")
    return made


def measured(runner, only):
    chosen = [(number, row) for number, row in enumerate(TABLE) if only is None or only in row[2]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {(number, form): pool.submit(runner.row, form, row[2], row[3]) for number, row in chosen for form in forms_of(row[1])}
        results, wrong = {}, 0
        for (number, form), job in jobs.items():
            try:
                results[number, form] = job.result()
            except Wrong as fault:
                wrong += 1
                print(f"{TABLE[number][2]} ({FORMS[form]}): {fault}")
    if wrong:
        sys.exit(f"{wrong} of {len(jobs)} are wrong")
    return chosen, results


def in_numbers(results):
    """A line for each form: how many read all once, more often, or are refused."""
    text = ["| form | expressions | one pass | two | three or more | bytes up to 1.05 of the least | refused |", "| --- " * 7 + "|"]
    for form, name in FORMS.items():
        cells = [cell for (_, of), cell in results.items() if of == form]
        counted = [(int(cell.split(",")[0]), float(cell.split(",")[1])) for cell in cells if not cell.startswith("refused")]
        times = [passes for passes, _ in counted]
        near = sum(ratio <= 1.05 for _, ratio in counted)
        text.append(f"| {name} | {len(cells)} | {times.count(1)} | {times.count(2)} | {sum(n > 2 for n in times)} | {near} | {len(cells) - len(times)} |")
    return text


def page_of(chosen, results):
    text, first = ["## In numbers", "", *in_numbers(results), ""], 0
    for title, rows in SECTIONS:
        text += [f"## {title}", "", *lines_of([entry for entry in chosen if first <= entry[0] < first + len(rows)], results), ""]
        first += len(rows)
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tools", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--only")
    asked = parser.parse_args()
    os.environ.pop("KASEN_PROFILE", None)  # plans are those of no machine in particular
    with tempfile.TemporaryDirectory() as folder:
        chosen, results = measured(Runner(asked.tools, pathlib.Path(folder)), asked.only)
    if asked.only is not None:
        return print("\n".join(lines_of(chosen, results)))
    path = asked.root / "docs" / "expressions.md"
    page = path.read_text(encoding="utf-8")
    start = page.index("## In numbers\n")
    made = page[:start] + page_of(chosen, results)
    if asked.rewrite:
        return path.write_text(made, encoding="utf-8")
    if made != page:
        print("\n".join(difflib.unified_diff(page.split("\n"), made.split("\n"), "docs/expressions.md", "this run", lineterm="", n=0)))
        sys.exit("docs/expressions.md has other numbers; if these are as they should be, run this with --rewrite")


if __name__ == "__main__":
    main()
