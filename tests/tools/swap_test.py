#!/usr/bin/env python3
"""kasen swap: plans that hold when they are followed move by move, equal for equal seeds, serving, and wrong graphs."""
import json
import random
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
from tools_test import BAD, LIMIT, MISSING, ROOT, USAGE, ToolTest  # noqa: E402


def layers(count, numbers):
    """A chain of layers forward and backward: activations live until their layer's backward pass, updates write in place."""
    tensors = [{"name": "x0", "bytes": 4000, "kind": "input"}]
    operators = []
    for i in range(1, count + 1):
        tensors += [{"name": f"w{i}", "bytes": numbers.choice([1000, 3000]), "kind": "parameter"},
                    {"name": f"x{i}", "bytes": numbers.choice([2000, 4000, 5000])}]
        operators.append({"name": f"f{i}", "seconds": numbers.choice([1, 2, 3]) * 1e-6, "reads": [f"x{i - 1}", f"w{i}"], "writes": [f"x{i}"]})
    tensors.append({"name": f"d{count}", "bytes": 4000})
    operators.append({"name": "loss", "seconds": 1e-6, "reads": [f"x{count}"], "writes": [f"d{count}"]})
    for i in range(count, 0, -1):
        tensors.append({"name": f"d{i - 1}", "bytes": 4000})
        operators += [{"name": f"b{i}", "seconds": 3e-6, "reads": [f"d{i}", f"w{i}", f"x{i - 1}"], "writes": [f"d{i - 1}"]},
                      {"name": f"u{i}", "seconds": 1e-6, "reads": [f"d{i}", f"w{i}", f"x{i - 1}"], "writes": [f"w{i}"]}]
    tensors[-1]["kept"] = True
    return {"kasen_tasks": 1, "name": "layers", "tensors": tensors, "operators": operators}


class Swap(ToolTest):
    def setUp(self):
        super().setUp()
        self.graph = layers(12, random.Random(3))
        self.write(self.graph)

    def write(self, graph, name="graph.json"):
        (self.dir / name).write_text(graph if isinstance(graph, str) else json.dumps(graph, indent=1))

    def follow(self, graph, plan, capacity):
        """In the order of time: each operator has what it reads, whole and newest, and no more is held than fits."""
        size = {t["name"]: t["bytes"] for t in graph["tensors"]}
        kind = {t["name"]: t.get("kind", "made") for t in graph["tensors"]}
        operators = {o["name"]: o for o in graph["operators"]}
        events = [(o["end"], 0, o["operator"], None) for o in plan["operators"]] + [(o["begin"], 3, o["operator"], None) for o in plan["operators"]]
        ways = [(m, "copy" if m.get("stays") else m["way"]) for m in plan["moves"]]
        events += [(m["end"], 1, m["tensor"], way) for m, way in ways] + [(m["begin"], 2, m["tensor"], way) for m, way in ways]
        version = dict.fromkeys(size, 0)
        written = {name for o in operators.values() for name in o["writes"]}
        here = dict.fromkeys(plan["residents"], 0)
        far = {name: 0 for name in size if kind[name] != "made" and not (name in here and name in written)}
        left = {name: sum(name in o["reads"] + o["writes"] for o in operators.values()) for name in size}
        for _, what, name, way in sorted(events, key=lambda event: event[:2]):
            if what == 3:
                for read in operators[name]["reads"]:
                    self.assertEqual(here.get(read), version[read], f"{name} reads {read}")
            elif what == 0:
                for wrote in operators[name]["writes"]:
                    version[wrote] += 1
                    here[wrote] = version[wrote]
                for touched in {*operators[name]["reads"], *operators[name]["writes"]}:
                    left[touched] -= 1
                    if left[touched] == 0 and kind[touched] != "parameter" and touched != "d0":
                        del here[touched]
            elif way == "in":
                self.assertEqual(far.get(name), version[name], f"{name} comes in")
                if what == 1:
                    here[name] = version[name]
            else:
                self.assertEqual(here.get(name), version[name], f"{name} goes out")
                if what == 1:
                    far[name] = version[name]
                    if way == "out":
                        del here[name]
        for name in size:
            if kind[name] == "parameter":
                holder = here if name in plan["residents"] else far
                self.assertEqual(holder.get(name), version[name], f"{name} at the end")
        self.assertLessEqual(sum(c["bytes"] * c["objects"] for c in plan["classes"]), capacity)
        self.assertEqual(plan["bytes_in"], sum(size[m["tensor"]] for m in plan["moves"] if m["way"] == "in"))

    def test_plans_hold(self):
        for memory in (22_000, 25_000, 40_000):
            self.kasen("swap", "graph.json", "--memory", memory, "--links", "2,1,2.5", "-o", "plan.json", "--population", 24)
            plan = json.loads((self.dir / "plan.json").read_text())
            with self.subTest(memory=memory):
                self.follow(self.graph, plan, memory)
                self.assertGreaterEqual(plan["bound_seconds"], plan["ideal_seconds"])
                self.assertGreaterEqual(plan["seconds"], plan["bound_seconds"])
                self.assertGreater(plan["bytes_in"], 0)

    def test_beams_hold(self):
        for width, threads in ((1, 1), (4, 1), (4, 2)):
            name = f"plan{width}{threads}.json"
            out, _ = self.kasen("swap", "graph.json", "--memory", 25_000, "--links", "2,1,2.5", "-o", name, "--search", "beam",
                                "--width", width, "--plans", 500, "--threads", threads)
            plan = json.loads((self.dir / name).read_text())
            self.follow(self.graph, plan, 25_000)
            self.assertRegex(out, r"(?m)^search: [0-9]+ plans in [0-9]+ turns;")
            self.assertLessEqual(plan["search"][-1]["evaluated"], 500)
            self.assertLessEqual(plan["seconds"], plan["search"][0]["best"])
        self.assertEqual((self.dir / "plan41.json").read_bytes(), (self.dir / "plan42.json").read_bytes())

    def test_the_check_can_fail(self):
        self.kasen("swap", "graph.json", "--memory", 22_000, "-o", "plan.json", "--population", 8, "--generations", 2)
        plan = json.loads((self.dir / "plan.json").read_text())
        lost = next(i for i, move in enumerate(plan["moves"]) if move["way"] == "out")
        del plan["moves"][lost]
        with self.assertRaises(AssertionError):
            self.follow(self.graph, plan, 22_000)

    def test_enough_memory_needs_no_moves(self):
        out, _ = self.kasen("swap", "graph.json", "--memory", "1MB", "-o", "plan.json")
        plan = json.loads((self.dir / "plan.json").read_text())
        self.assertEqual([move["tensor"] for move in plan["moves"] if not move["tensor"].startswith(("x0", "d0"))], [])
        self.assertIn("of ideal", out)

    def test_equal_seeds_give_equal_plans(self):
        for name, threads in (("one.json", 1), ("two.json", 2)):
            self.kasen("swap", "graph.json", "--memory", 22_000, "-o", name, "--population", 16, "--threads", threads)
        self.assertEqual((self.dir / "one.json").read_bytes(), (self.dir / "two.json").read_bytes())

    def test_other_ways_and_pictures(self):
        out, _ = self.kasen("swap", "graph.json", "--memory", 24_000, "--compare", "--population", 16, "--generations", 10, "--timeline", "t.svg")
        for name in ("ideal", "bound", "this plan", "genetic", "beam", "no-schedule", "no-allocation", "any-class", "random", "lru", "lru-ready"):
            self.assertRegex(out, rf"(?m)^{name} ")
        picture = ElementTree.parse(self.dir / "t.svg").getroot()
        self.assertGreater(len(list(picture.iter("{http://www.w3.org/2000/svg}path"))), 20)

    def test_curves(self):
        for way in ("both", "genetic", "beam"):
            self.kasen("swap", "graph.json", "--memory", 24_000, "--search", way, "--plans", 3000, "--curve", "curve.csv", "-o", "plan.json")
            rows = [line.split(",") for line in (self.dir / "curve.csv").read_text().splitlines()]
            self.assertEqual(rows[0], ["plans", "seconds", "iteration", "of_ideal", "of_bound"])
            plan, points = json.loads((self.dir / "plan.json").read_text()), [[float(x) for x in row] for row in rows[1:]]
            self.assertLessEqual(points[-1][0], 3000)
            self.assertAlmostEqual(points[-1][2] / plan["seconds"], 1, delta=1e-5)
            for before, after in zip(points, points[1:]):
                self.assertTrue(before[0] <= after[0] and before[1] <= after[1] and before[2] >= after[2] and after[4] <= 1)

    def serve(self, *words):
        out, _ = self.kasen("swap", "graph.json", *words, "--links", "2,1,2.5", "--population", 8, "--generations", 2, "-o", "serve.json")
        return out, json.loads((self.dir / "serve.json").read_text())

    def test_serving(self):
        out, once = self.serve("--memory", 60_000, "--copies", 2, "--serve", "10,5e3", "--requests", 20_000)
        self.assertEqual(once, self.serve("--memory", 60_000, "--copies", 2, "--serve", "10,5e3", "--requests", 20_000)[1])
        for name in ("alone", "partitioned", "time-shared", "foreseeing"):
            self.assertRegex(out, rf"(?m)^10/s +{name} ")
            for rate in once["rates"]:
                self.assertLessEqual(rate[name]["p50"], rate[name]["p99"])
                self.assertLessEqual(rate["alone"]["mean"], rate[name]["mean"])
        model, idle = once["models"][0], once["rates"][0]
        self.assertEqual(once["models"], [model, model])
        self.assertLessEqual(2 * model["share_bytes"], 60_000)
        switch = (idle["time-shared"]["loads"] / 20_000) * (model["load_seconds"] + model["unload_seconds"])
        self.assertGreater(switch, 0)
        self.assertAlmostEqual(idle["time-shared"]["mean"] / (model["seconds"] + switch), 1, delta=0.01)
        _, roomy = self.serve("--memory", "1MB", "--copies", 2, "--serve", "5000", "--requests", 1000)
        self.assertEqual(roomy["rates"][0]["time-shared"], roomy["rates"][0]["alone"])
        self.assertEqual(roomy["rates"][0]["partitioned"], roomy["rates"][0]["alone"])

    def test_serving_two_graphs(self):
        self.write(layers(5, random.Random(4)), "other.json")
        out, found = self.serve("other.json", "--memory", 60_000, "--serve", "100", "--requests", 100, "--search", "beam", "--evaluations", 50)
        self.assertEqual(len(found["models"]), 2)
        self.assertNotEqual(found["models"][0], found["models"][1])
        self.assertIn("2 models", out)
        _, messages = self.kasen("swap", "graph.json", "--memory", 22_000, "--copies", 50, "--serve", "1", "--generations", 0, status=LIMIT)
        self.assertIn("do not hold 50 models", messages)

    def test_too_little_memory(self):
        _, messages = self.kasen("swap", "graph.json", "--memory", 9_000, status=LIMIT)
        self.assertIn("the least that it runs in is ", messages)
        least = int(messages.split("the least that it runs in is ")[1].split()[0])
        self.kasen("swap", "graph.json", "--memory", least, "--population", 8, "--generations", 1)
        self.kasen("swap", "graph.json", "--memory", least - 1, status=LIMIT)

    def test_wrong_graphs(self):
        def changed(change):
            graph = json.loads(json.dumps(self.graph))
            change(graph)
            return graph

        for graph, text in [
                ("{\n \"kasen_tasks\": 1,\n \"tensors\": [}", "wrong.json:3:"), ("[]", "not an object"), ("[" * 1000, "nested too deeply"),
                ({"kasen_tasks": 2}, "version 1"), ({"kasen_tasks": 1, "tensors": []}, "'operators'"),
                ({"kasen_tasks": 1, "tensors": [], "operators": []}, "there is none"),
                (changed(lambda g: g["tensors"][2].update(bytes=0)), "tensors[2]"), (changed(lambda g: g["tensors"][2].update(bytes=-5)), "'bytes'"),
                (changed(lambda g: g["tensors"][2].update(bytes=2**63)), "'bytes'"), (changed(lambda g: g["tensors"][2].pop("name")), "'name' is missing"),
                (changed(lambda g: g["tensors"][2].update(name="x0")), "two tensors 'x0'"), (changed(lambda g: g["tensors"][2].update(kind="other")), "'other'"),
                (changed(lambda g: [t.update(bytes=2**62) for t in g["tensors"]]), "bytes of all tensors"),
                (changed(lambda g: g["operators"][3].update(seconds=-1)), "takes -1 seconds"), (changed(lambda g: g["operators"][3].update(reads=["y"])), "\"y\""),
                (changed(lambda g: g["operators"][3].update(reads=["x9"])), "no operator before it writes"),
                (changed(lambda g: g["operators"][3].update(writes=["x0"])), "writes the input")]:
            self.write(graph, "wrong.json")
            with self.subTest(text=text):
                status = LIMIT if "all tensors" in text else BAD
                _, messages = self.kasen("swap", "wrong.json", "--memory", "1GB", "-o", "none.json", status=status)
                self.assertIn(text, messages)
                self.assertIn("wrong.json", messages)
                self.assertFalse((self.dir / "none.json").exists())

    def test_wrong_options(self):
        for words, status, text in [(["graph.json"], USAGE, "--memory 12GB"), (["--memory", "1GB"], USAGE, "no task graph"),
                                    (["none.json", "--memory", "1GB"], MISSING, "none.json"),
                                    (["graph.json", "--memory", "1GB", "--links", "1,2"], USAGE, "IN,OUT,BOTH"),
                                    (["graph.json", "--memory", "1GB", "--links", "1,0,2"], USAGE, "three numbers"),
                                    (["graph.json", "graph.json", "--memory", "1GB"], USAGE, "--serve RATES"),
                                    (["graph.json", "--memory", "1GB", "--serve", "1,,2"], USAGE, "10,20,40"),
                                    (["graph.json", "--memory", "1GB", "--serve", "1,-2"], USAGE, "requests a second"),
                                    (["graph.json", "--memory", "1GB", "--serve", "1", "--timeline", "t.svg"], USAGE, "--timeline and --serve"),
                                    (["graph.json", "--memory", "1GB", "--search", "bean"], USAGE, "beam"),
                                    (["graph.json", "--memory", "1GB", "--width", 0], USAGE, "width"),
                                    (["graph.json", "--memory", "much"], USAGE, "memory"),
                                    (["graph.json", "--memory", "1GB", "--population", 1], USAGE, "population")]:
            with self.subTest(text=text):
                self.assertIn(text, self.kasen("swap", *words, status=status)[1])

    def test_an_example_network(self):
        script = ROOT / "examples" / "networks" / "networks.py"
        subprocess.run([sys.executable, script, "resnet-152", "--batch", "1", "--inference", "-o", self.dir / "net.json"], check=True, capture_output=True)
        self.kasen("swap", "net.json", "--memory", "192MB", "-o", "plan.json", "--population", 48, "--generations", 10)
        plan = json.loads((self.dir / "plan.json").read_text())
        self.assertLess(plan["seconds"], 1.06 * plan["ideal_seconds"])  # the thesis's table 5.2


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
