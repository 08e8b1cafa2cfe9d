"""Run a server and write down what it says, byte for byte: recorder.py LOG COMMAND..."""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    log, *command = sys.argv[1:]
    with Path(log).open("ab", buffering=0) as record:
        server = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert server.stdout is not None
        for line in server.stdout:
            # First what was said, so that whoever hears it finds it in the log.
            record.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
