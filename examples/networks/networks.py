#!/usr/bin/env python3
"""Writes the graph of one training iteration of a neural network: tensors with their sizes, operators with estimated times, and
what each of them reads and writes. One line on stderr sums the graph up.

  resnet-152   ResNet-152
  wresnet-152  ResNet-152 with wider convolutions (--width)
  inception-4  Inception-v4 with wider convolutions (--width)
  nasnet-25    NASNet-A with three times 25 normal cells (--repeats)
  rnn          8 LSTM layers over a text of --steps characters
  brnn         4 LSTM layers in both directions

example:
  python3 examples/networks/networks.py resnet-152 --batch 16 -o graph.json
"""
import argparse
import dataclasses
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
from graph import Machine  # noqa: E402
from inception import inception  # noqa: E402
from layers import Network  # noqa: E402
from nasnet import nasnet  # noqa: E402
from recurrent import brnn, rnn  # noqa: E402
from resnet import resnet  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Row:
    build: object  # function(network, batch, **settings)
    batch: int
    settings: dict  # option -> its default


NETWORKS = {
    "resnet-152":  Row(resnet,    64,  {"size": 224}),
    "wresnet-152": Row(resnet,    64,  {"size": 224, "width": 10}),
    "inception-4": Row(inception, 64,  {"size": 299, "width": 4}),
    "nasnet-25":   Row(nasnet,    64,  {"size": 299, "repeats": 25, "filters": 1920}),
    "rnn":         Row(rnn,       256, {"steps": 40, "layers": 8, "hidden": 8192}),
    "brnn":        Row(brnn,      128, {"steps": 40, "layers": 4, "hidden": 8192}),
}
SETTINGS = {
    "width": "times as many channels in every convolution",
    "size": "height and width of the pictures in pixels",
    "repeats": "a third of the number of normal cells",
    "filters": "channels behind the last cell: 24 times those inside the first",
    "steps": "characters of a text",
    "layers": "LSTM layers",
    "hidden": "units of a layer",
}


def count(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def speed(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def options():
    parser = argparse.ArgumentParser(prog="networks.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("network", metavar="NETWORK", choices=NETWORKS, help="one of the six above")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where the graph goes, as JSON")
    parser.add_argument("--batch", type=count, metavar="N", help="samples of an iteration; " + defaults("batch"))
    for name, what in SETTINGS.items():
        parser.add_argument(f"--{name}", type=count, metavar="N", help=f"{what}; {defaults(name)}")
    parser.add_argument("--inference", action="store_true", help="the forward pass alone")
    machine = Machine()
    parser.add_argument("--rate", type=speed, metavar="FLOP/s", default=machine.rate, help="peak of f32 arithmetic (%(default)g)")
    parser.add_argument("--share", type=speed, metavar="X", default=machine.share, help="what operators reach of it (%(default)g)")
    parser.add_argument("--bandwidth", type=speed, metavar="B/s", default=machine.bandwidth, help="of the device's memory (%(default)g)")
    parser.add_argument("--launch", type=speed, metavar="S", default=machine.launch, help="seconds that an operator takes at least (%(default)g)")
    return parser


def defaults(name):
    """What an option is for each network that has it."""
    known = {network: row.batch if name == "batch" else row.settings.get(name) for network, row in NETWORKS.items()}
    return ", ".join(f"{network}: {value}" for network, value in known.items() if value)


def settings_of(given, row):
    """The network's settings: the defaults and what was given in their place."""
    wanted = {name: getattr(given, name) for name in SETTINGS if getattr(given, name) is not None}
    for name in wanted:
        if name not in row.settings:
            raise ValueError(f"{given.network} has no --{name}")
    return row.settings | wanted


def title(given, row, settings, batch):
    """The network, and each setting that is not its default."""
    changed = [f"{name} {value}" for name, value in settings.items() if value != row.settings[name]]
    changed += [f"batch {batch}"] if batch != row.batch else []
    changed += ["inference"] if given.inference else []
    return ", ".join([given.network, *changed])


def build(given):
    row = NETWORKS[given.network]
    settings, batch = settings_of(given, row), given.batch or row.batch
    machine = Machine(given.rate, given.share, given.bandwidth, given.launch)
    network = Network(title(given, row, settings, batch), machine, training=not given.inference)
    row.build(network, batch, **settings)
    network.finish()
    return network


def main():
    parser = options()
    given = parser.parse_args()
    try:
        network = build(given)
    except ValueError as wrong:
        parser.error(str(wrong))
    try:
        with open(given.output, "w", encoding="utf-8") as file:
            file.writelines(network.lines())
    except OSError as wrong:
        parser.exit(1, f"networks.py: error: {given.output}: {wrong.strerror}\n")
    print(network.summary(), file=sys.stderr)


if __name__ == "__main__":
    main()
