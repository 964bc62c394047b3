"""One of the ranks of ScaLAPACK: FOLDER|- TURNS product A.npy B.npy ROWS COLUMNS BLOCK, or FOLDER|- TURNS qr|r X.npy ROWS COLUMNS BLOCK.

ROWS and COLUMNS are those of the grid of processes, BLOCK the side of a block of its block-cyclic layout. Each rank takes its
blocks from the files, makes the call TURNS times, and times it from one barrier to the next; the copy of what a call overwrites
stands before the first. Rank 0 prints a line of the seconds. Each rank leaves what it holds of the results in the folder, if one
is named."""
import ctypes
import json
import pathlib
import sys
import time

import numpy as np

LIBRARY = "libscalapack-openmpi.so.2.2"


class Grid:
    def __init__(self, rows, columns):
        ctypes.CDLL("libblis.so.4", mode=ctypes.RTLD_GLOBAL)  # before the library that Debian's alternatives name
        self.library = ctypes.CDLL(LIBRARY, mode=ctypes.RTLD_GLOBAL)
        context, self.sizes = ctypes.c_int(), (rows, columns)
        self.rank, ranks = ctypes.c_int(), ctypes.c_int()
        self.library.Cblacs_pinfo(ctypes.byref(self.rank), ctypes.byref(ranks))
        if ranks.value != rows * columns:
            sys.exit(f"{ranks.value} ranks, and a grid of {rows} x {columns}")
        self.library.Cblacs_get(0, 0, ctypes.byref(context))
        self.library.Cblacs_gridinit(ctypes.byref(context), b"Row", rows, columns)
        self.context, self.rank = context, self.rank.value
        self.place = divmod(self.rank, columns)

    def owned(self, size, block, axis):
        """The indices along an axis that are this process's."""
        index = np.arange(size)
        return index[index // block % self.sizes[axis] == self.place[axis]]

    def matrix(self, whole, block):
        """This process's blocks of a matrix, by columns, and their descriptor."""
        rows, columns = (self.owned(size, block, axis) for axis, size in enumerate(whole.shape))
        mine = np.empty((len(rows), len(columns)), order="F")
        for start in range(0, len(rows), 1 << 16):  # of a file that is mapped
            mine[start:start + (1 << 16)] = whole[rows[start:start + (1 << 16)]][:, columns]
        descriptor = (ctypes.c_int * 9)(1, self.context.value, *whole.shape, block, block, 0, 0, max(1, len(rows)))
        return mine, descriptor

    def barrier(self):
        self.library.Cblacs_barrier(self.context, b"All")

    def call(self, routine, *arguments):
        """A routine of Fortran: numbers go by address, matrices as theirs."""
        kept = [ctypes.c_int(a) if isinstance(a, int) else ctypes.c_double(a) if isinstance(a, float) else a for a in arguments]
        getattr(self.library, routine)(*(a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else
                                         a if isinstance(a, bytes) else ctypes.byref(a) for a in kept))

    def with_work(self, routine, *arguments):
        """Such a call that takes a workspace: asks for its length once, then returns a function that makes the call."""
        info, wanted = ctypes.c_int(), np.zeros(1)
        self.call(routine, *arguments, wanted, -1, info)
        work = np.zeros(int(wanted[0]))

        def made():
            self.call(routine, *arguments, work, len(work), info)
            if info.value != 0:
                sys.exit(f"{routine}: {info.value}")
        return made


def product(grid, files, block):
    a, b = (np.load(file, mmap_mode="r") for file in files)
    (mine_a, at_a), (mine_b, at_b) = grid.matrix(a, block), grid.matrix(b, block)
    n, k, m = *a.shape, b.shape[1]
    c = np.zeros((len(grid.owned(n, block, 0)), len(grid.owned(m, block, 1))), order="F")
    at_c = (ctypes.c_int * 9)(1, grid.context.value, n, m, block, block, 0, 0, max(1, len(c)))

    def calls():
        grid.call("pdgemm_", b"N", b"N", n, m, k, 1.0, mine_a, 1, 1, at_a, mine_b, 1, 1, at_b, 0.0, c, 1, 1, at_c)
    return lambda: None, calls, lambda: {"C": (c, grid.owned(n, block, 0), grid.owned(m, block, 1))}


def factors(grid, file, block, with_q):
    whole = np.load(file, mmap_mode="r")
    kept, at = grid.matrix(whole, block)
    (n, k), x = whole.shape, np.zeros_like(kept, order="F")
    rows, columns = grid.owned(n, block, 0), grid.owned(k, block, 1)
    tau, r = np.zeros(len(columns)), []
    factor = grid.with_work("pdgeqrf_", n, k, x, 1, 1, at, tau)
    orthonormal = grid.with_work("pdorgqr_", n, k, k, x, 1, 1, at, tau)

    def before():
        x[:] = kept

    def calls():
        factor()
        r[:] = [np.array(x[rows < k])]
        if with_q:
            orthonormal()

    def made():
        upper = r[0] * (rows[rows < k, None] <= columns)
        return {"R": (upper, rows[rows < k], columns)} | ({"Q": (x, rows, columns)} if with_q else {})
    return before, calls, made


def main(folder, turns, what, *rest):
    *files, rows, columns, block = rest
    grid, block = Grid(int(rows), int(columns)), int(block)
    before, calls, made = product(grid, files, block) if what == "product" else factors(grid, files[0], block, what == "qr")
    seconds = []
    for _ in range(int(turns)):
        before()
        grid.barrier()
        start = time.perf_counter()
        calls()
        grid.barrier()
        seconds.append(time.perf_counter() - start)
    for name, (part, its_rows, its_columns) in made().items() if folder != "-" else ():
        np.savez(pathlib.Path(folder) / f"{name}-{grid.rank}.npz", part=part, rows=its_rows, columns=its_columns)
    if grid.rank == 0:
        print(json.dumps(seconds), flush=True)
    grid.library.Cblacs_exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
