"""Layers of neural networks as operators of a graph. Each layer notes its own backward pass, so that the gradients of a whole
network follow from its forward operators: the notes run in reverse order.

Pictures have the shape (batch, channels, height, width).
"""
from graph import Graph


def pair(size):
    return size if isinstance(size, tuple) else (size, size)


def spatial(x, kernel, stride, padding):
    """Height and width behind a window. "same" pads so that only the stride makes them smaller; "valid" pads nothing."""
    if padding == "same":
        return tuple(-(-size // stride) for size in x.shape[2:])
    return tuple((size - window) // stride + 1 for size, window in zip(x.shape[2:], kernel))


class Network(Graph):
    def __init__(self, name, machine, training=True):
        super().__init__(name, machine)
        self.training = training
        self.notes = []  # the backward pass of each forward operator
        self.gradients = {}  # tensor -> (its gradient, whether that stands for the gradient of another tensor, too)

    # Tensors

    def parameter(self, name, shape):
        return self.tensor(name, shape, kind="parameter", learns=self.training)

    def input(self, name, shape):
        return self.tensor(name, shape, kind="input")

    def made(self, name, shape, reads):
        return self.tensor(name, shape, learns=any(t.learns for t in reads))

    # Gradients

    def note(self, backward):
        if self.training:
            self.notes.append(backward)

    def gradient(self, x):
        return self.gradients[x][0]

    def flow(self, x, part, shared=False):
        """Adds `part` to the gradient of x, in place where one of the two belongs to x alone."""
        if x not in self.gradients:
            self.gradients[x] = (part, shared)
            return
        old, old_shared = self.gradients[x]
        into = part if old_shared and not shared else old
        if old_shared and shared:
            into = self.tensor(f"{x.name}.d", x.shape)
        self.operator(f"{part.name}.onto.{x.name}", [old, part], [into], x.elements)
        self.gradients[x] = (into, False)

    def flow_back(self, name, reads, inputs, flops=0):
        """One operator makes the gradients of those of (label, tensor) that have one."""
        inputs = [(label, x) for label, x in inputs if x.learns]
        if inputs:
            parts = [self.tensor(f"{name}.d{label}", x.shape) for label, x in inputs]
            self.operator(f"{name}.backward", reads, parts, flops)
            for (_, x), part in zip(inputs, parts):
                self.flow(x, part)

    def learn(self, name, reads, parameters, flops):
        """Gradients of parameters. A parameter of several layers gathers them in place."""
        known = [w for w in parameters if w in self.gradients]
        for w in parameters:
            if w not in self.gradients:
                self.gradients[w] = (self.tensor(f"{w.name}.d", w.shape), False)
        self.operator(name, reads + [self.gradient(w) for w in known], [self.gradient(w) for w in parameters], flops)

    def finish(self):
        """The backward pass, and then gradient descent: each parameter is read and written in place."""
        for backward in reversed(self.notes):
            backward()
        for w in [t for t in self.tensors if t.kind == "parameter"] if self.training else []:
            self.operator(f"{w.name}.update", [w, self.gradient(w)], [w], 2 * w.elements)

    # Layers with parameters

    def product(self, name, x, weights, shape, flops):
        """Convolution or matrix product. Its backward pass is two more products of the same cost."""
        y = self.made(f"{name}.y", shape, [x, *weights])
        self.operator(name, [x, *weights], [y], flops)

        def backward():
            dy = self.gradient(y)
            self.learn(f"{name}.backward.w", [x, dy], weights, flops)
            self.flow_back(name, [dy, weights[0]], [("x", x)], flops)

        self.note(backward)
        return y

    def convolution(self, name, x, channels, kernel, stride=1, padding="same", groups=1):
        kernel = pair(kernel)
        batch, before = x.shape[:2]
        w = self.parameter(f"{name}.w", (channels, before // groups, *kernel))
        shape = (batch, channels, *spatial(x, kernel, stride, padding))
        multiplied = shape[0] * shape[2] * shape[3] * w.elements
        return self.product(name, x, [w], shape, 2 * multiplied)

    def linear(self, name, x, weights):
        """x times weights[0], plus weights[1] where there is one."""
        rows = x.shape[0]
        return self.product(name, x, weights, (rows, weights[0].shape[0]), 2 * rows * weights[0].elements)

    def batch_norm(self, name, x):
        """Scale and shift are the two rows of one parameter, as are mean and deviation, which the backward pass reads."""
        w = self.parameter(f"{name}.w", (2, x.shape[1]))
        y = self.made(f"{name}.y", x.shape, [x, w])
        moments = [self.tensor(f"{name}.moments", w.shape)] if self.training else []
        self.operator(name, [x, w], [y, *moments], 8 * x.elements)

        def backward():
            # One operator: the gradients of scale and shift are sums that the gradient of x needs.
            dx, dw = self.tensor(f"{name}.dx", x.shape), self.tensor(f"{w.name}.d", w.shape)
            self.operator(f"{name}.backward", [self.gradient(y), x, w, *moments], [dx, dw], 12 * x.elements)
            self.gradients[w] = (dw, False)
            self.flow(x, dx)

        self.note(backward)
        return y

    def embedding(self, name, codes, table):
        y = self.made(f"{name}.y", (codes.shape[0], table.shape[1]), [table])
        self.operator(name, [codes, table], [y])
        self.note(lambda: self.learn(f"{name}.backward.w", [codes, self.gradient(y)], [table], y.elements))
        return y

    # Layers without

    def activation(self, name, x, in_place=False):
        """ReLU, sigmoid or tanh: the gradient follows from the result."""
        if in_place:
            return self.activation_in_place(name, x)
        y = self.made(f"{name}.y", x.shape, [x])
        self.operator(name, [x], [y], x.elements)
        self.note(lambda: self.flow_back(name, [self.gradient(y), y], [("x", x)], x.elements))
        return y

    def activation_in_place(self, name, x):
        if x in self.used:
            raise ValueError(f"{name}: {x.name} was read before; what read it may need it in the backward pass")
        self.operator(name, [x], [x], x.elements)

        def backward():
            dx, shared = self.gradients[x]
            into = self.tensor(f"{name}.dx", x.shape) if shared else dx
            self.operator(f"{name}.backward", [dx, x], [into], x.elements)
            self.gradients[x] = (into, False)

        self.note(backward)
        return x

    def pool(self, name, x, kernel, stride=1, padding="same", largest=False):
        """The mean or the largest of each window. Only the largest has to be found again in the backward pass."""
        y = self.made(f"{name}.y", (*x.shape[:2], *spatial(x, pair(kernel), stride, padding)), [x])
        flops = y.elements * pair(kernel)[0] * pair(kernel)[1]
        self.operator(name, [x], [y], flops)
        found = [x, y] if largest else []
        self.note(lambda: self.flow_back(name, [self.gradient(y), *found], [("x", x)], flops))
        return y

    def concat(self, name, parts, axis=1):
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        y = self.made(f"{name}.y", shape, parts)
        self.operator(name, parts, [y])
        self.note(lambda: self.flow_back(name, [self.gradient(y)], [(str(k), part) for k, part in enumerate(parts)]))
        return y

    def split(self, name, x, count, axis):
        shape = [size // count if k == axis else size for k, size in enumerate(x.shape)]
        parts = [self.made(f"{name}.{k}", shape, [x]) for k in range(count)]
        self.operator(name, [x], parts)
        self.note(lambda: self.flow_back(name, [self.gradient(part) for part in parts], [("x", x)]))
        return parts

    def add(self, name, a, b):
        """The gradient of a sum is that of both its terms: no operator."""
        y = self.made(f"{name}.y", a.shape, [a, b])
        self.operator(name, [a, b], [y], y.elements)

        def backward():
            for term in (a, b):
                if term.learns:
                    self.flow(term, self.gradient(y), shared=True)

        self.note(backward)
        return y

    def add_in_place(self, name, a, b):
        """Adds b to a, whose terms no backward pass needs."""
        if a in self.used:
            raise ValueError(f"{name}: {a.name} was read before; what read it may need it in the backward pass")
        self.operator(name, [a, b], [a], a.elements)
        self.note(lambda: self.flow(b, self.gradient(a), shared=True))  # a's own goes on as it is
        return a

    def multiply(self, name, a, b):
        """Element by element."""
        y = self.made(f"{name}.y", a.shape, [a, b])
        self.operator(name, [a, b], [y], y.elements)

        def backward():
            needed = [other for term, other in ((a, b), (b, a)) if term.learns]
            self.flow_back(name, [self.gradient(y), *needed], [("a", a), ("b", b)], len(needed) * y.elements)

        self.note(backward)
        return y

    def classify(self, x, classes):
        """The end of a network: scores of classes, and in training the loss against the labels."""
        features = x.elements // x.shape[0]
        scores = self.linear("scores", x, [self.parameter("scores.w", (classes, features)), self.parameter("scores.b", (classes,))])
        chances = self.tensor("chances", scores.shape, kept=not self.training)
        flops = 4 * scores.elements
        if not self.training:
            self.operator("softmax", [scores], [chances], flops)
            return
        labels = self.input("labels", (x.shape[0],))
        self.operator("softmax", [scores, labels], [chances, self.tensor("loss", (1,), kept=True)], flops)
        self.note(lambda: self.flow_back("softmax", [chances, labels], [("x", scores)], scores.elements))
