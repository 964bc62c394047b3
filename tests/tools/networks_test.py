#!/usr/bin/env python3
"""examples/networks: the graphs of six networks, read back from their JSON form and held to its rules; numbers of parameters and
of operations against those of the networks' papers or closed formulas.

Usage: networks_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import FolderTest  # noqa: E402

NETWORKS = pathlib.Path(sys.argv[2]).resolve() / "examples" / "networks"
sys.path.insert(0, str(NETWORKS))
from graph import Machine  # noqa: E402
from layers import Network  # noqa: E402

SMALL = {
    "resnet-152": ["--size", "64"],
    "wresnet-152": ["--size", "64", "--width", "2"],
    "inception-4": ["--size", "96", "--width", "2"],
    "nasnet-25": ["--size", "96", "--repeats", "2", "--filters", "96"],
    "rnn": ["--steps", "5", "--layers", "3", "--hidden", "16"],
    "brnn": ["--steps", "5", "--layers", "3", "--hidden", "16"],
}
ELEMENT = 4


class Graph:
    """A graph as its file has it."""

    def __init__(self, text):
        content = json.loads(text)
        self.text, self.version, self.name = text, content["kasen_tasks"], content["name"]
        self.tensors, self.operators = content["tensors"], content["operators"]
        self.bytes = {t["name"]: t["bytes"] for t in self.tensors}
        self.kinds = {t["name"]: t.get("kind", "") for t in self.tensors}
        self.kept = {t["name"] for t in self.tensors if t.get("kept")}
        self.readers, self.writers = collections.defaultdict(list), collections.defaultdict(list)
        for place, operator in enumerate(self.operators):
            for name in operator["reads"]:
                self.readers[name].append(place)
            for name in operator["writes"]:
                self.writers[name].append(place)

    def of_kind(self, kind):
        return [name for name in self.bytes if self.kinds[name] == kind]

    def parameters(self):
        """Their number of elements."""
        return sum(self.bytes[name] for name in self.of_kind("parameter")) // ELEMENT


class NetworksTest(FolderTest):
    def call(self, *arguments, env=None):
        return subprocess.run([sys.executable, NETWORKS / "networks.py", *arguments], cwd=self.dir, env=env, text=True, capture_output=True,
                              timeout=100, check=False)

    def build(self, *arguments, env=None):
        done = self.call(*arguments, "-o", "graph.json", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^\S.*: \d+ operators, \d+ sizes, [\d.]+ GB in all, .*\n$")
        return Graph((self.dir / "graph.json").read_text())

    def each(self, check, *arguments):
        """check(graph) of each network in small."""
        for network, settings in SMALL.items():
            with self.subTest(network):
                check(self.build(network, *settings, "--batch", "2", *arguments))


class Networks(NetworksTest):
    def test_names_and_numbers(self):
        def check(graph):
            self.assertEqual(graph.version, 1)
            self.assertIn(graph.name.partition(",")[0], SMALL)
            names = [x["name"] for x in graph.tensors + graph.operators]
            self.assertEqual(len(set(names)), len(names))
            self.assertTrue(all(isinstance(size, int) and size > 0 for size in graph.bytes.values()))
            self.assertTrue(all(operator["seconds"] > 0 for operator in graph.operators))
            self.assertLessEqual(set(graph.kinds.values()), {"", "parameter", "input"})
            self.assertEqual(graph.text.count("\n"), len(names) + 8)  # a line each

        self.each(check)

    def test_order(self):
        """What an operator reads was there before; it writes no input, and no name stands twice among its reads or writes."""
        def check(graph):
            there = {name for name, kind in graph.kinds.items() if kind}
            for operator in graph.operators:
                for names in (operator["reads"], operator["writes"]):
                    self.assertEqual(len(set(names)), len(names), operator)
                self.assertLessEqual(set(operator["reads"]), there, operator)
                self.assertFalse([name for name in operator["writes"] if graph.kinds[name] == "input"], operator)
                self.assertLessEqual(set(operator["writes"]) & there, set(operator["reads"]), operator)
                there.update(operator["writes"])
            self.assertEqual(there, set(graph.bytes))

        self.each(check)
        self.each(check, "--inference")

    def test_everything_is_read(self):
        """No operator works for nothing: what it writes is read later, is kept, or is a parameter's next value."""
        def check(graph):
            for name, kind in graph.kinds.items():
                last_read, last_written = max(graph.readers[name], default=-1), max(graph.writers[name], default=-1)
                if kind:
                    self.assertGreaterEqual(last_read, 0, name)
                elif name not in graph.kept:
                    self.assertGreater(last_read, last_written, name)

        self.each(check)
        self.each(check, "--inference")

    def test_results(self):
        self.each(lambda graph: self.assertEqual(graph.kept, {"loss"}))
        self.each(lambda graph: self.assertEqual(graph.kept, {"chances"}), "--inference")

    def test_parameters_learn(self):
        """Each is written once, from a gradient of its size, behind all that reads its old value; in inference never."""
        def check(graph):
            for name in graph.of_kind("parameter"):
                (place,) = graph.writers[name]
                self.assertEqual(max(graph.readers[name]), place, name)
                read, gradient = graph.operators[place]["reads"]
                self.assertEqual((read, graph.bytes[gradient]), (name, graph.bytes[name]))

        self.each(check)
        self.each(lambda graph: self.assertFalse([name for name in graph.of_kind("parameter") if graph.writers[name]]), "--inference")

    def test_changed_in_place(self):
        """Who writes into a result of the forward pass is the first to read it: nobody needs the content before."""
        def check(graph):
            gradients = {name for name in graph.bytes if name.rpartition(".")[2].startswith("d")}
            for name in set(graph.of_kind("")) - gradients:
                changes = graph.writers[name][1:]
                readers = [place for place in graph.readers[name] if place <= max(changes, default=-1)]
                self.assertEqual(readers, changes, name)

        self.each(check)

    def test_batch(self):
        """Every tensor of samples grows with the batch, parameters and their gradients stay."""
        for network, settings in SMALL.items():
            with self.subTest(network):
                one, three = (self.build(network, *settings, "--batch", batch) for batch in ("1", "3"))
                self.assertEqual(list(one.bytes), list(three.bytes))
                grown = {name for name in one.bytes if three.bytes[name] == 3 * one.bytes[name]}
                same = {name for name in one.bytes if three.bytes[name] == one.bytes[name]}
                self.assertEqual(grown | same, set(one.bytes))
                self.assertLessEqual(set(one.of_kind("parameter")), same)
                self.assertLessEqual(set(one.of_kind("input")), grown)
                wrong = [name for name in same if not name.endswith((".w", ".b", ".wx", ".wh", ".d", ".moments")) and name != "loss"]
                self.assertFalse(wrong)

    def test_same_bytes(self):
        """Two runs write the same, whatever the order of hashes."""
        for network, settings in SMALL.items():
            with self.subTest(network):
                first, second = (self.build(network, *settings, env={"PYTHONHASHSEED": seed}).text for seed in ("1", "2"))
                self.assertEqual(first, second)

    def test_a_wrong_call(self):
        for arguments, message in ((["rnn", "--width", "2"], "rnn has no --width"), (["resnet-152", "--batch", "0"], "invalid count value"),
                                   (["rnn", "--rate", "nan"], "invalid speed value"),
                                   (["inception-4", "--size", "20"], "larger pictures or more channels are needed")):
            done = self.call(*arguments, "-o", "graph.json")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        done = self.call("rnn", *SMALL["rnn"], "-o", "no/graph.json")
        self.assertEqual((done.returncode, done.stderr), (1, "networks.py: error: no/graph.json: No such file or directory\n"))


def split_passes(graph):
    """The forward operators, the backward ones without updates, and by operator what it multiplies a gradient with."""
    names = [operator["name"] for operator in graph.operators]
    middle = names.index("softmax") + 1
    forward, backward = graph.operators[:middle], [o for o in graph.operators[middle:] if not o["name"].endswith(".update")]
    in_place = {o["name"] for o in forward if o["reads"] == o["writes"]}
    return forward, backward, {name: 3 if name.removesuffix(".backward") in in_place else 1 for name in names}


def paths_ahead(forward, factors):
    """tensor -> the paths from its first content to the loss, each with the product of its factors."""
    paths = collections.Counter({"loss": 1})
    for operator in reversed(forward):
        through = factors[operator["name"]] * sum(paths.pop(name, 0) for name in operator["writes"])
        for name in operator["reads"]:
            paths[name] += through
    return paths


def paths_back(backward, factors):
    """The same from the backward pass: gradient -> its content where every derivative is 1, or its operator's factor."""
    paths = {}
    for operator in backward:
        others = [name for name in operator["reads"] if name not in operator["writes"]]
        come = 1 if operator["name"] == "softmax.backward" else sum(paths.get(name, 0) for name in others)
        for name in operator["writes"]:
            paths[name] = factors[operator["name"]] * (come + (paths[name] if name in operator["reads"] else 0))
    return paths


class Gradients(NetworksTest):
    def check(self, graph):
        forward, backward, factors = split_passes(graph)
        ahead, back = paths_ahead(forward, factors), paths_back(backward, factors)
        for name in graph.of_kind("parameter"):
            self.assertEqual(back[f"{name}.d"], ahead[name], name)

    def test_every_path_counts_once(self):
        """The gradient of a parameter is a sum over all paths from it to the loss."""
        self.each(self.check)

    def build_small(self, describe):
        """The graph of describe(network, x, layer), layer a function for one more product."""
        net = Network("small", Machine())

        def layer(x):
            name = f"layer{len(net.operators)}"
            return net.linear(name, x, [net.parameter(f"{name}.w", (4, 4))])

        net.classify(describe(net, layer(net.input("x", (2, 4))), layer), 3)
        net.finish()
        return Graph("".join(net.lines()))

    def test_a_shared_gradient_stays(self):
        """Both terms of a sum have its gradient. What changes that of one must leave that of the other."""
        def another_reader(net, x, layer):
            b, a = layer(x), layer(x)
            c = layer(a)
            return net.concat("both", [net.add("sum", a, b), c])

        def another_sum(net, x, layer):
            b, a = layer(x), layer(x)
            return net.add("more", net.add("sum", a, b), a)

        def one_in_place(net, x, layer):
            b = layer(x)
            a = net.activation("relu", layer(x), in_place=True)
            return net.add("sum", a, b)

        for describe in (another_reader, another_sum, one_in_place):
            with self.subTest(describe.__name__):
                self.check(self.build_small(describe))

    def test_in_place_behind_a_reader(self):
        for change in (lambda net, x: net.activation("relu", x, in_place=True), lambda net, x: net.add_in_place("sum", x, x)):
            with self.assertRaisesRegex(ValueError, "was read before"):
                self.build_small(lambda net, x, layer, change=change: (layer(x), change(net, x))[1])


def resnet_parameters(width, classes=1000):
    """Of ResNet-152: convolutions, two numbers a channel behind each, the classifier."""
    before = 64 * width
    total = 3 * 49 * before + 2 * before
    for inner, blocks in ((64 * width, 3), (128 * width, 8), (256 * width, 36), (512 * width, 3)):
        total += 4 * inner * before + 8 * inner  # the shortcut of the first block
        for _ in range(blocks):
            total += before * inner + 9 * inner**2 + 4 * inner**2 + 2 * 6 * inner
            before = 4 * inner
    return total + (before + 1) * classes


def lstm_parameters(features, hidden):
    return 4 * (hidden * (hidden + features) + hidden)


class Sizes(NetworksTest):
    def test_resnet_parameters(self):
        self.assertEqual(resnet_parameters(1), 60_192_808)
        self.assertEqual(self.build("resnet-152", "--batch", "1").parameters(), 60_192_808)
        for width in (4, 10):
            self.assertEqual(self.build("wresnet-152", "--width", str(width)).parameters(), resnet_parameters(width))

    def test_inception_parameters(self):
        self.assertEqual(self.build("inception-4", "--width", "1").parameters(), 42_679_816)

    def test_nasnet_parameters(self):
        """NASNet-A (4 @ 1056): 5.3 million in its paper."""
        graph = self.build("nasnet-25", "--repeats", "4", "--filters", "1056", "--size", "224")
        self.assertEqual(graph.parameters(), 5_289_978)

    def test_recurrent_parameters(self):
        around = 256 * 16 + 256  # table of characters; scores of characters
        self.assertEqual(self.build("rnn", "--hidden", "16").parameters(), around + 256 * 16 + 8 * lstm_parameters(16, 16))
        self.assertEqual(self.build("brnn", "--hidden", "16").parameters(),
                         around + 256 * 32 + 2 * lstm_parameters(16, 16) + 6 * lstm_parameters(32, 16))

    def test_shared_parameters(self):
        """The gradient of a layer's parameter gathers in place over all steps."""
        graph = self.build("rnn", *SMALL["rnn"])
        for name in ("layer0.wx.d", "layer1.wh.d", "layer2.b.d"):
            self.assertEqual(len(graph.writers[name]), 5)
            self.assertEqual(graph.readers[name][:4], graph.writers[name][1:])
        self.assertEqual(len(graph.writers["embedding.w.d"]), 1)

    def test_operations(self):
        """ResNet-152 multiplies 11.3e9 times a picture, says its paper; a training iteration does almost three times as much."""
        alone = ["--batch", "1", "--rate", "1", "--share", "1", "--bandwidth", "1e40", "--launch", "1e-30"]
        forward, training = (sum(operator["seconds"] for operator in self.build("resnet-152", *alone, *more).operators)
                             for more in (["--inference"], []))
        self.assertAlmostEqual(forward / 2 / 11.3e9, 1, delta=0.02)
        self.assertAlmostEqual(training / forward, 3, delta=0.05)

    def test_times(self):
        """Bytes over bandwidth bind an addition: it reads two tensors and writes one."""
        graph = self.build("resnet-152", "--batch", "1", "--bandwidth", "1e6", "--launch", "1")
        seconds = {operator["name"]: operator["seconds"] for operator in graph.operators}
        self.assertAlmostEqual(seconds["stage0.block0.add"], 3 * 4 * 256 * 56 * 56 / 1e6, delta=1e-6)

    def test_near_the_thesis(self):
        """The README's table."""
        table = (NETWORKS / "README.md").read_text()
        for network in ("wresnet-152", "inception-4", "nasnet-25", "rnn", "brnn"):
            done = self.call(network, "-o", "graph.json")
            printed = re.findall(r"[\d.]+(?= (?:operators|sizes|GB in all|GB at once))", done.stderr)
            cells = next(line for line in table.splitlines() if f"(`{network}`)" in line).split("|")[2:-1]
            ours = [int(cells[place]) for place in (1, 3, 5, 6)]
            self.assertEqual(ours, [round(float(number)) for number in printed], network)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
