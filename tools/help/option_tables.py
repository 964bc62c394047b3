"""The tools' own descriptions (`--describe`), for the makers of man pages and of completion."""
import json
import pathlib
import subprocess


def ask(kasen, *command):
    return json.loads(subprocess.run([kasen, *command, "--describe"], check=True, capture_output=True, text=True).stdout)


def describe(tools):
    """(kasen itself, {command: its table})"""
    kasen = pathlib.Path(tools) / "kasen"
    itself = ask(kasen)
    return itself, {c["name"]: ask(kasen, c["name"]) for c in itself["commands"]}


def takes(option):
    """The completion of a value: ("words", [...]), ("files", ending or ""), ("folders",), or ("any",)."""
    argument = option["argument"]
    if option["words"]:
        return "words", option["words"]
    if "|" in argument or argument.endswith(("=FILE", "=DATA")):
        return "files", ""
    if argument in ("BUNDLE", "DIR", "FOLDER"):
        return ("folders",)
    if argument == "FILE" or argument.startswith("FILE."):
        return "files", argument[4:]
    if "." in argument and not argument.endswith(".."):
        return "files", argument[argument.rindex("."):]
    return ("any",)
