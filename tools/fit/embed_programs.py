#!/usr/bin/env python3
"""Embeds the programs of models: embed_programs.py OUT.cpp PROGRAM.ks..."""
import pathlib
import sys


def literal(text):
    """A C++ literal of any text, in pieces that any compiler takes."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)] or [""]
    return " ".join(f'R"program({piece})program"' for piece in pieces)


def main(out, *paths):
    rows = [f"      {{{literal(path.stem)}, {literal(path.read_text(encoding='ascii'))}}},\n" for path in sorted(map(pathlib.Path, paths))]
    pathlib.Path(out).write_text(
        '// Made by tools/fit/embed_programs.py.\n#include <map>\n\n#include "tools/fit/models.h"\n\nnamespace kasen::tools {\n\n'
        "std::string_view program_text(std::string_view name) {\n  static const std::map<std::string_view, std::string_view> all{\n" + "".join(rows)
        + "  };\n  const auto at = all.find(name);\n  return at == all.end() ? std::string_view() : at->second;\n}\n\n}  // namespace kasen::tools\n",
        encoding="ascii")


main(*sys.argv[1:])
