"""Inception-v4 (Szegedy et al., 2017).

A branch is a text of steps, left to right: `64` a 1x1 convolution to 64 channels, `96:3` one of 3x3, `64:1x7` of 1x7; `/2`
behind it a stride of 2 without padding, `v` a stride of 1 without padding. `max` is a pooling by the largest, 3x3, stride 2,
and `mean` one by the mean, 3x3. `|` parts a step in two: both ends are results of the branch.
"""
STEM = ("32:3/2 32:3v 64:3",)
STEM_CELLS = {"stem1": ("max", "96:3/2"), "stem2": ("64 96:3v", "64 64:1x7 64:7x1 96:3v"), "stem3": ("192:3/2", "max")}
CELLS = {
    "a": ("96", "64 96:3", "64 96:3 96:3", "mean 96"),
    "reduce_a": ("384:3/2", "192 224:3 256:3/2", "max"),
    "b": ("384", "192 224:1x7 256:7x1", "192 192:7x1 224:1x7 224:7x1 256:1x7", "mean 128"),
    "reduce_b": ("192 192:3/2", "256 256:1x7 320:7x1 320:3/2", "max"),
    "c": ("256", "384 256:1x3|256:3x1", "384 448:3x1 512:1x3 256:1x3|256:3x1", "mean 256"),
}
ORDER = (("a", 4), ("reduce_a", 1), ("b", 7), ("reduce_b", 1), ("c", 3))  # cells, how often each


def step(net, name, x, text, width):
    """Convolution, batch normalisation and ReLU; or a pooling."""
    if text == "max":
        return net.pool(f"{name}.max", x, 3, 2, "valid", largest=True)
    if text == "mean":
        return net.pool(f"{name}.mean", x, 3)
    stride, padding = (2 if text.endswith("/2") else 1), ("valid" if text.endswith(("/2", "v")) else "same")
    channels, _, kernel = text.removesuffix("/2").removesuffix("v").partition(":")
    sides = [int(side) for side in (kernel or "1").split("x")]
    x = net.convolution(f"{name}.conv", x, int(channels) * width, (sides[0], sides[-1]), stride, padding)
    return net.activation(f"{name}.relu", net.batch_norm(f"{name}.norm", x), in_place=True)


def branch(net, name, x, text, width):
    """The results of a branch: two where its last step is parted."""
    *steps, ends = text.split()
    for number, one in enumerate(steps):
        x = step(net, f"{name}.{number}", x, one, width)
    return [step(net, f"{name}.end{number}", x, one, width) for number, one in enumerate(ends.split("|"))]


def cell(net, name, x, branches, width):
    ends = [end for number, text in enumerate(branches) for end in branch(net, f"{name}.branch{number}", x, text, width)]
    return ends[0] if len(ends) == 1 else net.concat(f"{name}.concat", ends)


def inception(net, batch, width=1, size=299, classes=1000):
    """`width` multiplies the channels of every convolution."""
    x = net.input("data", (batch, 3, size, size))
    x = cell(net, "stem0", x, STEM, width)
    for name, branches in STEM_CELLS.items():
        x = cell(net, name, x, branches, width)
    for name, count in ORDER:
        for number in range(count):
            x = cell(net, f"{name}{number}", x, CELLS[name], width)
    x = net.pool("pool", x, x.shape[2:], padding="valid")
    net.classify(x, classes)
