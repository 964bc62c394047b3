"""Commands that tests of what is installed start."""
import subprocess


def checked(command, **options):
    """What it prints; AssertionError with all of it where it fails."""
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, timeout=280, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
