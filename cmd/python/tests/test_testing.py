"""mmafuzz.testing with its pytest plugin, and mmafuzz.strategies."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import mmafuzz
from common import HOPPER, chain
from mmafuzz.testing import assert_same_bits

TESTS = f'''
import numpy as np
import mmafuzz
from mmafuzz.testing import assert_same_bits

UNIT = mmafuzz.unit("{HOPPER}")

def test_equal():
    assert_same_bits(UNIT, "{HOPPER}")

def chain(a, b, c):
    for k in range(16):
        c = c + a[:, k].astype(np.float32) * b[:, k].astype(np.float32)
    return c

def test_kernel():
    assert_same_bits(chain, "{HOPPER}")
'''


def has(*modules):
    missing = [m for m in modules if not importlib.util.find_spec(m)]
    return unittest.skipIf(missing, f"no {', '.join(missing)}")


class Testing(unittest.TestCase):
    def test_assertion(self):
        assert_same_bits(HOPPER, HOPPER)
        with self.assertRaisesRegex(AssertionError, r"(?s)mismatches in .*truncation-width.*A  python.*B  sim:hopper.*seed 3, count 2000") as e:
            assert_same_bits(chain, HOPPER, count=2000, seed=3)
        findings = mmafuzz.compare(chain, HOPPER, count=2000, seed=3).findings
        f = findings[0]
        labels = [f.label for f in findings]
        self.assertLess(len(set(labels)), len(labels))
        said = [int(n) for n in re.findall(r"^findings\[(\d+)\]: ", str(e.exception), re.M)]
        self.assertEqual(said, [labels.index(x) for x in dict.fromkeys(labels)])  # the first of each label
        self.assertIn(f"\n{len(labels) - len(said)} more findings ", str(e.exception))
        for words in (f.want, f.got, "A to B: kept bits (F) exact→25", "A to B: rounding of the result to nearest even→toward zero"):
            self.assertIn(words, str(e.exception))

    @has("pytest")
    def test_plugin(self):
        with tempfile.TemporaryDirectory() as d:
            pathlib.Path(d, "test_kernel.py").write_text(TESTS)
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--mmafuzz-count", "3000", "-p", "no:cacheprovider", d],
                                  capture_output=True, text=True, timeout=300, cwd=d)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for words in ("1 failed, 1 passed", "in 3,072 dot products", "seed 1, count 3000", "  A      ", "  B      ", "error -1 ulp"):
            self.assertIn(words, done.stdout)
        self.assertNotIn("raise AssertionError", done.stdout)  # the traceback ends in the test

    @has("hypothesis")
    def test_strategy(self):
        from hypothesis import find, given, settings

        from mmafuzz.strategies import dots

        u = mmafuzz.unit(HOPPER)
        seen = []

        @settings(max_examples=200, database=None, derandomize=True)
        @given(dots(u))
        def collect(dot):
            a, b, c = dot
            self.assertEqual((a.shape, a.dtype, b.shape, c.shape, c.dtype), ((16,), np.float16, (16,), (), np.float32))
            seen.append(u(*dot) != chain(*(x[None] for x in dot))[0])

        collect()
        self.assertGreater(sum(seen), 10)
        a, b, c = find(dots(HOPPER), lambda dot: np.count_nonzero(dot[0] * dot[1]) >= 3, settings=settings(max_examples=500, database=None, derandomize=True))
        self.assertEqual((np.count_nonzero(a * b), c.item()), (3, 0))
        scaled = next(i for i in mmafuzz.units("sim:blackwell") if i.scale)
        self.assertEqual(len(find(dots(f"{scaled.target}/{scaled.name}"), lambda dot: True)), 5)


if __name__ == "__main__":
    unittest.main()
