#!/usr/bin/env python3
"""Random programs over the whole language, each in several plans, against NumPy.

    random_programs.py RUNNER --programs 300              seeds 1 to 300
    random_programs.py RUNNER --seed 17 --print           one program, its text and what is wrong with it

tree.py        programs as typed trees; text.py prints them as .ks
generate.py    makes one of a seed (gen_*.py: scalars, functions, arrays, products)
data.py        random inputs
meaning.py     what a program gives, with NumPy (scalars.py, folds.py, products.py): written from docs/language.md alone
compare.py     how far rounding may move a result: the program is evaluated again with every rounding off by chance
runner.py      the child that plans and runs programs with libcore, libopt and libkernels (run_programs.cpp)
plans.py       which plans and runs a seed gets
shrink.py      makes a program that fails small
known.py       faults that are known and open
"""
import argparse
import sys
import time
from collections import Counter

import known
from check import check, fails_alike
from generate import generate
from plans import requests
from runner import Runner
from shrink import shrink
from text import program_text


def report(seed, program, failure, note=''):
    print(f'seed {seed}{note}: {failure.kind}: {failure.message[:2000]}\n  {failure.request}\n{program_text(program)}',
          flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('runner', help='build/tests/random/run-programs')
    parser.add_argument('--programs', type=int, default=300)
    parser.add_argument('--first', type=int, default=1, help='the first seed')
    parser.add_argument('--plans', type=int, default=3, help='of each program')
    parser.add_argument('--print', action='store_true', help='the text of every program')
    parser.add_argument('--no-shrink', action='store_true', help='programs that fail as they were made')
    parser.add_argument('--known', action='store_true', help='reports known faults, too')
    return parser.parse_args()


class Check:
    def __init__(self, args):
        self.args, self.runner = args, Runner(args.runner)
        self.failures, self.known, self.chaotic, self.outputs = Counter(), Counter(), 0, 0

    def one(self, seed):
        program = generate(seed)
        if self.args.print:
            print(program_text(program))
        failure, _, chaotic = check(self.runner, f's{seed}', program, requests(seed, self.args.plans))
        self.chaotic, self.outputs = self.chaotic + chaotic, self.outputs + len(program.outputs)
        if failure:
            self.fail(seed, program, failure)

    def fail(self, seed, program, failure):
        why = known.reason(program, failure)
        if why and not self.args.known:
            self.known[why] += 1
            return
        self.failures[failure.kind] += 1
        report(seed, program, failure)
        if not self.args.no_shrink:
            small = shrink(program, lambda tried: fails_alike(self.runner, tried, failure))
            again, _, _ = check(self.runner, 'small', small, [failure.request] if failure.request else [])
            report(seed, small, again or failure, ' shrunk')


def main():
    args, began = options(), time.time()
    checked = Check(args)
    for seed in range(args.first, args.first + args.programs):
        checked.one(seed)
    checked.runner.stop()
    print(f'{args.programs} programs, {checked.outputs} outputs ({checked.chaotic} left to chance by rounding), '
          f'{time.time() - began:.1f} s; failures: {dict(checked.failures)}; known: {dict(checked.known)}')
    return 1 if checked.failures else 0


if __name__ == '__main__':
    sys.exit(main())
