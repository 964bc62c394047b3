"""Programs through the tools as a user runs them: `kasen go` on data files, on one process or two ranks, with --explain of
the plan, `measure --check` of the counters, checkpoints from which the run goes on, kept forms, other levels of processors, other numbers of workers, and results read from HDF5."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import h5py
import numpy as np

from check import Failure, numpy_failure
from compare import difference, wanted_outputs
from data import random_data, words
from text import program_text
from tree import is_arr, is_tup, scalars_of, statements

STRATEGIES = ['greedy', 'greedy', 'none', 'fuse-all', 'fuse-no-redundancy', 'cost']
SYNCS = ['hybrid', 'auto', 'lazy', 'eager']
METHODS = ['hybrid-cut', 'block', 'ml', 'auto']
LEVELS = ['x86-64-v3', 'x86-64-v2', 'x86-64-v4']
USAGE = 64  # a level that this processor lacks
REFUSED = 65  # a program that runs over no mesh


class CommandFailed(Exception):
    pass


class Commands:
    def __init__(self, tools, folder):
        self.tools, self.folder = pathlib.Path(tools).resolve(), pathlib.Path(folder)

    def kasen(self, *args, allowed=(0,)):
        command = [self.tools / 'kasen', *map(str, args)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode not in allowed:
            said = (done.stdout[-1500:] + done.stderr[-3000:]).strip()
            raise CommandFailed(f'kasen {" ".join(map(str, args))}: status {done.returncode}\n{said}')
        return done.stdout + done.stderr


def matrix_text(v, stored, rows, cols):
    field = {'null': 'pattern', 'i64': 'integer', 'i32': 'integer'}.get(v.elem, 'real')
    lines = ['%%MatrixMarket matrix coordinate ' + field + ' general', f'{rows} {cols} {len(stored.rows)}']
    for e, (i, j) in enumerate(zip(stored.rows, stored.cols)):
        value = '' if v.elem == 'null' else f' {stored.values[e]!s}'
        lines.append(f'{i + 1} {j + 1}{value}')
    return '\n'.join(lines) + '\n'


def points_text(array):
    """A row an element, with lines between them that hold none."""
    lines = [','.join(repr(number) for number in row) for row in array.tolist()]
    return '\n# between\n\n'.join(['\n'.join(lines[:2]), *lines[2:]]) + '\n'


def write_files(program, data, folder):
    """The inputs as files; gives `kasen go`'s arguments for them."""
    arguments = []
    for v in program.inputs:
        if not v.sparse:
            array = np.stack(data.arrays[v.name], axis=-1) if is_arr(v.elem) else data.arrays[v.name]
            if is_arr(v.elem) and len(v.dims) == 1 and array.size and v.elem[2] > 1:
                (folder / f'{v.name}.csv').write_text(points_text(array))
                arguments.append(f'{v.name}={v.name}.csv')
                continue
            np.save(folder / f'{v.name}.npy', array)
            arguments.append(f'{v.name}={v.name}.npy')
        elif v.elem == 'null' and program.seed % 2 and len(data.matrices[v.name].rows):
            np.save(folder / f'{v.name}.npy', np.stack([data.matrices[v.name].rows, data.matrices[v.name].cols], axis=1))
            arguments.append(f'{v.name}={v.name}.npy')
        else:
            sizes = [program.size(d) for d in v.dims]
            (folder / f'{v.name}.mtx').write_text(matrix_text(v, data.matrices[v.name], *sizes))
            arguments.append(f'{v.name}={v.name}.mtx')
    for d in program.dims.values():
        if d.size > 0 and not d.derived:
            arguments += ['--dim', f'{d.name}={d.size}']
    return arguments


def planes_in(item, elem):
    if is_tup(elem):
        return [p for i, part in enumerate(elem[1]) for p in planes_in(item[str(i)], part)]
    array = np.asarray(item[()])
    return list(np.moveaxis(array, -1, 0)) if is_arr(elem) else [array]


def planes_of_output(results, name, e):
    """Of a sparse value its rows, columns and numbers, in their order."""
    if 'at' not in e.info:
        return planes_in(results[name], e.elem)
    planes = [results[name][str(i)][()] for i in range(3)]
    return [plane[np.lexsort((planes[1], planes[0]))] for plane in planes]


def result_failure(program, wanted, file):
    with h5py.File(file) as results:
        for name, e in program.outputs:
            if wanted[name].chaotic:
                continue
            made = words([p.reshape(-1) for p in planes_of_output(results, name, e)])
            scalars = (['i64', 'i64'] if 'at' in e.info else []) + scalars_of(e.elem)
            wrong = difference(name, wanted[name], scalars, made)
            if wrong:
                return Failure('differs', f'in the result of kasen go: {wrong}', None)
    return None


def same_numbers(program, one, other):
    """Whether two results have the same bits, but for those of a NaN."""
    def bits(file, name, e):
        planes = planes_of_output(file, name, e)
        return [np.where(p != p, np.nan, p).tobytes() if p.dtype.kind == 'f' else p.tobytes() for p in planes]
    with h5py.File(one) as first, h5py.File(other) as second:
        return all(bits(first, name, e) == bits(second, name, e) for name, e in program.outputs)


class WholeCommand:
    """One program in a folder of its own."""

    def __init__(self, tools, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.commands, self.seed = Commands(tools, folder), program.seed

    def go(self, *more):
        workers = [1, 2, 3, 5][self.seed % 4]
        ranks = ['-n', min(2, workers)] if self.seed % 3 == 0 else []
        return self.commands.kasen(
            'go', 'p.ks', *self.files, '--workers', workers, '--method', METHODS[self.seed // 2 % 4], '--strategy',
            STRATEGIES[self.seed % 6], '--sync', SYNCS[self.seed // 3 % 4], '--threads', 1 + self.seed % 2, '--compress',
            'auto' if self.seed % 4 == 1 else 'none', *ranks, *more)

    def run(self, data, wanted):
        """Steps as users take them; CommandFailed where one ends with a status that it should not have."""
        (self.folder / 'p.ks').write_text(program_text(self.program))
        self.files = write_files(self.program, data, self.folder)
        found = any(d.derived and d.how == 'some' for d in self.program.dims.values())  # no checkpoint has such sizes
        saved = ['--checkpoint', 'saved', '--every', '1', '--keep', '100'] if self.seed % 2 and not found else []
        self.go('-o', 'r.h5', *saved)
        bundle = ['--bundle', 'p.run/bundle']
        if self.seed % 5 < 2:
            self.commands.kasen('fuse', 'p.run/plan.kir', *bundle, '--explain', '--strategy', STRATEGIES[self.seed % 6],
                                '--sync', 'auto', '-o', 'explained.kir')
        self.commands.kasen('measure', 'p.run/fused.kir', *bundle, '--against', 'p.run/run.json', '--check')
        self.keep_forms()
        self.take_workers()
        self.take_mesh(wanted)
        self.commands.kasen('verify', 'p.run', 'r.h5')
        self.take_level()
        if saved:
            self.resume(saved)
            self.carry(saved, wanted)

    def run_again(self, result, *more, allowed=(0,)):
        self.commands.kasen('run', 'p.run/fused.kir', '--bundle', 'p.run/bundle', '-o', result, *more, allowed=allowed)

    def keep_forms(self):
        """A run that keeps forms in the bundle, and one that takes them, have the bits of the first."""
        for result, forms in ('kept.h5', 'keep'), ('used.h5', 'use'):
            self.run_again(result, '--forms', forms)
            if (self.folder / result).read_bytes() != (self.folder / 'r.h5').read_bytes():
                raise CommandFailed(f'--forms {forms} has other bits')

    def take_workers(self):
        """A bundle of dense arrays gives another number of workers what one made for them gives."""
        if 'any number of workers' not in self.commands.kasen('partition', '--stats', 'p.run/bundle'):
            return
        workers = [2, 3, 1, 7][self.seed % 4]
        self.commands.kasen('fuse', 'p.run/plan.kir', '--strategy', STRATEGIES[self.seed % 6], '--sync', SYNCS[self.seed // 3 % 4], '-o', 'any.kir')
        self.commands.kasen('partition', '--program', 'p.run/plan.kir', *self.files, '--workers', workers, '-o', 'own')
        self.commands.kasen('run', 'any.kir', '--bundle', 'own', '-o', 'own.h5')
        self.commands.kasen('run', 'any.kir', '--bundle', 'p.run/bundle', '--workers', workers, '-o', 'other.h5', '--stats', 'other.json')
        self.commands.kasen('measure', 'any.kir', '--bundle', 'p.run/bundle', '--against', 'other.json', '--check')
        if not same_numbers(self.program, self.folder / 'own.h5', self.folder / 'other.h5'):
            raise CommandFailed(f'the bundle read for {workers} workers has other bits than one made for them')

    def random_layouts(self, axes, random):
        """Hints for some inputs: each axis of the mesh cuts one dimension or none, half of these in blocks."""
        for v in self.program.inputs:
            free = [at for at, d in enumerate(v.dims) if not self.program.is_local(d)]
            if not free or random.random() < 0.3:
                continue
            cuts = [''] * len(v.dims)
            for axis in axes:
                if random.random() < 0.8:
                    cuts[random.choice(free)] += axis
            blocks = [f':{random.integers(1, 5)}' if cut and random.random() < 0.5 else '' for cut in cuts]
            yield v.name + '=[' + ','.join(d + ('/' + cut if cut else '') + block for d, cut, block in zip(v.dims, cuts, blocks)) + ']'

    def take_mesh(self, wanted):
        """A mesh, where arrays are dense, with inputs as random hints say: NumPy's results, and bytes as predicted."""
        if 'any number of workers' not in self.commands.kasen('partition', '--stats', 'p.run/bundle'):
            return
        mesh, axes = [('2x2', 'ab'), ('3', 'a'), ('2x3', 'ab'), ('2x2x2', 'abc')][self.seed % 4]
        hints = [word for hint in self.random_layouts(axes, np.random.default_rng(self.seed)) for word in ('--layout', hint)]
        nodes = ['--nodes', 'a'] if self.seed % 2 else []
        self.commands.kasen('fuse', 'p.run/plan.kir', '--mesh', mesh, *nodes, *hints, '-o', 'mesh.kir', allowed=(0, USAGE, REFUSED))
        if not (self.folder / 'mesh.kir').exists():
            return
        ranks = ['-n', 2] if self.seed % 3 == 0 else []
        self.commands.kasen('run', 'mesh.kir', '--bundle', 'p.run/bundle', '-o', 'mesh.h5', '--stats', 'mesh.json', *ranks)
        self.commands.kasen('measure', 'mesh.kir', '--bundle', 'p.run/bundle', '--against', 'mesh.json', '--check')
        wrong = result_failure(self.program, wanted, self.folder / 'mesh.h5')
        if wrong:
            raise CommandFailed(f'what goes on mesh {mesh} with {hints}: {wrong.message}')

    def take_level(self):
        """So has code for another level of processors."""
        level = LEVELS[self.seed % 3]
        self.run_again('level.h5', '--target', level, allowed=(0, USAGE))
        made = self.folder / 'level.h5'
        if made.exists() and not same_numbers(self.program, made, self.folder / 'r.h5'):
            raise CommandFailed(f'code for {level} has other bits')

    def resume(self, saved):
        """From each checkpoint, in turn from the newest, the same bits."""
        first = (self.folder / 'r.h5').read_bytes()
        found = sorted(p for p in (self.folder / 'saved').iterdir() if not p.name.startswith('.'))
        for newest in list(reversed(found))[:2]:
            shutil.rmtree(newest)
            self.go('-o', 'again.h5', *saved, '--resume')
            if (self.folder / 'again.h5').read_bytes() != first:
                raise CommandFailed(f'what goes on behind the removed {newest.name} has other bits')

    def carry(self, saved, wanted):
        """Another number of workers, and a mesh, go on from what this plan saved, where arrays are dense."""
        if 'any number of workers' not in self.commands.kasen('partition', '--stats', 'p.run/bundle'):
            return
        found = sorted(p for p in (self.folder / 'saved').iterdir() if not p.name.startswith('.'))
        for later in found[len(found) // 2 + 1:]:
            shutil.rmtree(later)
        shutil.copytree(self.folder / 'saved', self.folder / 'kept')
        for place, allowed in (('--workers', [2, 3, 1, 7][self.seed // 2 % 4]), (0,)), (('--mesh', '2x2'), (0, USAGE, REFUSED)):
            shutil.rmtree(self.folder / 'saved')
            shutil.copytree(self.folder / 'kept', self.folder / 'saved')
            self.commands.kasen('go', 'p.ks', *self.files, *place, '-o', 'carried.h5', *saved, '--resume', allowed=allowed)
            carried = self.folder / 'carried.h5'
            wrong = result_failure(self.program, wanted, carried) if carried.exists() else None
            carried.unlink(missing_ok=True)
            if wrong:
                raise CommandFailed(f'what goes on with {place}: {wrong.message}')


def check_commands(tools, program):
    data = random_data(program)
    try:
        wanted = wanted_outputs(program, data)
    except Exception as error:          # whatever the reference stumbles over is a failure of its own
        return numpy_failure(error)
    with tempfile.TemporaryDirectory(prefix='kasen-random-') as folder:
        try:
            WholeCommand(tools, program, folder).run(data, wanted)
            return result_failure(program, wanted, pathlib.Path(folder) / 'r.h5')
        except CommandFailed as failed:
            return Failure('command', str(failed), None)
        except subprocess.TimeoutExpired as late:
            return Failure('command', f'no end within {late.timeout} s: {late.cmd}', None)
