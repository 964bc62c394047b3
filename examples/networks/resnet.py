"""Residual networks of bottleneck blocks (He et al., 2016), and wide ones (Zagoruyko and Komodakis, 2016)."""
BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}  # depth -> blocks of each stage
EXPANSION = 4  # channels behind a block over those inside


def normed(net, name, x, channels, kernel, stride=1):
    return net.batch_norm(f"{name}.norm", net.convolution(f"{name}.conv", x, channels, kernel, stride))


def rectified(net, name, x, channels, kernel, stride=1):
    return net.activation(f"{name}.relu", normed(net, name, x, channels, kernel, stride), in_place=True)


def bottleneck(net, name, x, channels, stride):
    inner = rectified(net, f"{name}.1", x, channels, 1, stride)
    inner = rectified(net, f"{name}.2", inner, channels, 3)
    inner = normed(net, f"{name}.3", inner, EXPANSION * channels, 1)
    if x.shape != inner.shape:
        x = normed(net, f"{name}.shortcut", x, EXPANSION * channels, 1, stride)
    return net.activation(f"{name}.relu", net.add(f"{name}.add", inner, x), in_place=True)


def resnet(net, batch, width=1, depth=152, size=224, classes=1000):
    """`width` multiplies the channels of every convolution."""
    x = net.input("data", (batch, 3, size, size))
    x = rectified(net, "stem", x, 64 * width, 7, 2)
    x = net.pool("stem.pool", x, 3, 2, largest=True)
    for stage, blocks in enumerate(BLOCKS[depth]):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            x = bottleneck(net, f"stage{stage}.block{block}", x, (64 << stage) * width, stride)
    x = net.pool("pool", x, x.shape[2:], padding="valid")
    net.classify(x, classes)
