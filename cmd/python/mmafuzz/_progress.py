"""What a long call is doing, on stderr."""

import contextlib
import shutil
import sys
import time


@contextlib.contextmanager
def line(wanted=None):
    """A function that is told again and again what is being done, "" if that is nothing new, and shows it with the
    time since the beginning: on a terminal in a line that is rewritten every second and gone at the end, elsewhere
    in a new line after four seconds and then every ten. wanted is whether it does; None: on a terminal."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (terminal if wanted is None else wanted):
        yield lambda doing: None
        return
    began = time.monotonic()
    due, last = began + (1 if terminal else 4), ""

    def say(doing):
        nonlocal due, last
        last, now = doing or last, time.monotonic()
        if not last or now < due:
            return
        seconds = int(now - began)
        text = f"{seconds // 60}:{seconds % 60:02}  {last}"
        due = now + (1 if terminal else 10)
        print(f"\r\x1b[K{text[:shutil.get_terminal_size().columns - 1]}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)

    try:
        yield say
    finally:
        if terminal and last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
