#!/usr/bin/env python3
"""Random programs over the whole language, each in several plans, against NumPy.

    random_programs.py RUNNER --programs 300              seeds 1 to 300
    random_programs.py RUNNER --first 17 --programs 1 --print     one program, its text and what is wrong with it
    random_programs.py RUNNER --programs 0 --tools build/tools --commands 10      10 through the whole command

tree.py        programs as typed trees; text.py prints them as .ks
generate.py    makes one of a seed (gen_*.py: scalars, functions, arrays, views, products)
dags.py        straight lines of expressions that share parts, and their plans
data.py        random inputs
meaning.py     what a program gives, with NumPy (scalars.py, folds.py, products.py): written from docs/language.md alone
compare.py     how far rounding may move a result: the program is evaluated again with every rounding off by chance
runner.py      the child that plans and runs programs with libcore, libopt and libkernels (run_programs.cpp)
plans.py       which plans and runs a seed gets
shrink.py      makes a program that fails small
coverage.py    which combinations of operator, type, state, region, strategy and mode were reached
whole_command.py  programs through `kasen go` and the other tools
known.py       faults that are known and open
"""
import argparse
import sys
import time
from collections import Counter

import known
from check import check, complaint, fails_alike
from coverage import Coverage
from dags import dag, dag_requests
from generate import generate
from plans import requests
from runner import Runner
from shrink import shrink
from text import program_text
from whole_command import check_commands


def report(seed, program, failure, note=''):
    print(f'seed {seed}{note}: {failure.kind}: {failure.message[:2000]}\n  {failure.request}\n{program_text(program)}',
          flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('runner', help='build/tests/random/run-programs')
    parser.add_argument('--programs', type=int, default=300)
    parser.add_argument('--first', type=int, default=1, help='the first seed')
    parser.add_argument('--plans', type=int, default=3, help='of each program')
    parser.add_argument('--every', type=int, default=1, help='one of so many plans runs with generated kernels, too')
    parser.add_argument('--most', type=int, default=10, help='failures after which it ends')
    parser.add_argument('--print', action='store_true', help='the text of every program')
    parser.add_argument('--no-shrink', action='store_true', help='programs that fail as they were made')
    parser.add_argument('--tools', help='the folder of the tools')
    parser.add_argument('--commands', type=int, default=0, help='so many programs go through kasen go instead')
    parser.add_argument('--dags', type=int, default=0, help='so many straight lines of shared expressions, in every strategy')
    parser.add_argument('--coverage', action='store_true', help='the table of combinations that were reached')
    parser.add_argument('--gaps', action='store_true', help='and every one that was not')
    parser.add_argument('--known', action='store_true', help='reports known faults, too')
    return parser.parse_args()


class Check:
    def __init__(self, args):
        self.args, self.runner = args, Runner(args.runner)
        self.failures, self.known, self.chaotic, self.outputs = Counter(), Counter(), 0, 0
        self.coverage = Coverage()

    def one(self, seed):
        self.checked(seed, generate(seed), requests(seed, self.args.plans, self.args.every))

    def dag(self, seed):
        self.checked(seed, dag(seed), dag_requests(seed))

    def checked(self, seed, program, asked):
        if self.args.print:
            print(program_text(program))
        failure, answer, chaotic = check(self.runner, f's{seed}', program, asked)
        self.chaotic, self.outputs = self.chaotic + chaotic, self.outputs + len(program.outputs)
        for run in answer.runs if answer else []:
            if run.number >= 0:
                self.coverage.add(run, asked[run.number])
        if failure:
            self.fail(seed, program, failure, lambda tried: fails_alike(self.runner, tried, failure))

    def command(self, seed):
        program = generate(seed, files=True)
        if self.args.print:
            print(program_text(program))
        failure = check_commands(self.args.tools, program)

        def fails(tried):
            found = check_commands(self.args.tools, tried)
            return found is not None and (found.kind, complaint(found)) == (failure.kind, complaint(failure))
        if failure:
            self.fail(seed, program, failure, fails)

    def fail(self, seed, program, failure, fails):
        why = known.reason(program, failure)
        if why and not self.args.known:
            self.known[why] += 1
            return
        self.failures[failure.kind] += 1
        report(seed, program, failure)
        if not self.args.no_shrink:
            report(seed, shrink(program, fails, 600 if failure.kind != 'command' else 60), failure, ' shrunk')


def main():
    args, began = options(), time.time()
    checked = Check(args)
    for work, count in ((checked.one, args.programs), (checked.dag, args.dags), (checked.command, args.commands)):
        for seed in range(args.first, args.first + count):
            if checked.failures.total() < args.most:
                work(seed)
    checked.runner.stop()
    print(f'{args.programs} programs, {args.dags} DAGs, {checked.outputs} outputs ({checked.chaotic} left to chance by rounding), '
          f'{args.commands} commands, {time.time() - began:.1f} s; failures: {dict(checked.failures)}; '
          f'known: {dict(checked.known)}')
    wrong = checked.coverage.unknown()
    for a, x, b, y in wrong:
        print(f'coverage.py does not know {a} {x} with {b} {y}')
    if args.coverage or args.gaps:
        print('\n'.join(checked.coverage.report(args.gaps)))
    return 1 if checked.failures or wrong else 0


if __name__ == '__main__':
    sys.exit(main())
