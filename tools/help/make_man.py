#!/usr/bin/env python3
"""Writes man pages from the tools' own descriptions: make_man.py TOOLS OUT PAGE.md...

One page for each command, for kasen itself, for the topics and for the error numbers.
"""
import pathlib
import re
import sys

from option_tables import describe


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def head(name, section, itself, summary):
    return [f'.TH {name.upper()} {section} "" "kasen {itself["release"]}" "Kasen"', ".nh", ".ad l", ".SH NAME", f"{roff(name)} \\- {roff(summary)}"]


def example(line):
    return [".SH EXAMPLE", ".nf", roff(line), ".fi"]


def option_lines(option):
    letter = f"\\fB\\-{option['letter']}\\fR, " if option["letter"] else ""
    argument = f" \\fI{roff(option['argument'])}\\fR" if option["argument"] else ""
    text = option["text"]
    if any(word not in text and word not in option["argument"] for word in option["words"]):
        text += "; one of " + ", ".join(option["words"])
    if option["standard"] not in ("", "-"):
        text += f" [{option['standard']}]"
    return [".TP", f"{letter}\\fB\\-\\-{roff(option['name'])}\\fR{argument}", roff(text)]


def tool_page(command, table, itself, topics):
    lines = head(f"kasen-{command}", 1, itself, table["summary"])
    lines += [".SH SYNOPSIS", f".B kasen {command}", roff(table["usage"])] + example(table["example"]) + [".SH OPTIONS"]
    heading = ""
    for option in table["options"]:
        if option["heading"] != heading:
            heading = option["heading"]
            lines.append(f".SS {roff(heading)}")
        lines += option_lines(option)
    lines += [".SH EXIT STATUS", "0 where all went well, else a number with a page of its own: see",
              ".BR kasen\\-errors (7).", ".SH SEE ALSO"]
    names = ", ".join(topics)
    return lines + [f".BR kasen (1), kasen\\-topics (7){': ' + roff(names) if names else ''}"]


def main_page(itself):
    lines = head("kasen", 1, itself, itself["summary"]) + [".SH SYNOPSIS", ".B kasen", ".I COMMAND", "\\&..."]
    lines += example(itself["example"]) + [".SH COMMANDS"]
    for command in itself["commands"]:
        lines += [".TP", f".BR kasen\\-{command['name']} (1)", roff(command["summary"])]
    return lines + [".SH SEE ALSO", ".BR kasen\\-topics (7),", ".BR kasen\\-errors (7)"]


def inline(text):
    """Makes a paragraph of a page, with `code` in bold."""
    return roff(re.sub(r"`([^`]*)`", "\0\\1\1", text)).replace("\0", "\\fB").replace("\1", "\\fR")


def markdown(text):
    """Makes lines of the forms that pages have (tools/common/pages.h)."""
    lines, in_block = [], False
    for line in text.splitlines():
        if line.startswith("<!--"):
            continue
        if line.startswith("```"):
            in_block = not in_block
            name = line.partition(" ")[2]
            if in_block:
                lines += [".PP"] + ([inline(name) + ":", ".PP"] if name else [])
            lines += [".RS 4", ".nf"] if in_block else [".fi", ".RE"]
        elif in_block:
            lines.append(roff(line) or "\\&")
        elif line.startswith("## "):
            lines.append(f".SS {roff(line[3:])}")
        elif line.startswith("- "):
            lines += [".IP \\(bu 2", inline(line[2:])]
        elif not line:
            lines.append(".PP")
        else:
            lines.append(inline(line.strip()))
    return lines


def tidy(lines):
    """Drops empty paragraphs, of which man warns."""
    kept = []
    for line in lines:
        if line == ".PP" and kept and kept[-1].startswith((".PP", ".SH", ".SS")):
            continue
        if line.startswith((".SH", ".SS", ".IP", ".RS")) and kept and kept[-1] == ".PP":
            kept.pop()
        kept.append(line)
    while kept and kept[-1] == ".PP":
        kept.pop()
    return kept


def pages_page(name, summary, rows, files, itself):
    lines = head(name, 7, itself, summary)
    for row in rows:
        text = files[row["name"]].read_text(encoding="utf-8").partition("\n")[2]
        lines += [f".SH {roff(row['name'].upper())}", inline(row["summary"]) + ".", ".PP"] + markdown(text)
    return lines


def topics_of(command, rows, files):
    found = []
    for row in rows:
        tools = re.match(r"<!-- tools: (.*) -->", files[row["name"]].read_text(encoding="utf-8").split("\n")[1])
        if command in tools[1].split(", "):
            found.append(row["name"])
    return found


def main(tools, out, *paths):
    itself, tables = describe(tools)
    files = {path.stem: path for path in map(pathlib.Path, paths)}
    made = {"kasen.1": main_page(itself),
            "kasen-topics.7": pages_page("kasen-topics", "topics beside the options", itself["topics"], files, itself),
            "kasen-errors.7": pages_page("kasen-errors", "the meanings of exit statuses and numbers of rules", itself["errors"], files, itself)}
    for command, table in tables.items():
        made[f"kasen-{command}.1"] = tool_page(command, table, itself, topics_of(command, itself["topics"], files))
    for name, lines in made.items():
        (pathlib.Path(out) / name).write_text("\n".join(tidy(lines)) + "\n", encoding="utf-8")


main(*sys.argv[1:])
