#!/usr/bin/env python3
"""Help, its pages, man pages, completion and suggestions.

Usage: help_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import ClassFolderTest  # noqa: E402
from pages import page_files, run_page  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
USAGE, BAD, CONFIG = 64, 65, 78


def kasen(*args, cwd=None, **env):
    return subprocess.run([TOOLS / "kasen", *map(str, args)], cwd=cwd, env={**os.environ, "COLUMNS": "80", **env}, capture_output=True,
                          text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)


def describe(*command):
    return json.loads(kasen(*command, "--describe").stdout)


ITSELF = describe()
TABLES = {c["name"]: describe(c["name"]) for c in ITSELF["commands"]}


class Help(unittest.TestCase):
    def told(self, *args, status=0, **env):
        done = kasen(*args, **env)
        self.assertEqual(done.returncode, status, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout if status == 0 else done.stderr

    def test_every_tool_shows_an_example_first_and_fits_the_terminal(self):
        for command, table in TABLES.items():
            for width in [50, 80, 120]:
                lines = self.told(command, "--help", COLUMNS=str(width)).splitlines()
                self.assertEqual(lines[:2], ["Example:", f"  {table['example']}"], command)
                for line in lines[2:]:  # a word that is longer than its place stands over
                    self.assertTrue(len(line) <= width or " " not in line.strip(), f"{command} {width}: {line}")
            self.assertEqual(self.told("help", command), self.told(command, "--help"))
            self.assertLessEqual(len(self.told(command, "--help").splitlines()), 90, f"{command}: help that nobody reads")

    def test_headings_stand_once(self):
        for command in TABLES:
            headings = re.findall(r"^(\S[^\n]*):$", self.told(command, "--help"), re.M)
            self.assertEqual(len(headings), len(set(headings)), headings)

    def test_of_one_thing(self):
        checkpoints = self.told("run", "--help", "checkpoints")
        self.assertIn("--every-seconds", checkpoints)  # the heading's options
        self.assertIn("$ kasen verify saved", checkpoints)  # and the topic
        self.assertNotIn("--machine-profile", checkpoints)
        self.assertRegex(self.told("fuse", "--help", "sync"), r"(?s)--sync MODE.*\[hybrid\]")
        self.assertIn("--param", self.told("run", "--help", "D"))
        self.assertEqual(self.told("fuse", "--help", "states"), self.told("help", "states"))
        for shorter, name in [("rule-4", "rule-04"), ("4", "rule-04"), ("14", "rule-14")]:
            self.assertEqual(self.told("help", shorter), self.told("help", name))
        self.assertIn("did you mean 'sync'?", self.told("fuse", "--help", "snyc", status=USAGE))

    def test_overview_names_all(self):
        text = self.told("help")
        for kind in ["commands", "topics", "errors"]:
            self.assertTrue(ITSELF[kind])
            for row in ITSELF[kind]:
                self.assertIn(row["name"], text)
        self.assertEqual(self.told("--help"), text)
        self.assertEqual(kasen().returncode, USAGE)

    def test_words_that_options_take_are_those_that_they_know(self):
        """Each listed word passes, another one is refused with the list."""
        for command, table in TABLES.items():
            for option in table["options"]:
                if option["words"]:
                    err = self.told(command, f"--{option['name']}", "zzzzzz", status=USAGE)
                    self.assertIn(f"--{option['name']} does not know 'zzzzzz'; choose one of " + ", ".join(option["words"]), err)
                for word in option["words"]:
                    self.assertNotIn("does not know", kasen(command, f"--{option['name']}", word, "--config", "/none").stderr)

    def test_topics_of_tools_are_tools(self):
        for file in (ROOT / "tools" / "topics").glob("*.md"):
            tools = re.search(r"<!-- tools: (.*) -->", file.read_text())[1].split(", ")
            self.assertLessEqual(set(tools), set(TABLES), file)
            for tool in tools:
                self.assertIn(f"kasen help {file.stem}", re.sub(r"\s+", " ", self.told(tool, "--help")))


class Suggestions(ClassFolderTest):
    """A slip of the pen, at every place where a name stands."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.dir / "two.ks").write_text("dim N, M\ninput weight : f64[N]\ninput other : f64[M]\nconst turns = 3\n"
                                        "param theta = 1e-3\noutput total = theta * sum(weight) + sum(other) + f64(turns)\n")
        (cls.dir / "configs").symlink_to(ROOT / "configs")
        (cls.dir / "x.csv").write_text("1\n2\n3\n")
        (cls.dir / "job.yaml").write_text("wrokers: 3\n")
        (cls.dir / "m.yaml").write_text("memory_bandwith: 3e9\n")
        for line in ["plan two.ks -o plan.kir", "fuse plan.kir -o fused.kir",
                     "partition --program plan.kir weight=x.csv other=x.csv -o data"]:
            done = kasen(*line.split(), cwd=cls.dir)
            assert done.returncode == 0, done.stderr

    def test_every_tool_names_the_nearest_option(self):
        for command, table in TABLES.items():
            names = [option["name"] for option in table["options"]]
            for name in names:
                wrong = name[0] + name[2:3] + name[1:2] + name[3:]
                if len(name) < 4 or wrong in names or name[1] == name[2]:
                    continue
                done = kasen(command, f"--{wrong}")
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(f"unknown option '--{wrong}'; did you mean '--", done.stderr)
                self.assertIn(f"see 'kasen {command} --help'", done.stderr)

    def test_every_kind_of_name(self):
        for line, status, near in [
                ("paln two.ks", USAGE, "plan"), ("help stats", USAGE, "states"), ("help 67", USAGE, "64"),
                ("plan --wrokers 3", USAGE, None), ("partition --wrokers 3", USAGE, "--workers"),
                ("plan two.ks -D tehta=1", USAGE, "theta"), ("plan two.ks -D trns=1", USAGE, "turns"),
                ("partition --program plan.kir wieght=x.csv other=x.csv -o b", USAGE, "weight"),
                ("partition --program plan.kir weight=x.csv other=x.csv --columns wight=1 -o b", USAGE, "weight"),
                ("partition --program plan.kir weight=x.csv other=x.csv --dim n=9 -o b", USAGE, "N"),
                ("partition --program plan.kir weight=x.csv other=x.csv --repeats sume -o b", USAGE, "sum"),
                ("partition weight=x.csv --input-format cvs -o b", USAGE, "csv"),
                ("partition G=x.csv --method hybird-cut -o b", USAGE, "hybrid-cut"),
                ("partition --config job.yaml G=x.csv -o b", CONFIG, "workers"),
                ("partition --program plan.kir weight=x.csv other=x.csv --method auto --machine m.yaml -o b", CONFIG, "memory_bandwidth"),
                ("fuse plan.kir --sizes n=9", USAGE, "N"), ("fuse plan.kir --strategy greddy", USAGE, "greedy"),
                ("fuse plan.kir --print-after simplfy", USAGE, "simplify"),
                ("measure fused.kir --sizes NN=9", USAGE, "N"), ("measure fused.kir --format jsno", USAGE, "json"),
                ("measure fused.kir --workers 2 --data weihgt=x.csv", USAGE, "weight"),
                ("run fused.kir --bundle data -D tehta=2", USAGE, "theta"), ("run fused.kir --bundle data --nan eror", USAGE, "error"),
                ("run fused.kir --bundle data --format hfd5", USAGE, "hdf5"),
                ("go two.ks weight=x.csv othr=x.csv", USAGE, "other"), ("go two.ks weight=x.csv other=x.csv --param teta=1", USAGE, "theta"),
                ("go two.ks weight=x.csv other=x.csv --kernels generatd", USAGE, "generated"),
                ("experiment configs/pagerank.yaml --dry-run --set wrokers=2", USAGE, "workers"),
                ("generate rmta -o g.txt", USAGE, "rmat"), ("doctor --only cors", USAGE, "cores")]:
            done = kasen(*line.split(), cwd=self.dir)
            self.assertEqual(done.returncode, status, f"{line}: {done.stderr}")
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
            if near:
                self.assertIn(f"did you mean '{near}'?", done.stderr, line)


class Pages(unittest.TestCase):
    """Topics and error numbers: what they show is what happens."""

    def run_all(self, files):
        for page in files:
            with self.subTest(page.name):
                found = run_page(page, TOOLS, ROOT)
                self.assertTrue(found, "an example is missing")
                for command, wanted, printed, fits in found:
                    self.assertTrue(fits, f"$ {command}\npage:\n" + "\n".join(wanted) + "\nprinted:\n" + "\n".join(printed))

    def test_topics(self):
        self.run_all(file for file in page_files(ROOT) if file.parent.name == "topics")

    def test_exit_statuses(self):
        self.run_all(file for file in page_files(ROOT) if file.stem.isdigit())

    def test_rules(self):
        self.run_all(file for file in page_files(ROOT) if file.stem.startswith("rule-"))

    def test_every_number_has_its_page_that_shows_it(self):
        enum = re.search(r"enum class ExitStatus : int \{(.*?)\};", (ROOT / "libcore" / "base" / "error.h").read_text(), re.S)[1]
        statuses = {int(n) for n in re.findall(r"= (\d+)", enum)}
        files = {file.stem: file.read_text() for file in page_files(ROOT) if file.parent.name == "errors"}
        self.assertEqual({int(name) for name in files if name.isdigit()}, statuses)
        for status in statuses:
            self.assertIn(f"$ echo $?\n{status}\n", files[str(status)], status)
            self.assertIn(f"- `{status}`: ", (ROOT / "tools" / "topics" / "exit-status.md").read_text())
            self.assertRegex((ROOT / "docs" / "tools.md").read_text(), rf"(?m)^\| \[?{status}\b")
        rules = {int(n) for n in re.findall(r"\b(?:yes|no)\((\d+)", (ROOT / "libcore" / "analysis" / "state_rules.cpp").read_text())}
        rules |= {int(file.stem[5:7]) for file in (ROOT / "tests" / "core" / "golden").glob("rule-*-bad.kir")}
        self.assertEqual({int(name[5:]) for name in files if name.startswith("rule-")}, rules)
        for rule in rules:
            self.assertIn(f"(rule {rule})", files[f"rule-{rule:02}"])
            self.assertIn(f"note: 'kasen help rule-{rule:02}' shows rule {rule}", files[f"rule-{rule:02}"])

    def test_built_in_pages_are_the_files(self):
        built_in = {row["name"] for kind in ["topics", "errors"] for row in ITSELF[kind]}
        self.assertEqual(built_in, {file.stem for file in page_files(ROOT)})
        for file in page_files(ROOT):
            shown = kasen("help", file.stem).stdout
            self.assertTrue(shown.startswith(file.read_text().split("\n")[0][2:] + "\n\n"), file)
            squeezed = re.sub(r"[\s`]+", "", file.read_text().split("\n```")[-1].replace("## ", ""))
            self.assertTrue(re.sub(r"\s+", "", shown).endswith(squeezed) or "## " in file.read_text(), file)

    def test_every_variable_is_named(self):
        topic = (ROOT / "tools" / "topics" / "environment.md").read_text()
        for folder, pattern in [("tools", r'getenv\("(\w+)"\)'), ("lib*", r'getenv\("(\w+)"\)'), ("tests", r"[\"{$](KASEN_\w+)\b"),
                                ("scripts", r"[\"{$](KASEN_\w+)\b")]:
            for file in ROOT.glob(folder + "/**/*"):
                if file.suffix not in (".cpp", ".h", ".py", ".sh", "") or not file.is_file() or file.name == pathlib.Path(__file__).name:
                    continue
                for name in re.findall(pattern, file.read_text(errors="replace")):
                    if file.suffix in (".cpp", ".h") and folder == "tests" and f'getenv("{name}")' not in file.read_text() and "from_environment" not in file.read_text():
                        continue
                    self.assertIn(f"`{name}`", topic, file)


class Made(unittest.TestCase):
    """Man pages and completion, made of the tools' own tables."""

    MAN = TOOLS / "man"
    COMPLETION = TOOLS / "completion"

    def test_man_pages_are_clean_and_whole(self):
        names = {f"kasen-{c}.1" for c in TABLES} | {"kasen.1", "kasen-topics.7", "kasen-errors.7"}
        self.assertEqual({file.name for file in self.MAN.iterdir() if file.suffix in (".1", ".7")}, names)
        for name in names:
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c", self.MAN / name], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            text = re.sub(".\b", "", done.stdout)
            self.assertRegex(text, r"(?m)^NAME$")
            table = TABLES.get(name[6:-2], {"options": []})
            for option in table["options"]:
                self.assertRegex(text, rf"(?m)^ +(-{option['letter']}, )?--{option['name']}\b", name)

    def test_completion_is_of_shells(self):
        for shell, options, file in [("bash", ["-n"], "kasen"), ("zsh", ["-n"], "_kasen"), ("fish", ["--no-execute"], "kasen.fish")]:
            if shutil.which(shell):
                done = subprocess.run([shell, *options, self.COMPLETION / file], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        for file in ["kasen", "_kasen", "kasen.fish"]:
            text = (self.COMPLETION / file).read_text()
            for command, table in TABLES.items():
                self.assertIn(command, text)
                for option in table["options"]:
                    self.assertRegex(text, rf"(--|-l ){option['name']}\b", f"{file} {command}")

    def complete(self, line, folder):
        """What bash would offer; the last word is the one that is being written."""
        words = re.findall(r"[^\s=]+|=", line) + ([""] if line.endswith((" ", "=")) and not line.endswith("=") else [])
        script = (f'source {self.COMPLETION / "kasen"}; COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; '
                  '_kasen; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash_completes_every_option_of_each_command(self):
        for command, table in TABLES.items():
            with tempfile.TemporaryDirectory() as folder:
                offered = self.complete(f"kasen {command} --", folder)
            self.assertEqual(offered, {f"--{option['name']}" for option in table["options"]}, command)

    def test_bash_completes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in ["a.ks", "a.kir", "b.kir", "m.yaml", "links.txt"]:
                (folder / file).touch()
            (folder / "bundle").mkdir()
            for line, want in [
                    ("kasen ", {*TABLES, "help", "--help", "--version"}), ("kasen pa", {"pack", "partition"}),
                    ("kasen fuse --sync ", {"lazy", "eager", "hybrid", "auto"}), ("kasen fuse --sync=la", {"lazy"}),
                    ("kasen-fuse --sync e", {"eager"}), ("kasen fuse --strategy fuse-n", {"fuse-no-redundancy"}),
                    ("kasen partition --method ", {"block", "hybrid-cut", "ml", "auto"}), ("kasen measure --method ", {"block", "hybrid-cut", "ml", "auto", "all"}), ("kasen run --format ", {"hdf5", "csv", "npy", "mtx", "npz", "json"}),
                    ("kasen run --checkp", {"--checkpoint"}), ("kasen run --bundle ", {"bundle"}),
                    ("kasen run ", {"a.kir", "b.kir", "bundle"}), ("kasen plan ", {"a.ks", "bundle"}),
                    ("kasen fuse --machine ", {"m.yaml", "bundle"}), ("kasen go a.ks G=l", {"links.txt"}),
                    ("kasen generate ", {"rmat", "uniform", "small-world", "communities", "grid", "star"}), ("kasen run --threads ", set()), ("kasen help rule-0", {f"rule-0{k}" for k in range(10)}),
                    ("kasen run --help check", {"checkpoints"}), ("kasen doctor --format ", {"text", "json"})]:
                self.assertEqual(self.complete(line, folder), want, line)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
