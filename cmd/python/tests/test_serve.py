"""mmafuzz.serve, by children that the package itself runs as exec: targets."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import mmafuzz
from common import HOPPER, chain, dots

CHILD = '''
import numpy as np
import mmafuzz

@mmafuzz.serve("pairs", k=32, a="e2m1", b="e2m1", c=None, d="fp32", scale="ue8m0", block=32, more=True)
def scaled(a, b, sa, sb):
    """The sum of sixteen pairs of bits, times the first scale: nothing that anybody computes."""
    assert a.shape[1:] == b.shape[1:] == (32,) and sa.shape[1:] == sb.shape[1:] == (1,)
    return (a.view(np.uint8).astype(np.float32) * b.view(np.uint8)).sum(axis=1) + sa.view(np.uint8)[:, 0]

@mmafuzz.serve("halve", k=1, a="fp32", b="one", c=None, d="fp16", more=True)
def halves(a):
    with np.errstate(all="ignore"):
        return a[:, 0].astype(np.float16)

@mmafuzz.serve(k=16, a=np.float16, b="fp16", c="fp32", d=np.float32, about={"numpy": np.__version__}, batch=100)
def chained(a, b, c):
    print("this is no answer")
    if np.any(c == 7):
        raise ValueError("seven")
    with np.errstate(all="ignore"):
        for k in range(16):
            c = c + a[:, k].astype(np.float32) * b[:, k].astype(np.float32)
    return c

raise SystemExit("what stands below does not run")
'''


class Serve(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.child = pathlib.Path(directory.name, "child.py")
        self.child.write_text(CHILD)
        self.target = f"exec:'{sys.executable}' '{self.child}'"

    def test_units(self):
        units = mmafuzz.units(self.target)
        self.assertEqual([(i.name, i.k, str(i.c), str(i.scale)) for i in units], [("pairs", 32, "None", "ue8m0"), ("halve", 1, "None", "None"), ("chained", 16, "fp32", "None")])

    def test_conversion(self):
        with mmafuzz.unit(self.target, "halve") as u:
            self.assertFalse(mmafuzz.compare(u, "sim:x86/vcvtps2ph", count=3000))
            self.assertFalse(mmafuzz.compare(u, lambda a: a[:, 0].astype(np.float16), count=3000))

    def test_bits(self):
        with mmafuzz.unit(self.target, "chained") as u:
            a, b, c = dots(1000)
            np.testing.assert_array_equal(u(a, b, c), chain(a, b, c))
            np.testing.assert_array_equal(u.matmul(a, b.T), mmafuzz.unit("ref:mul32", like=HOPPER).matmul(a, b.T))
            self.assertFalse(mmafuzz.compare(u, chain, count=3000))
        with mmafuzz.unit(self.target, "pairs") as u:
            a = np.arange(64, dtype=np.uint8).reshape(2, 32) % 16
            d = u(a, a, sa=np.array([[1], [2]], np.uint8), sb=np.array([[3], [4]], np.uint8))
            np.testing.assert_array_equal(d, (a.astype(np.float32)**2).sum(axis=1) + [1, 2])

    def test_fault(self):
        with mmafuzz.unit(self.target, "chained") as u:
            a, b, c = dots(3)
            with self.assertRaisesRegex(mmafuzz.Error, "ValueError: seven"):
                u(a, b, np.float32(7))
            np.testing.assert_array_equal(u(a, b, c), chain(a, b, c))

    def test_guide(self):
        """The example of mmafuzz help exec."""
        guide = pathlib.Path(__file__).parents[2] / "mmafuzz/guides/exec.md"
        self.child.write_text(re.search(r"```python\n(.*?)```", guide.read_text(), re.S)[1])
        with mmafuzz.unit(self.target) as u:
            self.assertEqual((u.info.name, u.info.k), ("dot4", 4))
            a, b, c = dots(100, 4)
            np.testing.assert_array_equal(u(a, b, c), ((a.astype(np.float64) * b).sum(axis=1) + c).astype(np.float32))

    def test_imported(self):
        """A module that is imported is a module."""
        code = CHILD.replace("raise SystemExit", "print").replace("import mmafuzz", "import mmafuzz; __name__ = 'module'")
        done = subprocess.run([sys.executable, "-c", code + "\nprint(scaled.__name__, chained.__name__)"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines()[-1:], ["scaled chained"], done.stderr)

    @unittest.skipUnless(sys.platform == "linux", "no /proc")
    def test_killed(self):
        """A child does not outlive the process that has started it, even if that is killed."""
        code = f"""
import mmafuzz
u = mmafuzz.unit({self.target!r}, "chained")
print("ready", flush=True)
input()
"""
        mine = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(mine.stdout.readline(), b"ready\n")

        self.assertNotEqual(self.children(), [])
        mine.send_signal(signal.SIGKILL)
        mine.communicate()
        for _ in range(600):
            if not self.children():
                return
            time.sleep(0.1)
        self.fail(f"they are still there: {self.children()}")

    def children(self):
        return [p for p in os.listdir("/proc") if p.isdigit() and str(self.child).encode() in _command(p)]

    @unittest.skipUnless(sys.platform == "linux", "no /proc")
    def test_no_leak(self):
        """Thousands of requests leave at most 2 MB in the child, and in this process: four hundred bytes each. It is
        one of its own, since after the large tasks of other tests Go does not collect for a while."""
        if "MMAFUZZ_ALONE" not in os.environ:
            done = subprocess.run([sys.executable, "-m", "unittest", "test_serve.Serve.test_no_leak"], capture_output=True, text=True, timeout=300,
                                  cwd=pathlib.Path(__file__).parent, env={**os.environ, "MMAFUZZ_ALONE": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            return
        with mmafuzz.unit(self.target, "chained") as u:
            operands = dots(100)

            def memory(requests):
                for _ in range(requests):
                    u(*operands)
                return [int(pathlib.Path("/proc", p, "status").read_text().split("VmRSS:")[1].split()[0]) for p in [*self.children(), "self"]]

            for before, after in zip(memory(500), memory(5000), strict=True):
                self.assertLess(after - before, 2000)


def _command(process):
    try:
        return pathlib.Path("/proc", process, "cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
