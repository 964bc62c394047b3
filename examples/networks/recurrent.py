"""Networks of LSTM layers (Hochreiter and Schmidhuber, 1997) over a text, unrolled over its steps; also in both directions
(Schuster and Paliwal, 1997). All steps of a layer share its parameters."""
CHARACTERS = 256


class Lstm:
    """One layer in one direction. Its state before the first step is an input."""

    def __init__(self, net, name, batch, features, hidden):
        self.net, self.name = net, name
        self.from_below = [net.parameter(f"{name}.wx", (4 * hidden, features)), net.parameter(f"{name}.b", (4 * hidden,))]
        self.from_before = [net.parameter(f"{name}.wh", (4 * hidden, hidden))]
        self.h, self.c = net.input(f"{name}.h", (batch, hidden)), net.input(f"{name}.c", (batch, hidden))

    def step(self, number, x):
        net, name = self.net, f"{self.name}.step{number}"
        gates = net.linear(f"{name}.below", x, self.from_below)
        gates = net.add_in_place(f"{name}.sum", gates, net.linear(f"{name}.before", self.h, self.from_before))
        parts = net.split(f"{name}.gates", gates, 4, 1)
        taken, kept, shown, new = (net.activation(f"{name}.{gate}", part, in_place=True)
                                   for gate, part in zip(("in", "forget", "out", "new"), parts))
        old = net.multiply(f"{name}.old", kept, self.c)
        self.c = net.add_in_place(f"{name}.cell", old, net.multiply(f"{name}.entered", taken, new))
        self.h = net.multiply(f"{name}.h", shown, net.activation(f"{name}.tanh", self.c))
        return self.h


def embedded(net, batch, steps, hidden):
    """The vectors of a text's characters: one tensor a step."""
    table = net.parameter("embedding.w", (CHARACTERS, hidden))
    vectors = net.embedding("embedding", net.input("data", (steps * batch,)), table)
    return net.split("steps", vectors, steps, 0)


def predict(net, outputs):
    """One classifier for all steps: the next character of each."""
    net.classify(net.concat("outputs", outputs, axis=0), CHARACTERS)


def rnn(net, batch, steps=40, layers=8, hidden=8192):
    xs = embedded(net, batch, steps, hidden)
    for layer in range(layers):
        lstm = Lstm(net, f"layer{layer}", batch, xs[0].shape[1], hidden)
        xs = [lstm.step(number, x) for number, x in enumerate(xs)]
    predict(net, xs)


def brnn(net, batch, steps=40, layers=4, hidden=8192):
    """Each layer has two parts, one of them reads the text from its end; their results side by side are its result."""
    xs = embedded(net, batch, steps, hidden)
    for layer in range(layers):
        ahead, back = (Lstm(net, f"layer{layer}.{way}", batch, xs[0].shape[1], hidden) for way in ("ahead", "back"))
        left = [ahead.step(number, x) for number, x in enumerate(xs)]
        right = [back.step(number, x) for number, x in reversed(list(enumerate(xs)))][::-1]
        xs = [net.concat(f"layer{layer}.concat{number}", both) for number, both in enumerate(zip(left, right))]
    predict(net, xs)
