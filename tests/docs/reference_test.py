#!/usr/bin/env python3
"""The reference of the C++ API is made without a warning: every comment that Doxygen reads is well formed."""
import pathlib
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    settings = (source / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {folder}\n"
    subprocess.run(["doxygen", "-"], input=settings, cwd=source, text=True, check=True)
    front = (pathlib.Path(folder) / "html/index.html").read_text()
    assert "PageRank" in front, "the example is not on the front page"
