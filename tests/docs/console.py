"""Pages whose blocks of commands are run: ```console blocks with `$ command` lines and what they print."""
import re
import subprocess

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def commands(block):
    """[(command, what it prints)] of one block. A command goes on behind a `\\`, and until END where it has a <<'END'."""
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            found[-1][1].append(line)
            continue
        command = [line[2:]]
        while command[-1].endswith("\\"):
            command.append(next(lines))
        if "<<'END'" in command[-1]:
            for more in lines:
                command.append(more)
                if more == "END":
                    break
        found.append(["\n".join(command), []])
    return found


def run(page, folder, env, skip=()):
    """Runs the page in one shell: [(command, expected lines, printed lines, exit status)]. Skips commands of `skip`."""
    wanted = [c for block in BLOCK.findall(page.read_text()) for c in commands(block)]
    wanted = [c for c in wanted if c[0] not in skip]
    script = "".join(f"{command}\nprintf '\\001%d\\n' $?\n" for command, _ in wanted)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=280, check=False)
    pieces = re.split("\001(\\d+)\n", done.stdout)
    assert len(pieces) == 2 * len(wanted) + 1, done.stdout[-3000:]
    return [(command, shown, printed.splitlines(), int(status))
            for (command, shown), printed, status in zip(wanted, pieces[::2], pieces[1::2])]


def agrees(shown, printed):
    """Does what is shown stand for what was printed? A line `...` is any lines, `...` in a line any part of it."""
    pattern = ""
    for line in shown:
        pattern += r"(.*\n)*" if line == "..." else r"[^\n]*".join(re.escape(p) for p in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def renewed(page, results):
    """The page's text with each block's output as it was printed."""
    results = iter(results)

    def block(match):
        text = ""
        for command, shown in commands(match[1]):
            ran = next(results)
            assert ran[0] == command, command
            text += f"$ {command}\n" + "".join(line.rstrip() + "\n" for line in (shown if agrees(shown, ran[2]) else ran[2]))
        return f"```console\n{text}```"
    return BLOCK.sub(block, page.read_text())
