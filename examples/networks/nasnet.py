"""NASNet-A (Zoph et al., 2018): cells of five sums, over the results of the two cells before."""


def normed(net, name, x, channels):
    """ReLU, 1x1 convolution, batch normalisation."""
    x = net.activation(f"{name}.relu", x)
    return net.batch_norm(f"{name}.norm", net.convolution(f"{name}.conv", x, channels, 1))


def separable(net, name, x, channels, kernel, stride=1):
    """Twice ReLU, a convolution of each channel alone, one across channels, batch normalisation. The stride is in the first."""
    for half in ("first", "second"):
        here = f"{name}.{half}"
        x = net.activation(f"{here}.relu", x, in_place=half == "second")
        x = net.convolution(f"{here}.each", x, x.shape[1], kernel, stride if half == "first" else 1, groups=x.shape[1])
        x = net.batch_norm(f"{here}.norm", net.convolution(f"{here}.across", x, channels, 1))
    return x


def halved(net, name, x, channels):
    """Every second pixel, taken twice with a shift of one: keeps more than one stride of 2 would."""
    x = net.activation(f"{name}.relu", x)
    paths = [net.convolution(f"{name}.conv{k}", net.pool(f"{name}.pick{k}", x, 1, 2), channels // 2, 1) for k in (0, 1)]
    return net.batch_norm(f"{name}.norm", net.concat(f"{name}.concat", paths))


def adjusted(net, name, before, last, channels):
    """The result of the cell before the last, with the height, width and channels that this cell works with."""
    if before is None:
        return last
    if before.shape[2:] != last.shape[2:]:
        return halved(net, f"{name}.adjust", before, channels)
    return before if before.shape[1] == channels else normed(net, f"{name}.adjust", before, channels)


def normal_cell(net, name, last, before, channels):
    p = adjusted(net, name, before, last, channels)
    h = normed(net, f"{name}.squeeze", last, channels)
    sums = [
        net.add(f"{name}.add0", separable(net, f"{name}.0a", h, channels, 5), separable(net, f"{name}.0b", p, channels, 3)),
        net.add(f"{name}.add1", separable(net, f"{name}.1a", p, channels, 5), separable(net, f"{name}.1b", p, channels, 3)),
        net.add(f"{name}.add2", net.pool(f"{name}.2a", h, 3), p),
        net.add(f"{name}.add3", net.pool(f"{name}.3a", p, 3), net.pool(f"{name}.3b", p, 3)),
        net.add(f"{name}.add4", separable(net, f"{name}.4a", h, channels, 3), h),
    ]
    return net.concat(f"{name}.concat", [p, *sums])


def reduction_cell(net, name, last, before, channels):
    p = adjusted(net, name, before, last, channels)
    h = normed(net, f"{name}.squeeze", last, channels)
    s0 = net.add(f"{name}.add0", separable(net, f"{name}.0a", h, channels, 5, 2), separable(net, f"{name}.0b", p, channels, 7, 2))
    s1 = net.add(f"{name}.add1", net.pool(f"{name}.1a", h, 3, 2, largest=True), separable(net, f"{name}.1b", p, channels, 7, 2))
    s2 = net.add(f"{name}.add2", net.pool(f"{name}.2a", h, 3, 2), separable(net, f"{name}.2b", p, channels, 5, 2))
    s3 = net.add(f"{name}.add3", net.pool(f"{name}.3a", s0, 3), s1)
    s4 = net.add(f"{name}.add4", separable(net, f"{name}.4a", s0, channels, 3), net.pool(f"{name}.4b", h, 3, 2, largest=True))
    return net.concat(f"{name}.concat", [s1, s2, s3, s4])


def nasnet(net, batch, repeats=25, filters=1920, size=299, stem=32, classes=1000):
    """Three times `repeats` normal cells, with reductions between. `filters`: channels behind the last, 24 times the first's."""
    x = net.input("data", (batch, 3, size, size))
    x = net.batch_norm("stem.norm", net.convolution("stem.conv", x, stem, 3, 2, "valid"))
    before, channels = None, filters // 24
    for number in (0, 1):
        x, before = reduction_cell(net, f"stem{number}", x, before, channels // (4 >> number)), x
    for stage in range(3):
        if stage > 0:
            x, before = reduction_cell(net, f"reduce{stage}", x, before, channels << stage), x
        for number in range(repeats):
            x, before = normal_cell(net, f"stage{stage}.cell{number}", x, before, channels << stage), x
    x = net.activation("relu", x)
    x = net.pool("pool", x, x.shape[2:], padding="valid")
    net.classify(x, classes)
