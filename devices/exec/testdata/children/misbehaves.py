"""A child that does what its argument says when the first element of A is 1 (fp32), and
otherwise gives zeros: python3 misbehaves.py DIRECTORY WHAT, where DIRECTORY has protocol.py."""
import os
import signal
import struct
import sys
import time

sys.path.insert(0, sys.argv[1])
import protocol


def run(tiles, m, n, buffers):
    if bytes(buffers[0][:4]) == struct.pack("<f", 1):
        what = sys.argv[2]
        if what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "hangs":
            time.sleep(3600)
        elif what == "prints":
            print("a library's warning", flush=True)
            os.write(1, b"and one of its C++ code\n")
        elif what == "raises":
            raise ValueError("wrong shape:\n(3, 4)")
        elif what == "exhausts":
            raise MemoryError("4 TiB")
        elif what == "short":
            return b"abc"
    return bytes(4 * tiles * m * n)


protocol.serve([protocol.Instruction("one", 1, run, "1..4", "1..4", "fp32", "fp32", "fp32")], {"what": sys.argv[2]}, deadline="2s" if sys.argv[2] == "hangs" else "60s")
