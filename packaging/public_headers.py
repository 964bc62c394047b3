#!/usr/bin/env python3
"""Lists or installs public headers, and the headers of the project that they include.

  public_headers.py list SOURCE_ROOT HEADER...                 prints them
  public_headers.py install SOURCE_ROOT INCLUDEDIR HEADER...   installs those that are new since `list` ran
"""
import os
import pathlib
import re
import shutil
import sys


def closure(root, headers):
    found, ahead = set(), list(headers)
    while ahead:
        header = ahead.pop()
        if header not in found:
            found.add(header)
            ahead += re.findall(r'^#include "([^"]+)"', (root / header).read_text(), re.M)
    return sorted(found)


def install(root, target, headers):
    for header in headers:
        file = target / header
        if file.exists() and file.read_bytes() == (root / header).read_bytes():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / header, file)
        file.chmod(0o644)


command, top = sys.argv[1], pathlib.Path(sys.argv[2])
if command == "list":
    print("\n".join(closure(top, sys.argv[3:])))
else:
    install(top, pathlib.Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[3] / "kasen", closure(top, sys.argv[4:]))
