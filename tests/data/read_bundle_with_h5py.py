#!/usr/bin/env python3
"""Reads a bundle and results with h5py alone, as docs/bundle.md says, and compares them with what went in.

usage: read_bundle_with_h5py.py MAKE_SMALL_BUNDLE
"""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy


def ids_of(part, dim):
    """The user's ids of the masters, and a table from global index to id where it is known here."""
    masters = part[f"dims/{dim}/masters"][:]
    original = part[f"dims/{dim}/original"][:] if "original" in part[f"dims/{dim}"] else masters
    return masters, original


def read_entries(parts, name):
    """All entries of a matrix in the user's ids, from every part's binsparse group."""
    names = {}
    for part in parts:
        facts = json.loads(part[f"matrices/{name}"].attrs["binsparse"])["kasen"]
        for dim in (facts["row_dim"], facts["col_dim"]):
            names.setdefault(dim, {}).update(zip(*(a.tolist() for a in ids_of(part, dim))))
    entries = {}
    for part in parts:
        group = part[f"matrices/{name}"]
        head = json.loads(group.attrs["binsparse"])
        matrix, facts = head["binsparse"], head["kasen"]
        assert matrix["version"] == "0.1" and matrix["format"] == "CSR", matrix
        pointers, columns, values = group["pointers_to_1"][:], group["indices_1"][:], group["values"][:]
        rows = numpy.concatenate([ids_of(part, facts["row_dim"])[0], group["row_slaves"][:]])
        cols = numpy.concatenate([ids_of(part, facts["col_dim"])[0], group["col_slaves"][:]])
        assert [len(rows), len(cols)] == matrix["shape"], "local shape"
        assert len(pointers) == len(rows) + 1 and pointers[-1] == len(columns) == matrix["number_of_stored_values"]
        iso = matrix["data_types"]["values"].startswith("iso[")
        assert len(values) == (1 if iso else len(columns))
        for r in range(len(rows)):
            for k in range(pointers[r], pointers[r + 1]):
                key = (names[facts["row_dim"]][int(rows[r])], names[facts["col_dim"]][int(cols[columns[k]])])
                assert key not in entries, "an entry twice"
                entries[key] = float(values[0] if iso else values[k])
    return entries


def expected_entries(path):
    with open(path) as file:
        return {(int(i), int(j)): float(v) for i, j, v in (line.split() for line in file)}


def of_peer(group, kind, peers, worker):
    """The slaves or mirrors of a matrix that are another worker's."""
    found = numpy.flatnonzero(group[f"{kind}_{peers}"][:] == worker)
    if len(found) == 0:
        return group[f"{kind}s"][:0]
    begin, end = group[f"{kind}_pointers"][found[0]:found[0] + 2]
    assert begin < end
    return group[f"{kind}s"][begin:end]


def check_exchange(parts, name, axis, dim):
    """Slaves and mirrors of each pair of workers name the same elements."""
    for w, holder in enumerate(parts):
        for o, owner in enumerate(parts):
            slaves = of_peer(holder[f"matrices/{name}"], f"{axis}_slave", "owners", o)
            mirrors = of_peer(owner[f"matrices/{name}"], f"{axis}_mirror", "holders", w)
            assert (owner[f"dims/{dim}/masters"][:][mirrors] == slaves).all(), (name, axis, w, o)


def dense(x, rows):
    """A compressed array cell by cell, as docs/bundle.md has it."""
    groups, columns, tuples, data = x["groups"][:], x["columns"][:], x["tuples"][:], x["data"][:]
    out = numpy.zeros((rows, len(columns)), tuples.dtype)
    for form, rest, code, column, width, count, value, _, at in groups:
        to = columns[column:column + width]
        if form == 3:
            out[:, to] = data[at:at + rows * width * tuples.itemsize].view(tuples.dtype).reshape(rows, width)
            continue
        table = tuples[value:value + count * width].reshape(count, width)
        if form == 0:
            out[:, to] = table[data[at:at + rows * code].view(f"<u{code}")]
            continue
        lists, segments = count - rest, -(-rows // 65536)
        end = at + 8 * (segments * lists + 1)
        pointers = data[at:end].view("<i8")
        numbers = data[end:end + 2 * pointers[-1]].view("<u2").astype(int)
        for s in range(segments):
            for t in range(lists):
                held = numbers[pointers[s * lists + t]:pointers[s * lists + t + 1]]
                runs = held.reshape(-1, 2) if form == 1 else [(r, 0) for r in held]
                for first, more in runs:
                    out[s * 65536 + first:s * 65536 + first + more + 1, to] = table[t + rest]
    return out


def check_compressed(parts):
    """The table that make_small_bundle has compressed: a column for each format, and their values again."""
    formats = set()
    for part in parts:
        masters = part["dims/R/masters"][:]
        x = part["arrays/table"]
        formats |= set(x["groups"][:, 0].tolist())
        r = masters.astype(float)
        wanted = numpy.stack([masters % 7, masters // 20000, numpy.where(masters % 90 == 5, masters, 0), r * r,
                              masters % 7 * 2], 1)
        assert (dense(x, len(masters)) == wanted).all()
        assert x["counts"][:].min() > 0
    assert formats == {0, 1, 2, 3}, formats


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        with open(os.path.join(folder, "bundle", "manifest.json")) as file:
            manifest = json.load(file)
        assert manifest["kasen_bundle"] == 3
        content = manifest["content"]
        parts = [h5py.File(os.path.join(folder, "bundle", p["file"]), "r") for p in content["parts"]]
        for name in ("G", "X"):
            assert read_entries(parts, name) == expected_entries(os.path.join(folder, f"{name}.txt")), name
        for matrix in content["matrices"]:
            check_exchange(parts, matrix["name"], "row", matrix["row_dim"])
            check_exchange(parts, matrix["name"], "col", matrix["col_dim"])
        points = numpy.empty((20, 3))
        for part in parts:
            points[part["dims/H/masters"][:]] = part["arrays/points/values"][:].T
        assert (points.ravel() == numpy.arange(60) + 0.5).all()

        check_compressed(parts)

        with h5py.File(os.path.join(folder, "results.h5"), "r") as results:
            assert json.loads(results["rank"].attrs["dims"]) == ["N"]
            assert (results["rank"][:] == 0.5 * results["N_ids"][:]).all()
            assert (results["N_ids"][:] == 2 * numpy.arange(50) + 5).all()
            assert (results["points"][:].ravel() == numpy.arange(60) + 0.5).all()
            assert (numpy.load(os.path.join(folder, "results.npy")) == results["rank"][:]).all()
            assert numpy.load(os.path.join(folder, "results-points.npy")).shape == (20, 3)
    print("the bundle and the results are readable and right")


if __name__ == "__main__":
    main()
