#!/usr/bin/env python3
"""Holds every room to the edges of its architecture: what each may include, of the project and of libraries.

Meson states the edges too, but lets a wrong include build. Run with `--self-test` it checks itself on wrong includes.
"""
import pathlib
import re
import sys

# room -> (rooms it may include, libraries it may include beside the C++ and C standard libraries and POSIX)
EDGES = {
    "libcore": ({"libcore"}, {"fmt", "boost/multiprecision"}),
    "libopt": ({"libcore", "libopt"}, {"fmt", "nlohmann", "z3++.h"}),
    "libcomm/data": ({"libcore", "libcomm/data"}, {"fmt", "nlohmann", "hdf5.h", "H5", "xxhash.h", "zlib.h", "lzma.h", "metis.h"}),
    "libcomm/exchange": ({"libcore", "libcomm/exchange"}, {"fmt", "mpi.h", "xxhash.h"}),
    "libkernels": ({"libcore", "libkernels"}, {"fmt", "llvm", "blis", "openblas", "cblas.h", "omp.h"}),
    "datasets": ({"libcore", "libcomm/data", "datasets"}, {"fmt"}),
    "tools": ({"libcore", "libopt", "libcomm/data", "libcomm/exchange", "libkernels", "datasets", "tools"},
              {"fmt", "boost/program_options", "yaml-cpp", "nlohmann", "arpa/inet.h", "netinet/in.h"}),
}
# A tool's common frame stays free of MPI, LLVM and HDF5: plan, fuse and measure start in milliseconds.
EDGES["tools/common"] = ({"libcore", "tools/common"}, {"fmt", "boost/program_options", "yaml-cpp"})

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """The longest room that holds the path."""
    return max((room for room in EDGES if path.startswith(room + "/")), key=len, default=None)


def is_system(name):
    """Headers of the standard libraries and of the operating system have no folder but sys/ and linux/, or no suffix."""
    return name.startswith(("sys/", "linux/")) or "/" not in name and ("." not in name or name in SYSTEM_H)


SYSTEM_H = {"unistd.h", "fcntl.h", "spawn.h", "dirent.h", "dlfcn.h", "pthread.h", "sched.h", "errno.h", "immintrin.h", "malloc.h"}


def fault(room, quote, name):
    rooms, libraries = EDGES[room]
    if quote == '"':
        target = room_of(name)
        if target is None:
            return "is not written from the repository's root"
        allowed = target in rooms or any(target.startswith(r + "/") for r in rooms)
        return None if allowed else f"{room} must not know {target}"
    if is_system(name) and name not in libraries or any(name.startswith(lib) for lib in libraries):
        return None
    return f"{room} must not use the library of <{name}>"


def check(root):
    faults = []
    files = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        room = room_of(relative)
        if room is None or path.suffix not in {".h", ".cpp", ".def", ".in"}:
            continue
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and fault(room, match.group(1), match.group(2))
            if why:
                faults.append(f"{relative}:{number}: {line.strip()}: {why}")
    return files, faults


def self_test():
    wrong = [("libcore", '"', "libopt/cost.h"), ("libopt", "<", "mpi.h"), ("libopt", "<", "hdf5.h"), ("libopt", "<", "llvm/IR/Module.h"),
             ("libcomm/data", "<", "mpi.h"), ("libcomm/exchange", "<", "llvm/IR/Module.h"), ("libkernels", "<", "mpi.h"),
             ("libkernels", '"', "libcomm/exchange/mpi_transport.h"), ("libcore", '"', "module.h"), ("tools/common", "<", "mpi.h")]
    right = [("libcore", "<", "vector"), ("libopt", '"', "libcore/module.h"), ("libkernels", "<", "llvm/IR/Module.h"),
             ("tools", '"', "tools/common/files.h"), ("libcomm/data", "<", "sys/mman.h")]
    missed = [w for w in wrong if fault(*w) is None] + [r for r in right if fault(*r) is not None]
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
