"""The pages of help as tests: what stands in their blocks is made and run, and what it prints is compared.

A block ```LANGUAGE NAME is a file; one of ```console is commands behind `$ `, each with what it prints below it. In what is
printed `...` stands for anything: in a line for a part of it, alone for lines. With --rewrite the pages are given what is
printed now: `pages.py TOOLS ROOT --rewrite [PAGE...]`.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*) ?(\S*)$")


def page_files(root):
    return sorted((root / "tools" / "topics").glob("*.md")) + sorted((root / "docs" / "errors").glob("*.md"))


def blocks(lines):
    """(kind, name, first line, line behind the last) of each block."""
    start = None
    for at, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            kind, name = FENCE.match(line).groups()
            start = at + 1
        else:
            yield kind, name, start, at
            start = None


def commands(lines):
    """[command, [what it prints]] of a block."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Shell:
    """One bash for all commands of a page, in a folder that has examples/, configs/ and the tools in its PATH."""

    def __init__(self, tools, root, folder):
        for name in ["examples", "configs", "datasets"]:
            os.symlink(root / name, folder / name)
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C", "XDG_CACHE_HOME": str(folder / ".cache"),
               "TMPDIR": str(folder)}
        env.pop("COLUMNS", None)
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=folder, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT)  # nothing of a terminal
        self.run("status=0")

    def run(self, command):
        """The lines that it prints, on either stream."""
        mark = "--- done ---"
        self.bash.stdin.write(f"(exit $status)\n{{\n{command}\n}} </dev/null\nstatus=$?; echo '{mark}'\n")
        self.bash.stdin.flush()
        lines = []
        for line in self.bash.stdout:
            line = line.rstrip("\n")
            if line.endswith(mark):
                return lines + ([line[:-len(mark)]] if line != mark else [])
            lines.append(line)
        raise AssertionError(f"the shell ended at: {command}")

    def close(self):
        self.bash.stdin.close()
        self.bash.stdout.close()
        self.bash.wait()


def same(wanted, printed):
    """Whether lines are those that the page has, `...` for any."""
    pattern = "".join("(?:.*\n)*" if line == "..." else ".*".join(re.escape(piece) for piece in line.split("...")) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def run_page(page, tools, root, rewrite=False):
    """Runs all of a page: [(command, lines of the page, lines printed, whether they are the same)]."""
    lines = page.read_text().splitlines()
    found, out, copied = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        shell = Shell(tools, root, pathlib.Path(name))
        try:
            for kind, file, first, last in blocks(lines):
                body = lines[first:last]
                if file:
                    (pathlib.Path(name) / file).write_text("\n".join(body) + "\n")
                if kind != "console":
                    continue
                out += lines[copied:first]
                copied = last
                for command, wanted in commands(body):
                    printed = shell.run(command)
                    fits = same(wanted, printed)
                    found.append((command, wanted, printed, fits))
                    out += [f"$ {command}"] + (wanted if fits else printed)
        finally:
            shell.close()
    if rewrite:
        page.write_text("\n".join(out + lines[copied:]) + "\n")
    return found


if __name__ == "__main__":
    assert sys.argv[3] == "--rewrite"
    source = pathlib.Path(sys.argv[2])
    for one in page_files(source):
        if not sys.argv[4:] or one.stem in sys.argv[4:]:
            run_page(one, sys.argv[1], source, rewrite=True)
