"""A graph of tensors and operators with estimated times, and its JSON form: one tensor or operator a line."""
import dataclasses
import json
import math

ELEMENT = 4  # bytes of an f32


@dataclasses.dataclass(frozen=True)
class Machine:
    """Times are estimates: an operator is bound by its arithmetic, by the memory, or by how fast operators are issued."""
    rate: float = 14e12  # FLOP/s of f32 at the peak; here and below an NVIDIA V100
    share: float = 1  # what operators reach of it
    bandwidth: float = 900e9  # bytes/s of the device's memory
    launch: float = 3.2e-5  # seconds from one operator to the next, if neither has much to do

    def seconds(self, flops, moved):
        return max(flops / (self.rate * self.share), moved / self.bandwidth, self.launch)


@dataclasses.dataclass(eq=False)
class Tensor:
    name: str
    shape: tuple
    kind: str = ""  # "parameter", "input", or made by an operator
    kept: bool = False  # the content outlives the iteration
    learns: bool = False  # it depends on parameters, so that it has a gradient

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return ELEMENT * self.elements

    def line(self):
        fields = {"name": self.name, "bytes": self.bytes}
        if self.kind:
            fields["kind"] = self.kind
        if self.kept:
            fields["kept"] = True
        return json.dumps(fields)


@dataclasses.dataclass(eq=False)
class Operator:
    name: str
    seconds: float
    reads: list
    writes: list

    def line(self):
        fields = {"name": self.name, "seconds": float(f"{self.seconds:.9g}"),
                  "reads": [t.name for t in self.reads], "writes": [t.name for t in self.writes]}
        return json.dumps(fields)


class Graph:
    def __init__(self, name, machine):
        self.name, self.machine = name, machine
        self.tensors, self.operators = [], []
        self.used = set()  # tensors that an operator reads

    def tensor(self, name, shape, **properties):
        made = Tensor(name, tuple(shape), **properties)
        if min(made.shape) < 1:
            raise ValueError(f"{name} would have the shape {made.shape}: larger pictures or more channels are needed")
        self.tensors.append(made)
        return made

    def operator(self, name, reads, writes, flops=0):
        moved = sum(t.bytes for t in reads) + sum(t.bytes for t in writes)
        self.operators.append(Operator(name, self.machine.seconds(flops, moved), list(reads), list(writes)))
        self.used.update(reads)

    def lines(self):
        """The text of the JSON form, in pieces."""
        yield f'{{\n  "kasen_tasks": 1,\n  "name": {json.dumps(self.name)},\n'
        for key, rows in (("tensors", self.tensors), ("operators", self.operators)):
            yield f'  "{key}": [\n' + ",\n".join("    " + row.line() for row in rows)
            yield "\n  ],\n" if key == "tensors" else "\n  ]\n}\n"

    def bytes_of(self, kind):
        return sum(t.bytes for t in self.tensors if t.kind == kind)

    def peak(self):
        """Bytes needed at once where the operators run in this order: parameters always, others from first to last use."""
        last = {t: step for step, operator in enumerate(self.operators) for t in operator.reads + operator.writes}
        held = most = self.bytes_of("parameter")
        seen = {t for t in self.tensors if t.kind == "parameter"}
        for step, operator in enumerate(self.operators):
            touched = dict.fromkeys(operator.reads + operator.writes)
            held += sum(t.bytes for t in touched if t not in seen)
            seen.update(touched)
            most = max(most, held)
            held -= sum(t.bytes for t in touched if last[t] == step and t.kind != "parameter" and not t.kept)
        return most

    def summary(self):
        sizes = len({t.bytes for t in self.tensors})
        total = sum(t.bytes for t in self.tensors)
        seconds = sum(operator.seconds for operator in self.operators)
        return (f"{self.name}: {len(self.operators)} operators, {sizes} sizes, {total / 1e9:.2f} GB in all, "
                f"{self.peak() / 1e9:.2f} GB at once, {self.bytes_of('parameter') / 1e9:.2f} GB of parameters, {seconds:.3f} s")
