#!/usr/bin/env python3
"""Writes completion for bash, zsh and fish from the tools' own descriptions: make_completion.py TOOLS OUT"""
import pathlib
import sys

from option_tables import describe, takes

MADE = "# Made by tools/help/make_completion.py from the tools' own descriptions.\n"


def option_names(option):
    return [f"--{option['name']}"] + ([f"-{option['letter']}"] if option["letter"] else [])


def short(text, most=60):
    """The first words of a description that fit beside its option."""
    return text if len(text) <= most else text[:most].rpartition(" ")[0].rstrip(";,:(") + " ..."


def help_words(itself):
    return [row["name"] for kind in ("commands", "topics", "errors") for row in itself[kind]]


# ---- bash

BASH_FRAME = r'''
_kasen_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_kasen_folders() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); }
# Files of this ending, and folders on the way to them; all files where there is none.
_kasen_files() {
  compopt -o filenames 2>/dev/null
  local all file
  mapfile -t all < <(compgen -f -- "$cur")
  COMPREPLY=()
  for file in "${all[@]}"; do [[ $file == *"$1" || -d $file ]] && COMPREPLY+=("$file"); done
  return 0
}

_kasen() {
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[0]##*/}
  COMPREPLY=()
  if [[ $command == kasen ]]; then
    if ((COMP_CWORD == 1)); then
      _kasen_words "%(commands)s help --help --version"
      return
    fi
    command=${COMP_WORDS[1]}
  else
    command=${command#kasen-}
  fi
  # NAME=VALUE and --option=VALUE come in three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case "$command $option" in
    "help "* | *" --help" | *" -h") _kasen_words "%(help)s" ;;
%(cases)s    *)
      case $command in
%(tools)s      esac
      ;;
  esac
}
complete -F _kasen kasen%(names)s
'''


def bash_value(option):
    kind, *what = takes(option)
    return {"words": lambda: f'_kasen_words "{" ".join(what[0])}"', "files": lambda: f'_kasen_files "{what[0]}"',
            "folders": lambda: "_kasen_folders", "any": lambda: ":"}[kind]()


def bash(itself, tables):
    cases, tools = "", ""
    for command, table in tables.items():
        names = []
        for option in table["options"]:
            names += option_names(option)
            if option["argument"]:
                cases += "    " + " | ".join(f'"{command} {n}"' for n in option_names(option)) + f") {bash_value(option)} ;;\n"
        argument = bash_value(table["arguments"][-1]) if table["arguments"] else ":"
        tools += f'        {command}) if [[ $cur == -* ]]; then _kasen_words "{" ".join(names)}"; else {argument}; fi ;;\n'
    return MADE + BASH_FRAME % {"commands": " ".join(tables), "help": " ".join(help_words(itself)), "cases": cases, "tools": tools,
                                "names": "".join(f" kasen-{c}" for c in tables)}


# ---- zsh

ZSH_FRAME = r'''
_kasen() {
  local command curcontext=$curcontext state line
  typeset -A opt_args
  if [[ $service == kasen ]]; then
    if ((CURRENT == 2)); then
      local -a commands
      commands=(
%(commands)s      )
      _describe -t commands command commands
      return
    fi
    shift words
    ((CURRENT--))
    command=$words[1]
  else
    command=${service#kasen-}
  fi
  case $command in
    help) _values topic %(help)s ;;
%(tools)s  esac
}
_kasen "$@"
'''


def zsh_quoted(text):
    for c in "\\[]:":
        text = text.replace(c, "\\" + c)
    return text.replace("'", "'\\''")


def zsh_action(option):
    kind, *what = takes(option)
    if kind == "words":
        return f"({' '.join(what[0])})"
    if kind == "files":
        return f'_files -g "*{what[0]}"' if what[0] else "_files"
    return "_files -/" if kind == "folders" else " "


def zsh_option(option):
    names = option_names(option)
    value = f":{zsh_quoted(option['argument'])}:{zsh_action(option)}" if option["argument"] else ""
    body = f"'[{zsh_quoted(short(option['text']))}]{value}'"
    if option["repeated"]:
        return "'*'" + (f"{{{','.join(names)}}}" if len(names) > 1 else names[0]) + body
    return f"'({' '.join(names)})'{{{','.join(names)}}}{body}" if len(names) > 1 else names[0] + body


def zsh(itself, tables):
    commands = "".join(f"        '{c['name']}:{zsh_quoted(c['summary'])}'\n" for c in itself["commands"]) + "        'help:explains a command, topic or number'\n"
    tools = ""
    for command, table in tables.items():
        specs = [zsh_option(option) for option in table["options"]]
        specs += [f"'*:{zsh_quoted(a['argument'])}:{zsh_action(a)}'" for a in table["arguments"][-1:]]
        tools += f"    {command})\n      _arguments -s \\\n        " + " \\\n        ".join(specs) + "\n      ;;\n"
    names = " ".join(f"kasen-{c}" for c in tables)
    return f"#compdef kasen {names}\n" + MADE + ZSH_FRAME % {"commands": commands, "help": " ".join(help_words(itself)), "tools": tools}


# ---- fish

def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_value(option):
    kind, *what = takes(option)
    if kind == "words":
        return f"-x -a {fish_quoted(' '.join(what[0]))}"
    if kind == "files" and what[0]:
        return f"-r -k -a '(__fish_complete_suffix {what[0]})'"
    if kind == "files":
        return "-r -F"
    return "-x -a '(__fish_complete_directories)'" if kind == "folders" else "-x"


def fish(itself, tables):
    lines = [MADE.rstrip(), "complete -c kasen -f"]
    for row in itself["commands"] + [{"name": "help", "summary": "explains a command, topic or number"}]:
        lines.append(f"complete -c kasen -n __fish_use_subcommand -a {row['name']} -d {fish_quoted(row['summary'])}")
    lines.append(f"complete -c kasen -n '__fish_seen_subcommand_from help' -a {fish_quoted(' '.join(help_words(itself)))}")
    for command, table in tables.items():
        for start in [f"complete -c kasen -n '__fish_seen_subcommand_from {command}'", f"complete -c kasen-{command}"]:
            for option in table["options"]:
                letter = f" -s {option['letter']}" if option["letter"] else ""
                value = " " + fish_value(option) if option["argument"] else ""
                lines.append(f"{start}{letter} -l {option['name']}{value} -d {fish_quoted(short(option['text']))}")
            for argument in table["arguments"][-1:]:
                lines.append(f"{start} {fish_value(argument).replace('-x ', '').replace('-r ', '')}")
    return "\n".join(lines) + "\n"


def main(tools, out):
    itself, tables = describe(tools)
    for name, make in [("kasen", bash), ("_kasen", zsh), ("kasen.fish", fish)]:
        (pathlib.Path(out) / name).write_text(make(itself, tables), encoding="utf-8")


main(*sys.argv[1:])
