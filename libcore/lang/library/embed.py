#!/usr/bin/env python3
"""Embeds the libraries of the language: embed.py OUT.cpp LIBRARY.ks..."""
import pathlib
import sys


def literal(text):
    """A C++ literal of any text, in pieces that any compiler takes."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)] or [""]
    return " ".join(f'R"library({piece})library"' for piece in pieces)


def main(out, *paths):
    rows = [f"      {{{literal(path.stem)}, {literal(path.read_text(encoding='ascii'))}}},\n" for path in sorted(map(pathlib.Path, paths))]
    pathlib.Path(out).write_text(
        '// Made by libcore/lang/library/embed.py.\n#include "libcore/lang/terms/libraries.h"\n\nnamespace kasen::lang {\n\n'
        "const std::vector<Library>& libraries() {\n  static const std::vector<Library> all{\n" + "".join(rows)
        + "  };\n  return all;\n}\n\n}  // namespace kasen::lang\n", encoding="ascii")


main(*sys.argv[1:])
