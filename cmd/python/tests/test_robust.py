"""What may happen to a library in a process that is not its own."""

import copy
import ctypes
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import mmafuzz
from mmafuzz import _function, _library
from common import HOPPER, chain, dots, rng

FORMATS = ("fp16", "fp16", "fp32", "fp32")


def python(code):
    """Runs a program of its own, and returns its exit status and what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


class Callables(unittest.TestCase):
    def test_codes(self):
        """A function that gets codes because ml_dtypes is missing is told so; one that gets numbers is not."""
        code = """import sys; sys.modules["ml_dtypes"] = None
import mmafuzz
mmafuzz.compare(lambda a, b, c: c, "sim:ada/mma.m16n8k8.f32.%s.%s.f32", count=100, effort=0)"""
        for kind, told in (("bf16", True), ("f16", False)):
            status, said = python(code % (kind, kind))
            self.assertEqual(0, status, said)
            self.assertEqual(told, "gets arrays of bf16 as codes, unsigned integers" in said, said)

    def test_kept(self):
        """What a function keeps of its arguments stays as it was."""
        kept = []

        def keeps(a, b, c):
            kept.append(((a, b, c), [x.tobytes() for x in (a, b, c)]))
            return chain(a, b, c)

        mmafuzz.compare(keeps, HOPPER, count=5000, effort=0)
        mmafuzz.compare(chain, HOPPER, count=20_000, effort=0)  # takes the memory again
        self.assertGreater(len(kept), 4)
        for arrays, before in kept:
            self.assertEqual([x.tobytes() for x in arrays], before)

    def test_overwritten(self):
        """A function that writes into its arguments by force changes nothing but its own copies."""
        def writes(a, b, c):
            d = chain(a, b, c)
            for x in (a, b, c):
                try:
                    x.flags.writeable = True
                except ValueError:
                    continue
                x[:] = 0
            return d

        one, two = (mmafuzz.compare(f, HOPPER, count=3000, effort=1) for f in (writes, chain))
        self.assertEqual((one.mismatches, one.causes), (two.mismatches, two.causes))

    def test_limits(self):
        """Numbers beyond any machine are refused before anything is begun."""
        a, b, c = dots(2)
        with mmafuzz.unit(HOPPER) as u:
            for words, f in [("workers is 1099511627776, and at most 4096", lambda: u(a, b, c, workers=2**40)),
                             ("workers is 1099511627776, and at most", lambda: mmafuzz.compare(chain, u, count=1000, workers=2**40)),
                             ("effort is 9223372036854775808, and at most", lambda: mmafuzz.compare(chain, u, count=1000, effort=2**63)),
                             ("effort is -1", lambda: mmafuzz.compare(chain, u, count=1000, effort=-1))]:
                with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                    f()


class Interrupts(unittest.TestCase):
    def interrupted(self, f, soon=0.3):
        """Calls f, which would take minutes, and sends a signal soon."""
        old = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, soon)
        begin = time.monotonic()
        try:
            with self.assertRaises(KeyboardInterrupt):
                f()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        self.assertLess(time.monotonic() - begin, 20)  # not a measurement: a busy machine takes its time

    def test_matmul(self):
        """The unit can be used on."""
        u = mmafuzz.unit("ref:exact", like="sim:hopper/mma.m8n8k4.f64.f64.f64.f64")
        a, b = rng.standard_normal((2000, 4000)), rng.standard_normal((4000, 2000))
        self.interrupted(lambda: u.matmul(a, b))
        self.assertEqual(u.matmul(np.eye(4), np.eye(4)).tolist(), np.eye(4).tolist())

    def test_tasks(self):
        self.interrupted(lambda: mmafuzz.compare(HOPPER, HOPPER, count=10**12))
        self.interrupted(lambda: mmafuzz.infer(chain, like=mmafuzz.unit(HOPPER), checks=10**9))
        self.assertFalse(mmafuzz.compare(HOPPER, HOPPER, count=1000))

    def test_function(self):
        """It reaches a function, and is lost nowhere else."""
        self.interrupted(lambda: mmafuzz.compare(lambda a, b, c: time.sleep(60), HOPPER))
        for _ in range(10):
            self.interrupted(lambda: mmafuzz.compare(lambda a, b, c: c, lambda a, b, c: c, like=HOPPER, count=10**12), rng.uniform(0.01, 0.05))

    def test_begun(self):
        """An interrupt that comes when a job has just begun, and one more while its end is waited for."""
        lib, call, jobs = _library._load(), _library.call, []
        exact = mmafuzz.unit("ref:exact", like=HOPPER)
        a, b = np.ones((100, 16 * 1000), np.float16), np.ones((16 * 1000, 100), np.float16)

        def interrupted(name, *arguments):
            result = call(name, *arguments)
            if name in ("run", "gemm", "task"):
                jobs.append(arguments[-1]._obj.value)
                raise KeyboardInterrupt
            return result

        def over(milliseconds=0):
            return jobs[-1] and lib.mmafuzz_wait(jobs[-1], milliseconds, 0, ctypes.byref(_library.Batch()), ctypes.byref(ctypes.c_void_p())) == 2

        for f in (lambda: exact.matmul(a, b), lambda: exact.matmul(a, b, schedule="split-k"), lambda: mmafuzz.compare(chain, HOPPER, count=10**12)):
            with mock.patch.object(_library, "call", interrupted):
                with self.assertRaises(KeyboardInterrupt):
                    f()
                self.assertTrue(over())
                self.assertEqual(_library._in_use, {})
                with mock.patch.object(lib, "mmafuzz_wait", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                    f()
            self.assertEqual(len(_library._in_use), 1)
            self.assertTrue(over(60_000))
            _library._in_use.clear()


class Exceptions(unittest.TestCase):
    def test_function(self):
        """An exception of a function leaves every call that runs it, at once."""
        calls = []

        def broken(a, b, c):
            calls.append(1)
            raise self.error

        for self.error in (ZeroDivisionError("here"), KeyboardInterrupt("here"), SystemExit("here")):
            for f in (lambda: mmafuzz.compare(broken, HOPPER, count=1000), lambda: mmafuzz.compare(HOPPER, broken, count=1000),
                      lambda: mmafuzz.infer(broken, formats=FORMATS, k=4), lambda: mmafuzz.probe(broken, formats=FORMATS, k=4),
                      lambda: mmafuzz.minimize(broken, HOPPER, [x[0] for x in dots(1)])):
                calls.clear()
                with self.assertRaisesRegex(type(self.error), "here"):
                    f()
                self.assertEqual(len(calls), 1)

    def test_later(self):
        """An exception after many good answers is no finding."""
        calls = []

        def tires(a, b, c):
            calls.append(len(c))
            if sum(calls) > 3000:
                raise OSError("tired")
            return chain(a, b, c)

        with self.assertRaisesRegex(OSError, "tired"):
            mmafuzz.compare(tires, HOPPER, count=100_000)

    def test_panics(self):
        """A panic of any goroutine of the library, of those that compare, search and minimize, is an exception,
        after which all goes on. A function whose status is another number than 0 and 1 makes the
        goroutine that has asked it panic."""
        u = mmafuzz.unit(HOPPER)
        calls = last = 0

        class Panics(_function.Function):
            def compute(self, batch):
                nonlocal calls
                calls += 1
                return 2 if calls > last else super().compute(batch)

        f = Panics(chain, _function._description(FORMATS, 16, None))
        case = mmafuzz.compare(chain, u, count=3000, effort=0).findings[0].input
        for task, options in (("compare", {"count": 20_000, "effort": 1}), ("minimize", {"input": case, "effort": 1}), ("infer", {"checks": 1000}), ("probe", {})):
            def run():
                options_text = json.dumps({"seed": 1, "workers": 2, **options}).encode()
                return _library.do("task", task.encode(), f._handle, u._handle, options_text, uses=[f, u])

            calls, last = 0, 10**9
            want, total = json.loads(run()), calls
            for share in (0, 1, 3, 5, 7):  # eighths, so all of its parts
                with self.subTest(task, share=share):
                    calls, last = 0, total * share // 8
                    with self.assertRaisesRegex(mmafuzz.Error, "a mistake in mmafuzz: the function returned 2\\n(.|\\n)*goroutine"):
                        run()
            calls, last = 0, 10**9
            if task == "compare":
                self.assertEqual(json.loads(run()), want)
        f.close()

    def test_results(self):
        for error, words, f in [
            (TypeError, "the function's result is an array of float64", lambda a, b, c: c.astype(np.float64)),
            (TypeError, "the function's result is None", lambda a, b, c: None),
            (TypeError, "is an array of object", lambda a, b, c: [object()] * len(c)),
            (ValueError, "has the shape", lambda a, b, c: c[:1]),
            (ValueError, "has the shape", lambda a, b, c: c[None]),
            (TypeError, "positional argument", lambda a, b: a),
            (TypeError, "block scales sa and sb need like=", lambda a, b, c, sa, sb: c),
            (ValueError, "read-only", lambda a, b, c: a.__setitem__(0, 1)),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                mmafuzz.compare(f, HOPPER, count=1000)

    def test_rubbish(self):
        """Whatever is passed, the answer is an exception."""
        u = mmafuzz.unit(HOPPER)
        a, b, c = dots(2)
        calls = [
            mmafuzz.unit, mmafuzz.units, lambda x: mmafuzz.unit("sim:hopper", x), lambda x: mmafuzz.unit("ref:exact", like=x),
            lambda x: u(x, b, c), lambda x: u(a, x), lambda x: u(a, b, x), lambda x: u(a, b, c, sa=x),
            lambda x: u.matmul(x, b), lambda x: u.matmul(a, x), lambda x: u.explain(x, b[0]), lambda x: u.inputs(x),
            lambda x: mmafuzz.compare(x, HOPPER), lambda x: mmafuzz.compare(chain, x), lambda x: mmafuzz.compare(u, u, count=x),
            lambda x: mmafuzz.compare(u, u, seed=x, count=10), lambda x: mmafuzz.infer(chain, formats=x, k=4),
            lambda x: mmafuzz.infer(chain, formats=FORMATS, k=x), lambda x: mmafuzz.minimize(chain, HOPPER, x),
            lambda x: mmafuzz.minimize(chain, HOPPER, (x, b[0], c[0])), lambda x: u.matmul(a[:, :16], b.T, schedule=x, workers=-3),
        ]
        rubbish = [
            object(), -1, 1.5, float("nan"), "\0", "nonsense", "é" * 5000, b"bytes", [], (), {}, {"a": 1}, [[1, 2], [3]], lambda: 0, np.array([object()]),
            np.zeros((2, 16), complex), np.zeros((0, 0), np.float16), np.zeros((2, 16), "datetime64[s]"),
            np.zeros(3, [("x", "i4")]), np.ma.masked, np.array("text"),
        ]
        for n, f in enumerate(calls):
            for x in rubbish:
                with self.subTest(call=n, x=repr(x)[:60]):
                    with self.assertRaises((TypeError, ValueError, AttributeError, OverflowError, mmafuzz.Error)):
                        f(x)

    def test_views(self):
        """Views of any strides are read as they are, and read-only arrays are not written."""
        u = mmafuzz.unit(HOPPER)
        a, b, c = dots(64)
        want = u(a, b, c)
        for f in (np.asfortranarray, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1].copy()[::-1]):
            np.testing.assert_array_equal(u(f(a), f(b), f(c)), want)
        np.testing.assert_array_equal(u(a.astype(">f2"), b.view(np.uint16).astype(">u2"), c.astype(">f4")), want)
        for x in (a, b, c):
            x.flags.writeable = False
        np.testing.assert_array_equal(u(a, b, c), want)
        same = np.broadcast_to(a[0], (1000, 16))
        np.testing.assert_array_equal(u(same, same, c[:1]), np.repeat(u(a[0], a[0], c[0]), 1000))

    def test_tile(self):
        """A tile that is computed at once is that of a batch; what is not a matter of a moment is left."""
        for name, m, n in ((HOPPER, 16, 8), ("sim:hopper/mma.m8n8k4.f64.f64.f64.f64", 3, 5), ("sim:ada/mma.m16n8k32.f32.e4m3.e4m3.f32", 1, 1)):
            u = mmafuzz.unit(name)
            k = 2 * u.info.k
            a, b, c, d = (rng.integers(0, 256, (*shape, f.codes.itemsize), np.uint8).view(f.codes)[..., 0] for shape, f in
                          (((m, k), u.info.a), ((k, n), u.info.b), ((m, n), u.info.c), ((m, n), u.info.d)))
            want, columns = u.matmul(a, b, c, codes=True), np.ascontiguousarray(b.T)
            tile = _library.tiles(u._handle, m, n, k)
            for by_rows, x in ((1, b), (0, columns)):
                d[:] = ~want
                self.assertTrue(tile(by_rows, a.ctypes.data, x.ctypes.data, c.ctypes.data, 0, 0, d.ctypes.data))
                np.testing.assert_array_equal(d, want)
            self.assertFalse(_library.tiles(u._handle, 2**20, 2**20, k)(*[0] * 7))
            u.close()
            self.assertFalse(tile(*[0] * 7))

    def test_copies(self):
        """Copies of a unit are units of their own, and results are what they were."""
        u = mmafuzz.unit("ref:mul32", like=HOPPER)
        x = dots(3)
        want = u(*x).tobytes()
        copies = [copy.copy(u), copy.deepcopy(u), pickle.loads(pickle.dumps(u))]
        u.close()
        for v in copies:
            self.assertEqual(v(*x).tobytes(), want)
            v.close()
            with self.assertRaisesRegex(mmafuzz.Error, "is not open"):
                v(*x)
        found = mmafuzz.compare(chain, HOPPER, count=500, effort=0)
        for result in (found, mmafuzz.probe(HOPPER), mmafuzz.infer(chain, like=HOPPER, seconds=0.1, checks=10), mmafuzz.units("sim:hopper")):
            self.assertEqual(pickle.loads(pickle.dumps(result)), result)
        for mine, other in zip(found.findings[0].operands, pickle.loads(pickle.dumps(found)).findings[0].operands, strict=True):
            self.assertEqual(mine.tobytes(), other.tobytes())

    def test_too_large(self):
        """What no memory holds is refused before the library sees it."""
        u, one = mmafuzz.unit(HOPPER), np.float16(1)
        for f in (lambda: u.inputs(10**15), lambda: u(np.broadcast_to(one, (2**40, 16)), np.ones(16, np.float16)),
                  lambda: u.matmul(np.broadcast_to(one, (2**20, 16)), np.broadcast_to(one, (16, 2**24)))):
            with self.assertRaises(MemoryError):
                f()
        with self.assertRaisesRegex(mmafuzz.Error, "k is 1099511627776: a dot product has 1 to 65536 products"):
            mmafuzz.compare(chain, chain, formats=FORMATS, k=2**40)
        self.assertFalse(mmafuzz.compare(lambda a, b, c: c, lambda a, b, c: c.copy(), formats=FORMATS, k=2**16, count=10))
        self.assertEqual(u(*[np.broadcast_to(one, 2**20)] * 2), 2**20)  # 65536 executions

    def test_closed(self):
        u = mmafuzz.unit(HOPPER)
        u.close()
        u.close()
        for f in (lambda: u(*dots(1)), lambda: mmafuzz.compare(chain, u), lambda: u.inputs(3)):
            with self.assertRaisesRegex(mmafuzz.Error, "is not open"):
                f()


class Processes(unittest.TestCase):
    def test_threads(self):
        u = mmafuzz.unit(HOPPER)
        a, b, c = dots(1000)
        want, found, wrong = u(a, b, c), str(mmafuzz.compare(chain, u, count=1000)), []

        def work():
            for _ in range(20):
                if not np.array_equal(u(a, b, c), want):
                    wrong.append("dot products")
            if str(mmafuzz.compare(chain, u, count=1000)) != found:
                wrong.append("comparison")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_closed_beside(self):
        """A unit that one thread closes while others use it gives whole results, and then an error."""
        u, x, wrong = mmafuzz.unit(HOPPER), dots(20_000), []
        want = u(*x)

        def work():
            try:
                for _ in range(1000):
                    if not np.array_equal(u(*x), want):
                        wrong.append("dot products")
                wrong.append("not closed")
            except mmafuzz.Error as e:
                if "is not open" not in str(e):
                    wrong.append(e)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        u.close()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_nested(self):
        """A function may compare, use the unit that it is compared with, and run threads."""
        def nested(a, b, c):
            results = []
            t = threading.Thread(target=lambda: results.append(u(a, b, c)))
            t.start()
            t.join()
            mmafuzz.compare(chain, HOPPER, count=10, effort=0)
            return results[0]

        u = mmafuzz.unit(HOPPER)
        self.assertFalse(mmafuzz.compare(nested, u, count=500))

    def test_spawn(self):
        """A unit that is sent to another process is the same one there, whatever was opened before."""
        code = """
import multiprocessing, pathlib, sys
import numpy as np
import mmafuzz
def product(unit, x):
    return float(unit(x, x))
if __name__ == "__main__":
    others = [mmafuzz.unit("sim:volta/mma.m8n8k4.f32.f16.f16.f32") for _ in range(3)]
    u = mmafuzz.unit("sim:hopper/mma.m16n8k16.f32.f16.f16.f32")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(product, (others[0], np.ones(4, np.float16))), pool.apply(product, (u, np.ones(16, np.float16))))
"""
        with tempfile.TemporaryDirectory() as d:  # spawn reads the script once more
            script = pathlib.Path(d, "spawn.py")
            script.write_text(code)
            done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "4.0 16.0\n"), done.stderr)

    def test_subinterpreter(self):
        """NumPy is for one interpreter of a process: another one says so, or works."""
        status, said = python("""
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
try:
    import mmafuzz
    print(mmafuzz.unit("sim:hopper/mma.m16n8k16.f32.f16.f16.f32").info.k)
except ImportError:
    print(16)
'''
exec(code)
other = interpreters.create()
interpreters.run_string(other, code)
interpreters.destroy(other)
exec(code)
""")
        self.assertEqual((status, [line for line in said.splitlines() if line.isdigit()]), (0, ["16"] * 3), said)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_fork(self):
        """A child that is forked before the first use works; one that is forked later says why not."""
        self.assertEqual(python("""
import os, sys
import mmafuzz
def child(want):
    if os.fork() == 0:
        try:
            got = mmafuzz.unit("sim:hopper/mma.m16n8k16.f32.f16.f16.f32").info.k
        except mmafuzz.Error as e:
            got = str(e)
        print(got, flush=True)
        os._exit(0)
    os.wait()
child(16)
u = mmafuzz.unit("sim:hopper/mma.m16n8k16.f32.f16.f16.f32")
child("forked")
"""), (0, '16\nmmafuzz was used before this process was forked, which its threads do not survive: '
          'use multiprocessing\'s "spawn", or use it in the child alone\n'))

    def test_exit(self):
        """A process ends while a job of a thread goes on."""
        code = """
import threading, time, mmafuzz
threading.Thread(target=lambda: mmafuzz.compare("ref:exact", lambda a, b, c: c, formats=("fp16", "fp16", "fp32", "fp32"), k=4, count=10**9), daemon=True).start()
time.sleep(0.5)
"""
        self.assertEqual(python(code), (0, ""))

    @unittest.skipUnless(pathlib.Path("/proc/self/status").exists(), "no /proc: memory is not measured")
    def test_no_leak(self):
        """10^5 calls of each kind leave at most 32 MB: three hundred bytes each. They have a process
        of their own, since what other tests have left goes back to the system at any time."""
        code = """
import contextlib, pathlib, numpy as np, mmafuzz
name = "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"
u = mmafuzz.unit(*name)
a, b, c = np.ones((1, 16), np.float16), np.ones((1, 16), np.float16), np.ones(1, np.float32)

def calls(n):
    for i in range(n):
        u(a, b, c)
        if i % 50 == 0:
            with contextlib.suppress(TypeError):
                u(a, b, c.astype(np.float64))
            with contextlib.suppress(mmafuzz.Error):
                mmafuzz.unit("sim:hopper", "none")
        if i % 500 == 0:
            with mmafuzz.unit(*name) as v:
                v.inputs(1)
            u.matmul(a, b.T, schedule="split-k")
            u.explain(a[0], b[0], c[0])
            mmafuzz.probe(lambda a, b, c: c, formats=("fp16", "fp16", "fp32", "fp32"), k=1)
            assert mmafuzz.minimize(u, name[0] + "/" + name[1], (a[0], b[0], c[0])) is None
        if i % 10_000 == 0:
            mmafuzz.compare(lambda a, b, c: u(a, b, c), u, count=1)
    return int(pathlib.Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])

before = calls(5000)
grown = calls(100_000) - before
assert grown < 32_000, f"{grown} kB more"
"""
        self.assertEqual(python(code), (0, ""))


if __name__ == "__main__":
    unittest.main()
