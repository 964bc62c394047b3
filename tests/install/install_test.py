#!/usr/bin/env python3
"""What `meson install` makes, moved to another folder: tools that run there, and programs of others built against it.

Usage: install_test.py BUILD_FOLDER SOURCE_ROOT [unittest arguments]
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
OUTSIDE = ROOT / "docs" / "outside"
TOOLS = {"kasen", "kasen-doctor", "kasen-fuse", "kasen-generate", "kasen-measure", "kasen-partition", "kasen-plan", "kasen-run"}
ROOMS = ["core", "opt", "data", "exchange", "kernels"]
# Nothing of the user's own, no path to the build; Open MPI starts as root, too, with more ranks than cores.
PLAIN = {"PATH": "/usr/bin:/bin", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def run(*command, cwd=None, **env):
    return checked(command, cwd=cwd, env={**PLAIN, **env})


class Moved(unittest.TestCase):
    """Installs with DESTDIR, then moves what is under the prefix to a place that nobody named before."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.dir / "staged"], check=True,
                       stdout=subprocess.DEVNULL)
        (prefix,) = {p.parent.parent for p in (cls.dir / "staged").rglob("bin/kasen")}
        cls.home = cls.dir / "moved"
        prefix.rename(cls.home)
        (cls.packages,) = {p.parent for p in cls.home.rglob("kasen-core.pc")}
        shutil.copytree(OUTSIDE, cls.dir / "outside")
        cls.env = {"HOME": str(cls.dir), "PKG_CONFIG_PATH": str(cls.packages)}

    def check_outside(self, folder):
        """Both programs of others, as they were built in this folder."""
        out = run(folder / "program", self.dir / "outside" / "edges.txt", **self.env)
        self.assertIn("Per iteration of the while at line 8 (40 iterations expected):", out)
        self.assertIn("\n8 pages, ranks sum up to 8, generated kernels give the same bits\n", out)
        self.assertEqual(run("mpirun", "-n", "2", folder / "ranks", **self.env), "2 ranks, 4 workers\n")


class Installed(Moved):
    def test_tools_find_each_other_there(self):
        self.assertLessEqual(TOOLS, {p.name for p in (self.home / "bin").iterdir()})
        link = self.dir / "elsewhere" / "kasen"
        link.parent.mkdir()
        link.symlink_to(self.home / "bin" / "kasen")
        share = self.home / "share" / "kasen"
        out = run(link, "go", share / "examples" / "pagerank.ks", f"G={OUTSIDE}/edges.txt", "--workers", "3", "-n",
                  "2", cwd=link.parent, **self.env)
        self.assertIn("Predicted and counted agree to the byte.", out)
        out = run(link, "go", share / "examples" / "pagerank.ks", f"G={share}/datasets/cnr-2000.txt.xz", "--dir", "web.run", cwd=link.parent, **self.env)
        self.assertIn("pr (N = 325,557)", out)
        self.assertEqual(run(link, "verify", "pagerank.run/bundle", cwd=link.parent, **self.env),
                         "pagerank.run/bundle: right (a bundle of 3 parts)\n")

    def test_nothing_names_the_build(self):
        for file in self.home.rglob("*"):
            if file.is_file():
                content = file.read_bytes()
                for folder in (BUILD, ROOT):
                    self.assertNotIn(os.fsencode(folder) + b"/", content, file)
        for tool in TOOLS:
            self.assertNotRegex(run("readelf", "-d", self.home / "bin" / tool), "RPATH|RUNPATH")

    def test_tree_is_there_with_its_links(self):
        share = self.home / "share" / "kasen"
        for page in ("man/man1/kasen.1", "man/man1/kasen-run.1", "man/man7/kasen-errors.7", "bash-completion/completions/kasen",
                     "zsh/site-functions/_kasen", "fish/vendor_completions.d/kasen.fish"):
            self.assertTrue((share.parent / page).is_file(), page)
        for folder in ("docs", "examples", "configs"):
            tracked = {p.name for p in (ROOT / folder).iterdir()}
            self.assertEqual({p.name for p in (share / folder).iterdir()}, tracked)
        self.assertTrue((share / "LICENSE").is_file())
        for tool in TOOLS:
            self.assertTrue((self.home / "share" / "man" / "man1" / f"{tool}.1").is_file(), tool)
        self.assertTrue((self.home / "share" / "bash-completion" / "completions" / "kasen").is_file())
        for page in (share / "docs").glob("*.md"):
            for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_headers_are_closed(self):
        """Whatever a public header includes is installed, too, and they want no library but those of their packages."""
        include = self.home / "include" / "kasen"
        headers = sorted(p.relative_to(include).as_posix() for p in include.rglob("*.h"))
        self.assertGreater(len(headers), 30)
        for header in headers:
            for other in re.findall(r'#include "([^"]+)"', (include / header).read_text()):
                self.assertTrue((include / other).is_file(), f"{header} includes {other}, which is not installed")
        flags = run("pkg-config", "--cflags", *(f"kasen-{room}" for room in ROOMS), **self.env).split()
        everything = self.dir / "everything.cpp"
        for order in (headers, headers[::-1]):
            everything.write_text("".join(f'#include "{header}"\n' for header in order))
            run("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *flags, everything, **self.env)

    def test_pkg_config(self):
        version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
        for room in ROOMS:
            self.assertEqual(run("pkg-config", "--modversion", f"kasen-{room}", **self.env), version + "\n")
            self.assertIn(f"-lkasen-{room} ", run("pkg-config", "--libs", f"kasen-{room}", **self.env))
        run("make", "-j2", cwd=self.dir / "outside", **self.env)
        self.check_outside(self.dir / "outside")


class Uninstalled(unittest.TestCase):
    def test_nothing_stays(self):
        """Nor does what lay there before go."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "usr/local/bin").mkdir(parents=True)
            (folder / "usr/local/bin/other").write_text("")
            subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder], check=True,
                           stdout=subprocess.DEVNULL)
            self.assertTrue(list(folder.rglob("kasen/libcore/lang/lang.h")))
            logs = folder / "build" / "meson-logs"  # of this install, for another test may install meanwhile
            logs.mkdir(parents=True)
            shutil.copy(BUILD / "meson-logs" / "install-log.txt", logs)
            listed = [line for line in (logs / "install-log.txt").read_text().splitlines() if not line.startswith("#")]
            if not all(line.startswith(f"{folder}/") for line in listed):
                self.skipTest("another test has installed in between")
            subprocess.run(["meson", "--internal", "uninstall"], cwd=logs.parent, check=True, stdout=subprocess.DEVNULL)
            shutil.rmtree(logs.parent)
            self.assertEqual([p for p in folder.rglob("*") if not p.is_dir()], [folder / "usr/local/bin/other"])
            self.assertFalse(list(folder.rglob("kasen")))


class Cmake(Moved):
    def test_outside_program(self):
        run("cmake", "-S", self.dir / "outside", "-B", self.dir / "by-cmake", f"-DCMAKE_PREFIX_PATH={self.home}",
            "-DCMAKE_BUILD_TYPE=Debug", HOME=str(self.dir))
        run("cmake", "--build", self.dir / "by-cmake", "-j2", HOME=str(self.dir))
        self.check_outside(self.dir / "by-cmake")

    def lists(self, text):
        """The outside program's CMakeLists.txt with another request, in a folder of its own; whether it is served."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        lists = (OUTSIDE / "CMakeLists.txt").read_text()
        self.assertIn("find_package(Kasen 0.2 REQUIRED)", lists)
        (folder / "CMakeLists.txt").write_text(lists.split("add_executable")[0].replace("find_package(Kasen 0.2 REQUIRED)", text))
        done = subprocess.run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.home}"], text=True,
                              capture_output=True, env=PLAIN, check=False)
        return done.returncode == 0, done.stderr

    def test_versions_and_components(self):
        for text, served in [("find_package(Kasen REQUIRED)", True), ("find_package(Kasen 0.2.0 EXACT REQUIRED)", True),
                             ("find_package(Kasen 0.3 REQUIRED)", False), ("find_package(Kasen 0.1 REQUIRED)", False),
                             ("find_package(Kasen 0.2.9 REQUIRED)", False), ("find_package(Kasen 1 REQUIRED)", False),
                             ("find_package(Kasen REQUIRED COMPONENTS opt)\nget_target_property(l Kasen::opt LOCATION)\n"
                              "if(NOT TARGET Kasen::core OR TARGET Kasen::kernels)\nmessage(FATAL_ERROR no)\nendif()", True)]:
            with self.subTest(text):
                got, errors = self.lists(text)
                self.assertEqual(got, served, errors)
        got, errors = self.lists("find_package(Kasen REQUIRED COMPONENTS core compiler)")
        self.assertFalse(got)
        self.assertIn("no component 'compiler'", errors)


class Prefixes(unittest.TestCase):
    """What another prefix and library folder make of the package files."""

    def test_usr_and_lib64(self):
        for prefix, libdir in [("/usr", "lib/x86_64-linux-gnu"), ("/opt/kasen", "lib64")]:
            with self.subTest(prefix), tempfile.TemporaryDirectory() as folder:
                build = pathlib.Path(folder) / "build"
                run("meson", "setup", build, ROOT, "--prefix", prefix, "--libdir", libdir, "-Dbench=false", HOME=folder)
                (build / "packaging").rename(pathlib.Path(folder) / "pkgconfig")
                home = pathlib.Path(folder) / "home"
                (home / libdir).mkdir(parents=True)
                (pathlib.Path(folder) / "pkgconfig").rename(home / libdir / "pkgconfig")
                for variable, want in [("libdir", libdir), ("includedir", "include")]:
                    got = run("pkg-config", f"--variable={variable}", "kasen-opt", PKG_CONFIG_PATH=str(home / libdir / "pkgconfig"))
                    self.assertEqual(pathlib.Path(got.strip()).resolve(), home / want)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
