#!/usr/bin/env python3
"""Writes the page of all example programs: what each is, its text, and the line that runs it.

Usage: gallery.py EXAMPLES OUTPUT.md
"""
import pathlib
import re
import sys

FOLDERS = {"": "Programs", "models": "Models of `kasen fit`", "solvers": "Solvers", "networks": "Networks"}


def head_of(text):
    """What the comment at the head says, as one paragraph, and the command that it shows, if it does."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    command = next((line for line in lines if line.startswith("kasen ")), "")
    return " ".join(line for line in lines if line and line != command), command


def section(folder, title, files):
    out = [f"## {title}\n"]
    for file in files:
        text = file.read_text()
        about, command = head_of(text)
        body = re.sub(r"\A(#.*\n)+\n*", "", text)
        out.append(f"### {file.stem}\n\n{about}\n")
        out.append(f"```\n{command + chr(10) + chr(10) if command else ''}{body.rstrip()}\n```\n")
    return "\n".join(out)


def main():
    examples, output = map(pathlib.Path, sys.argv[1:3])
    parts = ["# Gallery\n\nThe example programs, each whole.\n"]
    for folder, title in FOLDERS.items():
        files = sorted((examples / folder).glob("*.ks"))
        if files:
            parts.append(section(folder, title, files))
    output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
