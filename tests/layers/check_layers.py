#!/usr/bin/env python3
"""Holds every room to the edges of its architecture: the rooms and libraries that it may include.

Meson states the edges too, but lets a wrong include build. Run with `--self-test` it checks itself on wrong includes.
"""
import pathlib
import re
import sys

# Libraries of the project -> (what of the project they may include, libraries beside the C++ and C standard libraries and
# POSIX). A name stands for all rooms in it.
LIBRARIES = {
    "libcore": (set(), {"fmt", "boost/multiprecision", "boost/sort", "hwloc.h", "nlohmann"}),
    "libopt": ({"libcore"}, {"fmt", "nlohmann", "z3++.h"}),
    "libcomm/data": ({"libcore"}, {"fmt", "nlohmann", "hdf5.h", "H5", "xxhash.h", "zlib.h", "lzma.h", "zstd.h", "zstd_errors.h", "metis.h", "seccomp.h"}),
    "libcomm/exchange": ({"libcore"}, {"fmt", "mpi.h", "xxhash.h"}),
    "libkernels": ({"libcore"}, {"fmt", "llvm", "blis", "openblas", "cblas.h", "omp.h"}),
    "datasets": ({"libcore", "libcomm/data"}, {"fmt"}),
    "tools": ({"libcore", "libopt", "libcomm/data", "libcomm/exchange", "libkernels", "datasets"},
              {"fmt", "boost/program_options", "yaml-cpp", "nlohmann", "arpa/inet.h", "netinet/in.h"}),
}
# Narrower than their library: planning knows no executor, files know no language; a tool's common frame stays free of
# MPI, LLVM and HDF5, so that plan, fuse and measure start in milliseconds. One room alone asks what the machine is.
CORE_WITHOUT_RUN = {"base", "system", "json", "scalar", "ir", "data", "laws", "text", "analysis", "blocks", "rows", "entries", "patterns", "schedule", "verify", "sorting", "boxes", "kernels"}
NARROWER = {
    "libcore": {"libraries": {"fmt", "boost/multiprecision"}},
    "libcore/json": {"libraries": {"nlohmann"}},
    "libcore/axis": {"libraries": {"fmt", "boost/sort"}},
    "libcore/sorting": {"libraries": {"boost/sort"}},
    "libcore/system": {"libraries": {"fmt", "hwloc.h"}},
    "libopt": {"libcore": CORE_WITHOUT_RUN},
    "libcomm/data": {"libcore": CORE_WITHOUT_RUN - {"verify"} | {"stream"}},
    "libcomm/data/checkpoint": {"libcore": CORE_WITHOUT_RUN | {"run"}},
    "tools/system": {"projects": {"libcore"}, "libraries": {"fmt"}},
    "tools/common": {"projects": {"libcore"}, "libraries": {"fmt", "boost/program_options", "yaml-cpp", "nlohmann"}},
}
# Rooms of a library, from the lowest up, and which of those before each may include. "" is the library's own folder.
ROOMS = {
    "libcore": {
        "base": "", "system": "base", "json": "", "scalar": "base", "ir": "base scalar", "data": "base system", "laws": "scalar ir",
        "lex": "base scalar", "text": "base scalar ir lex", "linear": "base ir data", "stream": "base system data", "axis": "base ir data stream", "analysis": "base scalar ir data laws", "schedule": "base ir analysis",
        "blocks": "base ir data analysis", "rows": "base ir analysis", "entries": "base ir data analysis", "patterns": "",
        "verify": "scalar ir patterns laws analysis schedule blocks rows",
        "sorting": "base ir axis analysis",
        "boxes": "base ir data axis analysis", "transport": "base data",
        "kernels": "base system ir data laws linear axis analysis stream rows",
        "run": "base system ir data laws linear axis analysis schedule verify sorting boxes kernels stream rows transport",
        "run/memory": "base system ir data stream run",
        "run/joins": "base ir data entries run kernels", "run/blocks": "base ir data analysis schedule blocks rows transport run", "run/swap": "base system ir data analysis stream run",
        "reference": "base scalar ir data laws linear axis analysis", "syntax": "base scalar lex",
        "lang/terms": "base scalar ir patterns laws analysis lex syntax",
        "lang/calls": "base scalar ir patterns laws analysis lex syntax lang/terms",
        "lang/indexed": "base scalar ir patterns laws analysis lex syntax lang/terms lang/calls",
        "lang/shapes": "base scalar ir laws analysis lex syntax lang/terms lang/calls",
        "lang": "base scalar ir patterns laws analysis lex syntax lang/terms lang/calls lang/indexed lang/shapes",
    },
    "libopt": {
        "draw": "", "cost": "", "text": "cost", "time": "cost text", "rewrite": "", "spread": "", "placing": "spread", "tasks": "draw cost text time", "options": "cost time spread placing", "sync": "time rewrite options",
        "swap": "text", "swap/report": "draw cost text swap", "spread/report": "cost text spread", "spreading": "spread", "packing": "", "tiling": "", "tiling/solve": "tiling", "layouts": "cost text time options sync tiling tiling/solve", "fusion": "cost time rewrite", "selection": "time rewrite fusion", "prover": "",
        "swapping": "cost time rewrite swap",
        "passes": "time rewrite options sync layouts fusion selection swap swapping spread placing",
        "optimize": "cost time rewrite options sync fusion prover passes", "picture": "draw cost text time",
        "bounds": "cost text time", "report": "draw cost text time rewrite sync swapping optimize picture bounds tasks", "cuts": "cost text time report",
        "pages": "draw cost text time picture tasks report",
    },
    "libcomm/data": {
        "base": "", "hdf5": "base", "sources": "base hdf5", "text": "base sources", "table": "base text", "read": "base text table sources", "cut": "base read", "compress": "base",
        "bundle": "base hdf5 table read cut", "results": "base hdf5 table read", "model": "base hdf5", "view": "base hdf5 read results", "checkpoint": "base hdf5 cut bundle results",
    },
    "libcomm/exchange": {"": ""},
    "libkernels": {"jit": "", "math": "jit", "emit": "jit math", "reduce": "jit emit", "tile": "jit emit", "make": "jit emit reduce tile", "run": "jit emit tile make", "move": "emit run", "dense": "run", "axis": "run move", "": "run move dense axis"},
    "datasets": {"": ""},
    "tools": {
        "system": "", "common": "system", "machine": "system common", "options": "system common machine", "launch": "system common machine options",
        "show": "system common", "report": "system common", "run": "system common machine launch show report", "doctor": "system machine options", "step": "system common machine options launch show report", "go": "system common machine options launch step show",
        "experiment": "system common options launch go", "fit": "system common options launch",
        "": "system common machine options launch show report run doctor step go experiment fit",
    },
}

# Instructions of one kind of processor stand in two tables of primitives: of C++ code, and of generated code. One more file
# has functions that the compiler makes for several kinds, from the same text.
PRIMITIVES = {
    re.compile(r"immintrin\.h|arm_neon\.h|\b_mm\d*_|__builtin_ia32_|\b__AVX"): ["libkernels/jit/trial_passes.cpp"],
    re.compile(r"__attribute__\s*\(\(target"): ["libkernels/jit/trial_passes.cpp", "libkernels/dense/tall_block.cpp"],
    re.compile(r"llvm/IR/Intrinsics(X86|AArch64)\.h|Intrinsic::(x86|aarch64)_"): ["libkernels/jit/primitives.cpp"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def library_of(path):
    return next((library for library in LIBRARIES if path.startswith(library + "/")), None)


def room_of(path):
    """(library, room) of a file; (None, None) outside of all."""
    library = library_of(path)
    if library is None:
        return None, None
    inner = path[len(library) + 1:].rpartition("/")[0]
    return library, inner


def full(library, room):
    return f"{library}/{room}" if room else library


def is_system(name):
    """Headers of the standard libraries and of the operating system have no folder but sys/ and linux/, or no suffix."""
    return name.startswith(("sys/", "linux/")) or "/" not in name and ("." not in name or name in SYSTEM_H)


SYSTEM_H = {"cpuid.h", "elf.h", "unistd.h", "fcntl.h", "spawn.h", "dirent.h", "dlfcn.h", "pthread.h", "sched.h", "errno.h", "immintrin.h", "malloc.h"}


def fault(library, room, quote, name):
    if room not in ROOMS[library]:
        return f"{full(library, room)} is no room: name it in {pathlib.Path(__file__).name}"
    others, libraries = LIBRARIES[library]
    narrower = NARROWER.get(full(library, room), NARROWER.get(library, {}))
    others, libraries = narrower.get("projects", others), narrower.get("libraries", libraries)
    if quote == '"':
        target, inner = room_of(name)
        if target is None:
            return "is not written from the repository's root"
        if target == library:
            allowed = inner == room or inner in ROOMS[library][room].split()
        else:
            allowed = target in others and inner in narrower.get(target, ROOMS[target])
        return None if allowed else f"{full(library, room)} must not know {full(target, inner)}"
    if is_system(name) and name not in libraries or any(name.startswith(lib) for lib in libraries):
        return None
    return f"{full(library, room)} must not use the library of <{name}>"


def primitive_fault(path, line):
    return next((f"only {' and '.join(tables)} knows instructions of a processor" for pattern, tables in PRIMITIVES.items() if path not in tables and pattern.search(line)), None)


def circles():
    """A room may name only those before it: then no arrow leads up, and none in a circle."""
    for library, rooms in ROOMS.items():
        order = list(rooms)
        for room, known in rooms.items():
            for other in known.split():
                if other not in order or order.index(other) >= order.index(room):
                    yield f"{library}: '{room}' must stand behind '{other}'"


def check(root):
    faults = []
    files = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        library, room = room_of(relative)
        if library is None or path.suffix not in {".h", ".cpp", ".def", ".in"}:
            continue
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and fault(library, room, match.group(1), match.group(2))
            why = why or primitive_fault(relative, line)
            if why:
                faults.append(f"{relative}:{number}: {line.strip()}: {why}")
    return files, faults


def self_test():
    wrong = [("libcore", "ir", '"', "libopt/cost/cost.h"), ("libcore", "ir", '"', "libcore/laws/laws.h"),
             ("libcore", "run", '"', "libcore/reference/interpreter.h"), ("libopt", "cost", "<", "mpi.h"), ("libopt", "cost", "<", "hdf5.h"),
             ("libopt", "cost", '"', "libcore/run/executor.h"), ("libopt", "passes", '"', "libopt/report/report.h"),
             ("libopt", "cost", "<", "llvm/IR/Module.h"), ("libcomm/data", "read", "<", "mpi.h"),
             ("libcomm/data", "read", '"', "libcomm/data/bundle/bundle.h"), ("libcomm/data", "cut", '"', "libcore/lang/lang.h"),
             ("libcomm/exchange", "", "<", "llvm/IR/Module.h"), ("libcore", "run", "<", "hwloc.h"), ("libkernels", "emit", "<", "mpi.h"),
             ("libkernels", "run", '"', "libcomm/exchange/mpi_transport.h"), ("libcore", "ir", '"', "module.h"),
             ("tools", "common", "<", "mpi.h"), ("libcore", "nowhere", "<", "vector"), ("tools", "system", '"', "libopt/cost/cost.h")]
    right = [("libcore", "ir", "<", "vector"), ("libopt", "cost", '"', "libcore/ir/module.h"), ("libkernels", "jit", "<", "llvm/IR/Module.h"),
             ("tools", "", '"', "tools/system/files.h"), ("libcomm/data", "base", "<", "sys/mman.h"),
             ("libopt", "passes", '"', "libopt/sync/placer.h")]
    missed = [w for w in wrong if fault(*w) is None] + [r for r in right if fault(*r) is not None]
    missed += circles()
    for line in ("#include <immintrin.h>", "x = _mm512_add_pd(a, b);", "__builtin_ia32_pause();", "#ifdef __AVX2__", '__attribute__((target("avx2")))',
                 "b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});"):
        missed += [line] if primitive_fault("libkernels/emit/emit.cpp", line) is None else []
    missed += [w for w in ("llvm::Intrinsic::fma", "a_mm_b", "#if defined(__x86_64__)") if primitive_fault("libkernels/emit/emit.cpp", w)]
    if missed:
        sys.exit(f"the checker itself is wrong about {missed}")


if __name__ == "__main__":
    self_test()
    count, found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    if count == 0:
        sys.exit("no sources found")
    print(f"{count} files, {len(found)} faults")
    sys.exit(1 if found else 0)
