#!/usr/bin/env python3
"""Kernels for AArch64 give the bits of this processor's: emitted here, linked by a cross compiler, run by QEMU."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

EMIT, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
SKIPPED = 77


def run(*line):
    done = subprocess.run([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    if done.returncode != 0:
        sys.exit(f"{line[0]} ended with status {done.returncode}")


def table(names):
    """C code with the functions in the order of the cases. Plans use one name for different kernels: each gets its plan's."""
    lines = [f'extern void f{k}(void) __asm__("{plan}{symbol}");' for k, (plan, symbol) in enumerate(names)]
    lines.append("void* const functions[] = {" + ", ".join(f"(void*)f{k}" for k in range(len(names))) + "};")
    lines.append("const char* const names[] = {" + ", ".join(f'"{plan}{symbol}"' for plan, symbol in names) + "};")
    return "\n".join(lines) + "\n"


def main():
    for tool in (COMPILER, EMULATOR):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)")
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(EMIT, folder)
        names = [line.split() for line in (folder / "names.txt").read_text().splitlines()]
        (folder / "table.c").write_text(table(names))
        objects = sorted(folder.glob("p*_kernels.o"))
        for code in objects:
            run("aarch64-linux-gnu-objcopy", "--prefix-symbols", code.name.split("_")[0] + "_", code)
            run("aarch64-linux-gnu-objcopy", *[word for f in LIBRARY for word in ("--redefine-sym", f"{code.name.split('_')[0]}_{f}={f}")], code)
        run(COMPILER, "-O1", "-static", "-o", folder / "replay", SOURCES / "replay.c", folder / "table.c", *objects, "-lm")
        run(EMULATOR, folder / "replay", folder / "cases.bin")


LIBRARY = ["fmod", "fmodf", "fma", "memset", "memcpy"]

if __name__ == "__main__":
    main()
