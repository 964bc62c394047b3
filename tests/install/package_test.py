#!/usr/bin/env python3
"""The Debian packages that scripts/package-deb makes: fields, content, a run from a scratch root, installing and removing there.

Usage: package_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from running import checked  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
NAMES = ["kasen", "libkasen-dev"]
ENV = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "KASEN_BUILD": str(BUILD), "LC_ALL": "C.UTF-8",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command, **options):
    return checked(command, **{"env": ENV, **options})


def tree(folder):
    return {p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*")}


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.files = {}
        for line in run(ROOT / "scripts" / "package-deb", "--built", "-o", cls.dir / "made").splitlines():
            cls.files[pathlib.Path(line).name.split("_")[0]] = line

    def field(self, package, name):
        return run("dpkg-deb", "--field", self.files[package], name).strip()

    def test_fields(self):
        self.assertEqual(sorted(self.files), NAMES)
        arch = run("dpkg", "--print-architecture").strip()
        for package in NAMES:
            self.assertEqual(pathlib.Path(self.files[package]).name, f"{package}_{VERSION}_{arch}.deb")
            self.assertEqual(self.field(package, "Version"), VERSION)
        depends = {re.match(r"\S+", d)[0] for d in self.field("kasen", "Depends").split(", ")}
        self.assertLessEqual({"libc6", "libllvm16", "libopenmpi3", "libyaml-cpp0.7", "libz3-4"}, depends)
        for other in self.field("libkasen-dev", "Depends").split(", "):
            run("dpkg-query", "--show", other)  # the build has them all

    def test_content(self):
        listed = {package: run("dpkg-deb", "--contents", self.files[package]) for package in NAMES}
        for package, lines in listed.items():
            for line in lines.splitlines():
                self.assertRegex(line, r"^[-dl]\S+ root/root .* \./(usr/.*)?$")
            self.assertIn(f"./usr/share/doc/{package}/copyright\n", lines)
        self.assertIn("./usr/bin/kasen-run\n", listed["kasen"])
        for module in ("kasen-compiler", "kasen-loopback"):
            self.assertRegex(listed["kasen"], rf"\./usr/lib/\S+/kasen/{module}\.so\n")
            self.assertNotIn(module, listed["libkasen-dev"])
        self.assertNotIn("/include/", listed["kasen"])
        self.assertRegex(listed["libkasen-dev"], r"\./usr/lib/\S+/pkgconfig/kasen-core\.pc\n")
        self.assertNotIn("/bin/", listed["libkasen-dev"])

    def test_runs_from_a_scratch_root(self):
        root = self.dir / "root"
        for package in NAMES:
            run("dpkg-deb", "--extract", self.files[package], root)
        out = run(root / "usr/bin/kasen", "go", root / "usr/share/kasen/examples/pagerank.ks",
                  f"G={root}/usr/share/kasen/docs/outside/edges.txt", "--workers", "2", "-n", "2", "--dir", self.dir / "go",
                  env={**ENV, "HOME": str(self.dir), "XDG_CACHE_HOME": str(self.dir)})
        self.assertIn("Predicted and counted agree to the byte.", out)
        (packages,) = {p.parent for p in root.rglob("kasen-core.pc")}
        include = run("pkg-config", "--variable=includedir", "kasen-core", env={**ENV, "PKG_CONFIG_PATH": str(packages)})
        self.assertEqual(pathlib.Path(include.strip()).resolve(), (root / "usr/include").resolve())
        for package in NAMES:
            run("dpkg-deb", "--control", self.files[package], self.dir / package)
            run("md5sum", "--check", "--quiet", self.dir / package / "md5sums", cwd=root)

    @unittest.skipUnless(os.geteuid() == 0, "dpkg gives files to root")
    def test_installed_and_removed_leaves_nothing(self):
        root = self.dir / "system"
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"):
            (root / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--log=/dev/null"]
        run(*dpkg, "--install", *self.files.values())
        self.assertTrue((root / "usr/bin/kasen").is_file())
        status = run("dpkg-query", f"--root={root}", "--show", "--showformat=${Package} ${db:Status-Abbrev}\\n")
        self.assertEqual(status, "kasen ii \nlibkasen-dev ii \n")
        run(*dpkg, "--purge", *NAMES)
        self.assertEqual({p for p in tree(root) if not p.startswith("var")}, set())
        self.assertEqual({p for p in tree(root / "var/lib/dpkg/info") if "kasen" in p}, set())

    def test_same_bytes_again(self):
        again = run(ROOT / "scripts" / "package-deb", "--built", "-o", self.dir / "again").splitlines()
        for file in again:
            self.assertEqual(pathlib.Path(file).read_bytes(), (self.dir / "made" / pathlib.Path(file).name).read_bytes(), file)

    @unittest.skipUnless(shutil.which("lintian", path=ENV["PATH"]), "no lintian")
    def test_lintian(self):
        run("lintian", "--allow-root", "--fail-on", "error", *self.files.values(), env={**ENV, "HOME": str(self.dir)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
