#!/usr/bin/env python3
"""Embeds pages of help in the tools: embed_pages.py OUT.cpp PAGE.md...

A page begins with its title, `# ...`. A topic has a second line, `<!-- tools: run, go -->`, with its tools.
"""
import pathlib
import re
import sys


def literal(text):
    """A C++ literal of any text, in pieces that any compiler takes."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)] or [""]
    return " ".join(f'R"page({piece})page"' for piece in pieces)


def page(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith("# "):
        sys.exit(f"{path}: a page begins with its title, '# ...'")
    title, rest = lines[0][2:], lines[1:]
    tools = re.fullmatch(r"<!-- tools: (.*) -->", rest[0]) if rest else None
    topic = path.parent.name == "topics"
    if topic != bool(tools):
        sys.exit(f"{path}: a topic, and nothing else, has a second line '<!-- tools: ... -->'")
    text = "\n".join(rest[1 if tools else 0:]).strip() + "\n"
    return [path.stem, title, tools[1] if tools else "", text], topic


def main(out, *paths):
    rows = []
    for path in map(pathlib.Path, paths):
        texts, topic = page(path)
        rows.append("    {" + ", ".join(map(literal, texts)) + f", {str(topic).lower()}}},\n")
    pathlib.Path(out).write_text(
        '// Made by tools/help/embed_pages.py.\n#include <array>\n\n#include "tools/common/pages.h"\n\n'
        f"namespace kasen::tools {{\nnamespace {{\n\nconstexpr std::array<Page, {len(rows)}> built_in{{{{\n"
        + "".join(rows) + "}};\n\n}  // namespace\n\nstd::span<const Page> pages() { return built_in; }\n\n"
        "}  // namespace kasen::tools\n", encoding="utf-8")


main(*sys.argv[1:])
