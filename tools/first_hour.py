"""Types the ten tasks of docs/tutorials/first-hour.md, and prints how long each takes: `python tools/first_hour.py`.

The page is the script: a block behind the name of a file is that file, and a line that begins with `$ ` is a command. A
command that fails is a stumble. python/tests/test_tutorials.py holds the outputs to those of the page.
"""

import re
import subprocess
import sys
import tempfile
import time
from os import environ, pathsep
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/tutorials/first-hour.md"
BLOCK = re.compile(r"(?:^`([^`\s]+\.\w+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Return the exit status: 1 if a command failed."""
    failed = 0
    path = pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    print(f"{'task':36} {'commands':>8} {'letters':>8} {'seconds':>8} {'stumbles':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            task = part.partition("\n")[0]
            commands, letters, stumbles, began = 0, 0, 0, time.perf_counter()
            for file, language, text in BLOCK.findall(part):
                if file:
                    Path(folder, file).write_text(text, encoding="utf-8")
                    letters += len(text)
                for line in text.splitlines() if language == "console" else []:
                    if line.startswith("$ "):
                        done = subprocess.run(
                            ["bash", "-c", line[2:]],
                            cwd=folder,
                            env=environ | {"PATH": path},
                            capture_output=True,
                            check=False,
                        )
                        commands += 1
                        letters += len(line) - 2
                        stumbles += done.returncode != 0
            failed += stumbles
            print(f"{task:36} {commands:8} {letters:8} {time.perf_counter() - began:8.1f} {stumbles:8}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
