#!/usr/bin/env python3
"""How many small faults of the product do its tests find?

    mutation.py SOURCE_ROOT FOLDER                     builds in FOLDER, tries all mutants, prints a table and the score
    mutation.py SOURCE_ROOT FOLDER --only 3,17-20      some of them; --category passes: those of one kind
    mutation.py SOURCE_ROOT FOLDER --build-only
    mutation.py SOURCE_ROOT FOLDER --least 95          status 1 where fewer of a hundred are found
    mutation.py SOURCE_ROOT FOLDER --texts             only looks whether each mutant's text stands in its file, once

mutants.py has the faults. All of them are built into one copy of the tree, each behind a question of the environment
(KASEN_MUTANT=NUMBER), so that one build serves all: `E` becomes `(::kasen::mutant(7) ? (M) : (E))`. A mutant is found
where a detector fails, runs into its limit of time, or dies; detectors run one after the other until one does. The table
names the first that did. Without a mutant every detector has to pass, and that is tried first.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, namedtuple

from mutants import MUTANTS

HEADER = """#pragma once
#include <cstdlib>
namespace kasen {
inline bool mutant(int number) {
  static const int chosen = std::getenv("KASEN_MUTANT") != nullptr ? std::atoi(std::getenv("KASEN_MUTANT")) : -1;
  return chosen == number;
}
}  // namespace kasen
"""

Detector = namedtuple("Detector", "name command seconds")
RUNNER = "tests/random/run-programs"
UNIT = ["tests/core/test-core", "tests/data/test-data", "tests/kernels/test-kernels", "tests/opt/test-opt", "tests/opt/test-opt-runs"]
EXCHANGE = ["tests/exchange/test-mpi", "tests/exchange/test-mpi-plans"]  # of three ranks
OWN = {"libcore": ["test-core"], "libkernels": ["test-kernels"], "libopt": ["test-opt", "test-opt-runs"],
       "libcomm": ["test-mpi", "test-mpi-plans", "test-data"]}


def own_first(mutant, all_detectors):
    """A few random programs, then the tests of the library that the fault is in, then all others."""
    own = OWN[mutant.file.split("/")[0]]
    return sorted(all_detectors, key=lambda d: 0 if d == all_detectors[0] else 1 if d.name in own else 2)


def detectors(tree, build):
    """Fastest at finding first. Each says by its status whether all is right."""
    programs = [sys.executable, tree / "tests/random/random_programs.py", build / RUNNER, "--no-shrink", "--programs"]
    ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"]
    return [Detector("random-programs", [*programs, "40"], 300)] + \
        [Detector(pathlib.Path(unit).name, [build / unit, "--gtest_filter=-Long*"], 900) for unit in UNIT] + \
        [Detector(pathlib.Path(each).name, [*ranks, build / each], 300) for each in EXCHANGE] + \
        [Detector("random-programs-300", [*programs, "300"], 1200)]


def place_of(text, number, mutant):
    """Where the marked expression stands in the file, and what is built for it."""
    before, rest = mutant.original.split("⟦")
    expression, behind = rest.split("⟧")
    whole = before + expression + behind
    if text.count(whole) != 1:
        raise SystemExit(f"mutant {number}: its text stands {text.count(whole)} times in {mutant.file}: {whole!r}")
    begin = text.index(whole) + len(before)
    if expression.rstrip().endswith(";"):
        made = f"if (::kasen::mutant({number})) {{ {mutant.replaced} }} else {{ {expression} }}"
    else:
        made = f"(::kasen::mutant({number}) ? ({mutant.replaced}) : ({expression}))"
    return begin, begin + len(expression), made


def rewritten(text, mutants):
    """The file with all of its mutants: of each the place in the text as it is."""
    places = sorted(place_of(text, number, mutant) for number, mutant in mutants)
    for (_, end, _), (begin, _, made) in zip(places, places[1:]):
        if begin < end:
            raise SystemExit(f"two mutants in one expression: {made}")
    for begin, end, made in reversed(places):
        text = text[:begin] + made + text[end:]
    return text


def write_if_changed(path, text):
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def numbered_by_file():
    by_file = {}
    for number, mutant in enumerate(MUTANTS):
        by_file.setdefault(mutant.file, []).append((number, mutant))
    return by_file


def copy_tree(source, tree):
    """The files that git knows, with the mutants in; what did not change keeps its time, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=source, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    by_file = numbered_by_file()
    for name in names:
        if not (source / name).is_file() or (source / name).is_symlink():
            continue
        if name not in by_file:
            if not (tree / name).exists() or (tree / name).read_bytes() != (source / name).read_bytes():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, tree / name)
            continue
        text = rewritten((source / name).read_text(), by_file[name])
        write_if_changed(tree / name, f'#include "libcore/mutant.h"\n{text}')
    write_if_changed(tree / "libcore/mutant.h", HEADER)


def build(tree, jobs):
    folder = tree / "build"
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", "build", "-Dunity=off", "-Dwerror=false"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    lock = ["flock", "/tmp/build.lock"] if os.environ.get("KASEN_BUILD_LOCK") else []
    subprocess.run([*lock, "ninja", "-C", "build", f"-j{jobs}", RUNNER, *UNIT, *EXCHANGE], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return folder


def text_of(file):
    return os.pread(file.fileno(), 1 << 24, 0)


def run(detector, tree, number):
    """Why the detector is not content, or nothing. A random program that fails ends its detector at once."""
    env = {**os.environ, "GTEST_FAIL_FAST": "1", "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(tree / "cache")}
    env.pop("KASEN_MUTANT", None)
    if number is not None:
        env["KASEN_MUTANT"] = str(number)
    with tempfile.TemporaryFile() as told:
        child = subprocess.Popen(list(map(str, detector.command)), cwd=tree, env=env, stdout=told, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        end = time.time() + detector.seconds
        while child.poll() is None and time.time() < end and b"\nseed " not in b"\n" + text_of(told):
            time.sleep(0.1)
        found = child.poll() is None
        if found:
            os.killpg(child.pid, 9)
            child.wait()
        text = text_of(told).decode(errors="replace")
    if found:
        failed = [line for line in text.splitlines() if line.startswith("seed ")]
        return failed[0].replace("shrunk", "")[:60] if failed else f"no end in {detector.seconds} s"
    if child.returncode == 0:
        return None
    failed = [line.split("]")[1].strip() for line in text.splitlines() if line.startswith("[  FAILED  ]")]
    return failed[0].split(" (")[0] if failed else f"status {child.returncode}"


def chosen(args):
    numbers = range(len(MUTANTS))
    if args.only:
        numbers = [n for part in args.only.split(",") for first, _, last in [part.partition("-")]
                   for n in range(int(first), int(last or first) + 1)]
    return [n for n in numbers if not args.category or MUTANTS[n].category == args.category]


def try_mutant(number, all_detectors, tree):
    for detector in all_detectors:
        why = run(detector, tree, number)
        if why:
            return detector.name, why
    return None, None


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--category")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--record", type=pathlib.Path, help="what was found, as JSON; mutants in it are not tried again")
    return parser.parse_args()


def main():
    args = options()
    if args.texts:
        for file, mutants in numbered_by_file().items():
            rewritten((args.source / file).read_text(), mutants)
        return 0
    tree = args.folder.resolve()
    copy_tree(args.source.resolve(), tree)
    folder = build(tree, args.jobs)
    if args.build_only:
        return 0
    all_detectors = detectors(tree, folder)
    known = json.loads(args.record.read_text()) if args.record and args.record.exists() else {}
    for detector in all_detectors if not known else []:
        why = run(detector, tree, None)
        if why:
            raise SystemExit(f"{detector.name} fails without a mutant: {why}")
    score, survivors = Counter(), []
    for number in chosen(args):
        mutant = MUTANTS[number]
        key = json.dumps(mutant, ensure_ascii=False)
        began = time.time()
        name, why = known.get(key) or try_mutant(number, own_first(mutant, all_detectors), tree)
        known[key] = [name, why]
        if args.record:
            args.record.write_text(json.dumps(known, ensure_ascii=False, indent=1))
        score[name is not None] += 1
        if name is None:
            survivors.append(number)
        print(f"{number:4} {mutant.category:9} {pathlib.Path(mutant.file).name:28} {name or 'SURVIVES':20} {time.time() - began:6.1f} s  {why or ''}",
              flush=True)
    total = sum(score.values())
    print(f"{score[True]} of {total} mutants found ({100 * score[True] / max(total, 1):.1f} %); survivors: {survivors}")
    for number in survivors:
        print(f"{number}: {MUTANTS[number].file}: {MUTANTS[number].original} -> {MUTANTS[number].replaced}")
    return 1 if 100 * score[True] < args.least * total else 0


if __name__ == "__main__":
    sys.exit(main())
