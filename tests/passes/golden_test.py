#!/usr/bin/env python3
"""Golden IR of every pass by itself: PASS/NAME.kir is what the pass is given, PASS/NAME.out.kir what it makes of it.

    golden_test.py FOLDER_OF_TOOLS                 compares all
    golden_test.py FOLDER_OF_TOOLS place           those of one pass
    golden_test.py FOLDER_OF_TOOLS --rewrite       writes the .out.kir anew: read the difference before it is committed

The second line of NAME.kir is the command and what the file shows:
`# kasen fuse --passes PASS [OPTION...]: SENTENCE`. BUNDLE among its options is a bundle of data for the file's inputs.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LEAST, LEAST_CHANGED = 10, 5  # of a pass
ROWS = 40
DATA = {"X": 4, "Y": 2, "x": 1, "y": 1, "v": None}  # columns of a table over N; v is one over X's columns


class Goldens:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, pathlib.Path(folder)

    def kasen(self, *args):
        done = subprocess.run([self.tools / "kasen", *map(str, args)], capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode != 0:
            raise SystemExit(f"kasen {' '.join(map(str, args))}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def passes(self):
        lines = self.kasen("fuse", "--list-passes").splitlines()[1:]
        return [line.split()[0] for line in lines if not line.startswith((" ", "steps:", "order:"))]

    def bundle(self, file):
        """Of few distinct numbers, so that a matrix gets smaller by being compressed."""
        inputs = re.findall(r'= input "(\w+)"', file.read_text())
        for name in inputs:
            rows, columns = (4, 1) if DATA[name] is None else (ROWS, DATA[name])
            lines = [",".join(str((i + j) % 2 + j) for j in range(columns)) for i in range(rows)]
            (self.folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        made = f"{file.parent.name}-{file.stem}"
        self.kasen("partition", "--program", file, *(f"{name}={name}.csv" for name in inputs), "--compress", "auto",
                   "--workers", 2, "-o", made)
        return made

    def run(self, file):
        command = re.fullmatch(r"# kasen fuse --passes ([\w-]+)((?: [\w=.,/:-]+?)*?): .+", file.read_text().splitlines()[1])
        if not command or command[1] != file.parent.name:
            raise SystemExit(f"{file}: its second line is not '# kasen fuse --passes {file.parent.name} ...: ...'")
        options = [self.bundle(file) if word == "BUNDLE" else word for word in command[2].split()]
        return self.kasen("fuse", file, "--no-history", "--passes", command[1], *options)


def module_of(text):
    return text[text.index("\nmodule "):]


def check(goldens, name, rewrite):
    """Sentences about what is wrong with a pass's files."""
    files = sorted(file for file in (HERE / name).glob("*.kir") if not file.name.endswith(".out.kir"))
    changed = 0
    for file in files:
        made, golden = goldens.run(file), file.with_suffix(".out.kir")
        changed += module_of(made) != module_of(file.read_text())
        if rewrite:
            golden.write_text(made)
        wanted = golden.read_text() if golden.exists() else ""
        if made != wanted:
            yield "".join(difflib.unified_diff(wanted.splitlines(True), made.splitlines(True), str(golden), "now"))
    if len(files) < LEAST or changed < LEAST_CHANGED:
        yield f"{name}: {len(files)} files, of which {changed} are changed; {LEAST} and {LEAST_CHANGED} are wanted\n"
    inputs = {file.name.replace(".out.kir", ".kir") for file in (HERE / name).glob("*.out.kir")}
    for left in sorted(inputs - {file.name for file in files}):
        yield f"{name}/{left}: there is what it becomes, but not the file\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("passes", nargs="*")
    parser.add_argument("--rewrite", action="store_true")
    args = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        goldens = Goldens(args.tools.resolve(), folder)
        known = goldens.passes()
        for name in args.passes or known:
            wrong += list(check(goldens, name, args.rewrite))
        strange = {path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"} - set(known)
        wrong += [f"tests/passes/{name}: no pass has this name\n" for name in sorted(strange)]
    sys.stdout.write("".join(wrong))
    print(f"{len(args.passes or known)} passes, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
