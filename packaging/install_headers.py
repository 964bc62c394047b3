#!/usr/bin/env python3
"""Installs public headers, and what they include of the project: install_headers.py SOURCE_ROOT INCLUDEDIR HEADER..."""
import os
import pathlib
import re
import shutil
import sys

root = pathlib.Path(sys.argv[1])
target = pathlib.Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[2] / "kasen"
found, ahead = set(), sys.argv[3:]
while ahead:
    header = ahead.pop()
    if header not in found:
        found.add(header)
        ahead += re.findall(r'^#include "([^"]+)"', (root / header).read_text(), re.M)
for header in sorted(found):
    (target / header).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(root / header, target / header)
    (target / header).chmod(0o644)
if "MESON_INSTALL_QUIET" not in os.environ:
    print(f"Installed {len(found)} headers to {target}")
