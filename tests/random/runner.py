"""Talks to run-programs (run_programs.cpp): a child that takes programs and answers with what their runs gave. One that
dies is told of, and the next program has a new child."""
import os
import select
import subprocess

import numpy as np

from data import words
from text import program_text


class Run:
    """Of one run: outputs by name, each (planes, words or the number of the run that had the same)."""

    def __init__(self, number):
        self.number, self.outputs, self.features, self.fault = number, {}, [], None


class Answer:
    def __init__(self):
        self.refused, self.runs, self.died, self.finished = None, [], None, False


def job_bytes(name, program, data, requests):
    text = program_text(program).encode()
    out = [f'job {name}\ntext {len(text)}\n'.encode(), text, b'\n']
    out += [f'dim {d.name} {d.size}\n'.encode() for d in program.dims.values()]
    for v in program.inputs:
        if v.sparse:
            stored = data.matrices[v.name]
            values = words(stored.values) if v.elem != 'null' else np.zeros(0, '<i8')
            out.append(f'matrix {v.name} {len(stored.rows)} {len(values)}\n'.encode())
            out += [stored.rows.astype('<i8').tobytes(), stored.cols.astype('<i8').tobytes(), values.tobytes(), b'\n']
            if v.batches:
                out += [f'batches {v.name} {len(stored.rows)}\n'.encode(), stored.batches.astype('<i8').tobytes(), b'\n']
        else:
            made = words(data.arrays[v.name])
            out += [f'dense {v.name} {len(made)}\n'.encode(), made.tobytes(), b'\n']
    for r in requests:
        flags = ' '.join(str(int(f)) for f in (r.epilogue, r.split, r.sized, r.proven, r.compressed))
        out.append(f'run {r.strategy} {r.sync} {flags} {r.workers} {r.owners} {r.kernels} {r.threads}\n'.encode())
    return b''.join(out) + b'end\n'


class Reader:
    """Lines and blobs of a pipe, with a limit of time on each wait."""

    def __init__(self, file, seconds):
        self.fd, self.seconds, self.buffer = file.fileno(), seconds, b''

    def more(self):
        ready, _, _ = select.select([self.fd], [], [], self.seconds)
        if not ready:
            raise TimeoutError()
        chunk = os.read(self.fd, 1 << 20)
        if not chunk:
            raise EOFError()
        self.buffer += chunk

    def line(self):
        while b'\n' not in self.buffer:
            self.more()
        line, _, self.buffer = self.buffer.partition(b'\n')
        return line.decode().split(' ')

    def blob(self, size):
        while len(self.buffer) <= size:
            self.more()
        blob, self.buffer = self.buffer[:size], self.buffer[size + 1:]
        return blob


class Runner:
    def __init__(self, program, seconds=240):
        self.program, self.seconds, self.child = program, seconds, None
        self.stderr = None

    def start(self):
        self.child = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = Reader(self.child.stdout, self.seconds)

    def stop(self):
        if self.child is None:
            return None
        self.child.stdin.close()
        try:
            status = self.child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            status = self.child.wait()
        self.child.stdout.close()
        self.child = None
        return status

    def ask(self, name, program, data, requests):
        if self.child is None:
            self.start()
        answer = Answer()
        try:
            self.child.stdin.write(job_bytes(name, program, data, requests))
            self.child.stdin.flush()
            self.read(answer)
        except (EOFError, BrokenPipeError):
            status = self.stop()
            answer.died = f'signal {-status}' if status and status < 0 else f'status {status}'
        except TimeoutError:
            self.child.kill()
            self.stop()
            answer.died = f'no answer within {self.seconds} s'
        return answer

    def read(self, answer):
        while True:
            word, *rest = self.reader.line()
            if word == 'done':
                answer.finished = True
                return
            if word == 'program' and rest[0] == 'refused':
                answer.refused = self.reader.blob(int(rest[1])).decode()
            elif word == 'run':
                answer.runs.append(Run(int(rest[0])))
            elif word == 'feature':
                answer.runs[-1].features.append(tuple(rest))
            elif word == 'fault':
                answer.runs[-1].fault = (rest[0], self.reader.blob(int(rest[1])).decode(errors='replace'))
            elif word == 'output':
                name, planes, how, number = rest
                made = int(number)
                if how == 'words':
                    made = np.frombuffer(self.reader.blob(8 * int(number)), '<i8')
                answer.runs[-1].outputs[name] = (planes.split(','), made)
