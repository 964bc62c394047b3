#!/usr/bin/env python3
"""Writes the body of built_from(): the digest of all sources in some folders, and the list of them for ninja.

Usage: built_from.py OUTPUT.cpp DEPENDENCIES.d SOURCE_ROOT FOLDER...
"""
import hashlib
import pathlib
import sys

output, dependencies, root = sys.argv[1:4]
files = sorted(p for folder in sys.argv[4:] for p in (pathlib.Path(root) / folder).rglob("*") if p.suffix in {".h", ".cpp", ".def", ".ks"})
digest = hashlib.sha256()
for path in files:
    digest.update(f"{path.relative_to(root)} {path.stat().st_size}\n".encode() + path.read_bytes())
pathlib.Path(output).write_text('#include "libcore/base/built_from.h"\n\nnamespace kasen {\n\n'
                                f'std::string_view built_from() {{ return "{digest.hexdigest()}"; }}\n\n}}  // namespace kasen\n')
pathlib.Path(dependencies).write_text(f"{output}: " + " ".join(str(p).replace(" ", "\\ ") for p in files) + "\n")
