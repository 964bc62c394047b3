#!/usr/bin/env python3
"""docs/notebook.ipynb without Jupyter: its cells run in order, and what they print against the outputs that it stores.

Usage: notebook_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]; `notebook_test.py BUILD_FOLDER SOURCE_ROOT --write` stores
what the cells print.
"""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
PAGE = ROOT / "docs" / "notebook.ipynb"


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def lines(text):
    return text.splitlines(keepends=True)


def run(notebook):
    """What each cell of code prints, run in an empty folder."""
    here, printed, names = os.getcwd(), [], {"__name__": "__main__"}
    os.environ["PATH"] = f"{BUILD}/tools:/usr/bin:/bin"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        os.chdir(folder)
        for number, cell in enumerate(code_cells(notebook), 1):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)  # the notebook's own text
            printed.append(out.getvalue())
        os.chdir(here)
    return printed


class Notebook(unittest.TestCase):
    def test_cells_print_what_is_stored(self):
        notebook = json.loads(PAGE.read_text())
        for number, (cell, printed) in enumerate(zip(code_cells(notebook), run(notebook)), 1):
            with self.subTest(cell=number):
                self.assertEqual("".join("".join(o["text"]) for o in cell["outputs"]), printed)
                self.assertEqual(cell["execution_count"], number)

    def test_form(self):
        """As nbformat 4.5 has it, in the bytes that this test writes."""
        notebook = json.loads(PAGE.read_text())
        self.assertEqual(set(notebook), {"cells", "metadata", "nbformat", "nbformat_minor"})
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
        ids = [cell["id"] for cell in notebook["cells"]]
        self.assertEqual(len(set(ids)), len(ids))
        for cell in notebook["cells"]:
            self.assertRegex(cell["id"], r"^[a-zA-Z0-9_-]{1,64}$")
            more = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
            self.assertEqual(set(cell), {"cell_type", "id", "metadata", "source"} | more)
            for text in [cell["source"], *(o["text"] for o in cell.get("outputs", []))]:
                self.assertEqual(text, lines("".join(text)))
            for output in cell.get("outputs", []):
                self.assertEqual((output["output_type"], output["name"], set(output)), ("stream", "stdout", {"name", "output_type", "text"}))
        self.assertEqual(PAGE.read_text(), written(notebook))
        self.assertGreater(sum(bool(cell["outputs"]) for cell in code_cells(notebook)), 4)


def written(notebook):
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def store(notebook):
    for number, (cell, printed) in enumerate(zip(code_cells(notebook), run(notebook)), 1):
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines(printed)}] if printed else []
    PAGE.write_text(written(notebook))


if __name__ == "__main__":
    if sys.argv[3:] == ["--write"]:
        store(json.loads(PAGE.read_text()))
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[3:], warnings="ignore")
