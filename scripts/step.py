"""Run one step of `make`: say what it does, show that it goes on, and how long it took.

    python3 scripts/step.py "Fetching packages (about 30 MB)" -- COMMAND ...

What the command prints is shown only if it fails. Runs before anything is installed.
"""

import subprocess
import sys
import tempfile
import time

SIGN_EVERY = 3.0


def main() -> int:
    sentence, _, *command = sys.argv[1:]
    _show(sentence)
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        code = _wait(process)
        _show(f" {time.monotonic() - begin:.0f} s\n" if code == 0 else " failed\n")
        if code:
            output.seek(0)
            _show(output.read().decode(errors="replace"))
    return code


def _wait(process: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return process.wait(SIGN_EVERY)
        except subprocess.TimeoutExpired:
            _show(".")
        except KeyboardInterrupt:
            process.terminate()
            return process.wait() or 130


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
