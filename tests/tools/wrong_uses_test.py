#!/usr/bin/env python3
"""Wrong uses: each is told what is wrong and what to do, with the exit status of its kind.

Usage: wrong_uses_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import pathlib
import shlex
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import ClassFolderTest  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]).resolve()

# Exit status | command | what is said, parts by `..`
USES = """
# options that are none, or stand in the wrong place
64 | plan -output x two.ks | '-output' has one dash .. write --output
64 | run -bundle=data fused.kir | '-bundle' has one dash .. write --bundle
64 | plan -help | '-help' has one dash .. write --help
64 | run fused.kir --bundle data --fromat csv | unknown option '--fromat' .. did you mean '--format'?
64 | run fused.kir --bundle data --chatty | unknown option '--chatty' .. see 'kasen run --help'
64 | run fused.kir --bundle data -z | unknown option '-z' .. see 'kasen run --help'
64 | partition --program two.kir x=x.csv --out d2 | unknown option '--out' .. did you mean '--output'?
64 | plan two.ks --output a.kir --output b.kir | is given twice .. give it once
64 | fuse two.kir --passes plase | no pass is called 'plase' .. did you mean 'place'?
65 | fuse two.kir --passes dead-code,buffers | pass 'buffers' does not run on IR of level 1 .. it takes levels 2 to 3 .. run 'place' before it
65 | fuse fused.kir --passes place | pass 'place' does not run on IR of level 3 .. it takes level 1
64 | fuse two.kir --passes place --explain | --explain needs a whole plan .. leave one of them out
64 | --workers 2 | unknown command '--workers' .. write the command first
64 | two.ks | unknown command 'two.ks' .. kasen go two.ks
64 | plna two.ks | unknown command 'plna' .. did you mean 'plan'?
64 | run two.ks.kir --bundle data extra | 'extra' is one argument too many
# values that are none
64 | run -n two fused.kir --bundle data | --ranks (-n) takes an integer, not 'two' .. see 'kasen run --help'
64 | run -n fused.kir --bundle data | --ranks (-n) takes an integer, not 'fused.kir'
64 | run -n 0 fused.kir --bundle data | --ranks 0 .. 1 to 65536
64 | run -n -1 fused.kir --bundle data | --ranks -1 .. 1 to 65536
64 | run -n 3 fused.kir --bundle data | 3 ranks for 2 parts .. use -n 2 or fewer
64 | run fused.kir --bundle data --threads many | --threads takes an integer, not 'many'
64 | run fused.kir --bundle data --top ten | --top takes an integer, not 'ten'
64 | run fused.kir --bundle data --top | --top has no value .. write --top K
64 | run fused.kir --bundle data --timeout soon | --timeout takes a .. number, not 'soon'
64 | run fused.kir --bundle data --memory lots | --memory lots .. 8G
64 | run fused.kir --bundle data --format xml | --format does not know 'xml' .. hdf5, csv, npy
64 | run fused.kir --bundle data -D theta | 'theta' is not NAME=VALUE .. write --param theta=VALUE
64 | run fused.kir --bundle data -D theta= | -D theta= gives no value
64 | run fused.kir --bundle data -D theta=fast | -D theta=fast .. give a value of type f64
64 | run fused.kir --bundle data -D thet=1 | no param 'thet' .. did you mean 'theta'?
64 | run fused.kir --bundle data -D theta=1 -D theta=2 | --param names 'theta' twice .. give it one value
64 | plan two.ks -D theta= | -D theta= gives no value .. f64
64 | plan two.ks -D M=3 | no const, param or dimension 'M' .. it has theta
64 | plan two.ks -D N=few | -D N=few: 'N' is a dimension .. a number above 0
64 | plan two.ks -D N=0 | -D N=0: 'N' is a dimension .. a number above 0
64 | partition --program two.kir x=x.csv -o d2 --workers two | --workers takes an integer, not 'two'
64 | partition --program two.kir x=x.csv -o d2 --workers 2.5 | --workers takes an integer, not '2.5'
64 | partition --program two.kir x=x.csv -o d2 --workers 1e3 | --workers takes an integer, not '1e3'
64 | partition --program two.kir x=x.csv -o d2 --workers 99999999999999999999 | --workers takes an integer
64 | partition --program two.kir x=x.csv -o d2 --workers 0 | --workers 0 .. 1 to 65536
64 | partition --program two.kir x=x.csv -o d2 --workers -3 | --workers -3 .. 1 to 65536
64 | partition --program two.kir x=x.csv -o d2 --workers | --workers has no value .. write --workers P
64 | partition --program two.kir x=x.csv -o d2 --method | --method has no value
64 | partition --program two.kir x=x.csv -o d2 --method fast | --method does not know 'fast' .. hybrid-cut
64 | fuse two.kir --strategy fastest | --strategy does not know 'fastest' .. greedy
64 | fuse two.kir --sync sometimes | --sync does not know 'sometimes' .. hybrid
64 | fuse two.kir --sizes N | 'N' is not NAME=NUMBER .. --sizes V=1000
64 | fuse two.kir --sizes N=abc | 'N=abc' gives no size .. integer
64 | fuse two.kir --sizes M=3 | no size 'M' .. its sizes are
64 | measure fused.kir --format pdf | --format does not know 'pdf' .. html
64 | measure fused.kir --check | --check needs --against
64 | measure fused.kir --workers 0 | --workers needs the data .. --data NAME=FILE
64 | generate | no kind of graph .. rmat, uniform, small-world, communities, grid and star
64 | generate graph | no kind 'graph' .. rmat, uniform, small-world, communities, grid, star
64 | generate rmat --scale big -o g.txt | --scale takes an integer, not 'big'
64 | generate rmat --a half -o g.txt | --a takes a number, not 'half'
64 | generate small-world --rewired 2 -o g.txt | the rewired links is no part of 1 .. 0 to 1
64 | generate small-world --scale 4 --edges 999 -o g.txt | a small world of 16 vertices and 999 edges .. 32 to 224
64 | generate communities --leaving -1 -o g.txt | edges that leave is no part of 1 .. 0 to 1
64 | doctor --only nothing | --only does not know 'nothing' .. choose one of
64 | doctor now | 'now' is one argument too many .. takes options alone
64 | help nothing | no help on 'nothing' .. see 'kasen help'
64 | help plan extra | no help on 'extra' .. see 'kasen plan --help'
# configurations
78 | run --config job.yaml fused.kir --bundle data | job.yaml:1:10: .. 'workers' is an integer, here is 'two'
78 | plan --config job.yaml two.ks | job.yaml:1:1: .. unknown key 'workers'
78 | partition --config job.yaml --program two.kir x=x.csv -o d2 | job.yaml:1:10: .. 'workers' is an integer, here is 'two'
78 | partition --config bad.yaml --program two.kir x=x.csv -o d2 | bad.yaml:2:1: .. not YAML
66 | partition --config none.yaml --program two.kir x=x.csv -o d2 | cannot open 'none.yaml' .. check the name
78 | experiment two.ks | two.ks:2:9: .. not YAML
66 | experiment none.yaml | cannot open 'none.yaml' .. check the name
64 | experiment | no experiment .. name a YAML file
# files of other tools
65 | plan links.txt | links.txt:1:1: .. this is not a program; it is data: it begins with numbers .. kasen partition
65 | plan x.csv | this is not a program; it is data
65 | plan two.kir | this is not a program; it is IR .. kasen fuse
65 | plan run.json | this is not a program; it is JSON .. name the program
65 | plan r.h5 | this is not a program; it is an HDF5 file .. name the program
65 | plan png.ks | this is not a program; it is no text
66 | plan data | 'data' is a bundle .. name the file, and give --bundle data
66 | plan folder | 'folder' is a folder .. name the file
65 | go links.txt x=x.csv | this is not a program; it is data
65 | fuse two.ks | not Kasen IR; it is a program .. kasen plan
65 | fuse links.txt | not Kasen IR; it is data .. kasen plan or fuse
65 | fuse r.h5 | not Kasen IR; it is an HDF5 file
66 | fuse data | 'data' is a bundle .. give --bundle data
65 | run two.ks --bundle data | not Kasen IR; it is a program .. kasen plan
65 | run two.kir --bundle data | the plan is at level 1 .. run 'kasen fuse' on it first
65 | run x.csv --bundle data | not Kasen IR; it is data
65 | run run.json --bundle data | not Kasen IR; it is JSON
64 | run data fused.kir | one argument too many .. give the bundle with --bundle data
64 | run fused.kir data | 'data' is one argument too many .. give the bundle with --bundle data
64 | run fused.kir | no data .. add --bundle BUNDLE
64 | run fused.kir --bundle | --bundle has no value .. write --bundle BUNDLE
65 | run --bundle data | there is no IR .. name a file
65 | run fused.kir --bundle links.txt | 'links.txt' is not a bundle .. kasen partition
65 | run fused.kir --bundle folder | 'folder' is not a bundle .. kasen partition
65 | run fused.kir --bundle web | two.ks:2:7: .. input 'x' does not fit the data .. partition the data with this program
65 | measure two.ks | not Kasen IR; it is a program
65 | measure links.txt | not Kasen IR; it is data
65 | measure fused.kir --bundle links.txt | 'links.txt' is not a bundle
1 | verify two.ks | not Kasen IR; it is a program
1 | verify folder | 'folder' is not a bundle
64 | partition two.ks x=x.csv -o d2 | has no input 'x' .. it has G
65 | partition --program two.ks x=x.csv -o d2 | not Kasen IR; it is a program .. kasen plan
65 | partition --program links.txt x=x.csv -o d2 | not Kasen IR; it is data
64 | partition --program two.kir y=x.csv -o d2 | has no input 'y' .. it has x
64 | partition --program two.kir -o d2 | no data for input 'x' .. add x=FILE
64 | partition --program two.kir x= -o d2 | 'x=' names no file .. write x=FILE
66 | partition --program two.kir x=folder -o d2 | folder .. an input is one file
65 | partition --program two.kir x=r.h5 -o d2 | r.h5: .. the file holds 2 arrays .. name one of them: r.h5:/y
65 | partition --program rank.kir G=two.kir -o d2 | two.kir:1:1: .. 'kir' is not a vertex id
65 | partition --program two.kir x=empty.txt -o d2 | the file is empty
# what is missing or cannot be made
65 | plan | the program is empty .. kasen plan PROGRAM.ks
66 | plan none.ks | cannot open 'none.ks' .. check the name
66 | plan tow.ks | cannot open 'tow.ks' .. did you mean 'two.ks'?
66 | plan nowhere/two.ks | cannot open 'nowhere/two.ks' .. there is no folder 'nowhere'
66 | partition --program two.kir x=x.cvs -o d2 | x.cvs .. cannot open the file .. did you mean 'x.csv'?
66 | show reslt.h5 | cannot open 'reslt.h5' .. check the name
73 | plan two.ks -o none/two.kir | cannot create 'none/two.kir' .. choose another place
73 | plan two.ks -o folder | cannot write 'folder' .. name a file
64 | plan two.ks rank.ks | 'rank.ks' is one argument too many .. takes one: PROGRAM.ks
64 | plan -o | --output (-o) has no value .. write --output FILE
66 | fuse none.kir | cannot open 'none.kir' .. check the name
66 | run none.kir --bundle data | cannot open 'none.kir' .. check the name
66 | run fused.kir --bundle none | there is no bundle 'none' .. kasen partition
66 | measure fused.kir --bundle none | there is no bundle 'none' .. kasen partition
66 | verify none | cannot open 'none' .. check the name
73 | run fused.kir --bundle data -o none/r.h5 | cannot create 'none/r.h5' .. choose another place
73 | run fused.kir --bundle data -o folder | cannot create 'folder' .. name a file
73 | run fused.kir --bundle data --stats none/s.json | cannot create 'none/s.json' .. choose another place
64 | run fused.kir --bundle data --resume | --resume without --checkpoint .. add --checkpoint DIR
66 | partition --program two.kir x=none.csv -o d2 | none.csv .. cannot open the file
66 | partition --program none.kir x=x.csv -o d2 | cannot open 'none.kir' .. check the name
64 | partition --program two.kir x=x.csv | no output folder for the bundle .. add -o BUNDLE
73 | partition --program two.kir x=x.csv -o data | 'data' already exists .. --replace
73 | partition --program two.kir x=none.csv -o data | 'data' already exists .. --replace
64 | partition --program two.kir x=x.csv -o two.kir | the output 'two.kir' is also an input .. choose another name
64 | go | no program .. see 'kasen go --help'
64 | go two.ks | no data for input 'x' .. add x=FILE
64 | go two.ks G=links.txt | no input 'G' .. it has x
64 | go two.ks x=x.csv --workers two | --workers takes an integer, not 'two'
# programs
65 | plan vector.ks | vector.ks:3:13: .. the transpose of an array that is no matrix .. leave out
65 | plan empty.ks | unknown function 'empty' .. fill(0.0, N)
65 | plan braces.ks | blocks stand in braces
"""


def uses():
    for line in USES.strip().splitlines():
        if not line.startswith("#"):
            status, command, said = line.split(" | ")
            yield int(status), command, said.split(" .. ")


class WrongUses(ClassFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        files = {"two.ks": "dim N\ninput x : f64[N]\nparam theta = 0.5\noutput y = theta * x, s = sum(x)\n",
                 "rank.ks": (ROOT / "examples" / "pagerank.ks").read_text(), "x.csv": "1\n2\n3\n", "links.txt": "1 2\n2 3\n3 1\n",
                 "empty.txt": "", "job.yaml": "workers: two\n", "bad.yaml": "a: [1\n",
                 "vector.ks": "dim N\ninput x : f64[N]\noutput z = x.T\n",
                 "empty.ks": "dim N\ninput x : f64[N]\noutput z = empty(N)\n",
                 "braces.ks": "z = 1\nif z > 0:\n  z = 2\noutput z\n"}
        for name, text in files.items():
            (cls.dir / name).write_text(text)
        (cls.dir / "png.ks").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
        (cls.dir / "folder").mkdir()
        for line in ["plan two.ks -o two.kir", "fuse two.kir -o fused.kir", "plan rank.ks -o rank.kir",
                     "partition --program two.kir x=x.csv -o data --workers 2", "partition --program rank.kir G=links.txt -o web",
                     "run fused.kir --bundle data -o r.h5 --stats run.json"]:
            done = cls.kasen(line)
            assert done.returncode == 0, f"{line}: {done.stderr}"

    @classmethod
    def kasen(cls, line):
        return subprocess.run([TOOLS / "kasen", *shlex.split(line)], cwd=cls.dir, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)

    def test_each_says_what_is_wrong_and_what_to_do(self):
        for status, command, said in uses():
            with self.subTest(command):
                done = self.kasen(command)
                self.assertEqual(done.returncode, status, done.stderr)
                message = next(line for line in done.stderr.splitlines() if "error:" in line)
                at = 0
                for part in said:
                    self.assertIn(part, message[at:], message)
                    at = message.index(part, at) + len(part)
                if status != 78:  # what a key takes stands in the message itself
                    self.assertRegex(message, "error: [^;]+; .", "neither a reason nor what to do")
                self.assertNotIn("bug of Kasen", done.stderr)

    def test_there_are_many(self):
        self.assertGreater(len(list(uses())), 120)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
