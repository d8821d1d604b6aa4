"""Tests of the installed package: python3 -m unittest discover cmd/python/tests."""

import contextlib
import io
import itertools
import pathlib
import re
import tempfile
import textwrap
import unittest
import unittest.mock

import numpy as np

import mmafuzz
from common import HOPPER, chain, dots, rng


class Units(unittest.TestCase):
    def test_readme(self):
        """The examples of the README give what it says."""
        text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
        code = "".join(re.findall(r"```python\n(.*?)```", text, re.S)[:2])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
        self.assertTrue(out.getvalue().startswith("-0.75\n"))
        for words in ("cut 2^-2", "truncation-width", "validated", "p1) + p2)"):
            self.assertIn(words, out.getvalue())

    def test_help(self):
        """What help(mmafuzz) begins with leads to the defect of its kernel."""
        code = "\n".join(re.findall(r"^(?:    .*)?$", mmafuzz.__doc__.split("What else")[0], re.M))
        code = re.sub(r"(compare\(.*)\)", r"\1, count=1000)", code)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(textwrap.dedent(code), "help", "exec"), {"__name__": "help"})
        self.assertRegex(out.getvalue(), r"(?s)mismatches in [\d,]+ dot products\n *\d+  defect\n.*product 11 is stuck.*\n\[11\]\n\[1\.\] -1\.0\n")

    def test_bits(self):
        """arXiv:2511.10909, Equation 10, on three architectures."""
        a = np.array([-8192, -0.5, -0.25, -0.125], np.float16)
        b = np.array([1024, 1, 1, 1], np.float16)
        for target, name, k, want in [
            ("sim:volta", "mma.m8n8k4.f32.f16.f16.f32", 4, 0x00000000),
            ("sim:ampere", "mma.m16n8k16.f32.f16.f16.f32", 16, 0xBF000000),
            ("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32", 16, 0xBF400000),
            ("sim:cdna3", "v_mfma_f32_32x32x8_f16", 8, 0xBF000000),
        ]:
            with self.subTest(target), mmafuzz.unit(target, name) as u:
                pad = np.zeros(k - 4, np.float16)
                d = u(np.append(a, pad), np.append(b, pad), np.float32(2**23), codes=True)
                self.assertEqual(int(d), want)

    def test_shapes(self):
        u = mmafuzz.unit(HOPPER)
        a, b, c = dots(6)
        want = u(a, b, c)
        self.assertEqual((want.shape, want.dtype), ((6,), np.float32))
        np.testing.assert_array_equal(u(a.reshape(2, 3, 16), b.reshape(2, 3, 16), c.reshape(2, 3)).ravel(), want)
        np.testing.assert_array_equal(u(a[::2], b[::2], c[::2]), want[::2])
        np.testing.assert_array_equal(u(a[0], b), [u(a[0], x) for x in b])
        np.testing.assert_array_equal(u(a, b, c, codes=True).view(np.float32), want)
        np.testing.assert_array_equal(u(a.view(np.uint16), b.view(np.uint16), c.view(np.uint32)), want)
        self.assertEqual(u(a[:0], b[:0], c[:0]).shape, (0,))
        # Two executions, c = the result before.
        np.testing.assert_array_equal(u(np.hstack([a, b]), np.hstack([b, a]), c), u(b, a, want))

    def test_matmul(self):
        u = mmafuzz.unit(HOPPER)
        for m, k, n in [(1, 16, 1), (5, 32, 3), (64, 48, 40)]:
            a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
            c = rng.standard_normal((m, n)).astype(np.float32)
            want = u(a[:, None], b.T[None], c)
            for workers in (0, 1, 3):
                np.testing.assert_array_equal(u.matmul(a, b, c, workers=workers), want)
        stack = u.matmul(np.stack([a, -a]), b)
        np.testing.assert_array_equal(stack, [u.matmul(a, b), u.matmul(-a, b)])

    def test_out(self):
        u = mmafuzz.unit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")
        a, b = (rng.standard_normal(s).astype(np.float16) for s in ((3, 16, 16), (3, 16, 8)))
        want, d = u.matmul(a, b, codes=True), np.zeros((3, 16, 8), np.float32)
        self.assertIs(u.matmul(a, b, out=d), d)
        np.testing.assert_array_equal(d.view(np.uint32), want)
        codes = np.zeros((3, 16), np.uint32)
        u(a[0], b[0, :, 0], out=codes[0])
        np.testing.assert_array_equal(codes[0], want[0, :, 0])
        self.assertFalse(codes[1:].any())
        half = mmafuzz.unit("sim:hopper", "mma.m16n8k16.f16.f16.f16.f16")
        for kind, said, wrong in (
            (TypeError, "out is \\[0", [0] * 16),
            (TypeError, "takes arrays of float16", np.zeros(16)),
            (ValueError, "shape \\(16,\\)", np.zeros(8, np.float16)),
            (ValueError, "order of bytes", np.zeros(16, ">f2")),
            (ValueError, "contiguous", np.zeros(32, np.float16)[::2]),
            (ValueError, "writable", np.frombuffer(bytes(32), np.float16)),
            (ValueError, "shares memory", a[0, 0]),
        ):
            with self.assertRaisesRegex(kind, said):
                half(a[0], b[0, :, 0], out=wrong)

    def test_schedule(self):
        u = mmafuzz.unit(HOPPER)
        a, b = rng.standard_normal((5, 500)).astype(np.float16), rng.standard_normal((500, 3)).astype(np.float16)
        padded = np.pad(a, ((0, 0), (0, 12))), np.pad(b, ((0, 12), (0, 0)))
        plain = u.matmul(*padded)
        np.testing.assert_array_equal(u.matmul(a, b, schedule="plain"), plain)
        split = [u.matmul(padded[0][:, k:k + 128], padded[1][k:k + 128]) for k in range(0, 512, 128)]
        want = split[0] + split[1] + split[2] + split[3]
        np.testing.assert_array_equal(u.matmul(a, b, schedule="split-k"), want)
        levels = [{"cut": {"by": "size", "n": 128}, "merge": {"order": "forward"}}]
        np.testing.assert_array_equal(u.matmul(np.stack([a, a]), b, schedule={"schedules": [{"levels": levels}]}), [want, want])
        c = rng.standard_normal((5, 3)).astype(np.float32)
        np.testing.assert_array_equal(u.matmul(a, b, c, schedule={"c_first": True, "schedules": [{}]}), u.matmul(*padded, c))
        self.assertEqual(u.matmul(a, b, schedule="split-k-serial", codes=True).dtype, np.uint16)
        for schedule, words in [("split", 'no schedule "split"'), ({"schedules": []}, '"schedules" is empty'), ("cutlass-2xacc", "scales of its own")]:
            with self.assertRaisesRegex(mmafuzz.Error, words):
                u.matmul(a, b, schedule=schedule)
        with self.assertRaisesRegex(mmafuzz.Error, "adds no c"):
            u.matmul(a, b, c, schedule="plain")

    def test_scales(self):
        name = next(i.name for i in mmafuzz.units("sim:blackwell") if i.scale and i.scale.name == "ue8m0" and i.a.name == i.b.name == "e2m1")
        u = mmafuzz.unit("sim:blackwell", name)
        k = u.info.k
        one, two = np.full(k, 0b0010, np.uint8), np.full(k // u.info.block, 128, np.uint8)
        self.assertEqual(float(u(one, one, sa=two, sb=two)), 4 * k)
        self.assertIn(f"{4 * k}", u.explain(one, one, sa=two, sb=two))
        a, b = rng.integers(0, 16, (5, k), np.uint8), rng.integers(0, 16, (k, 3), np.uint8)
        sa, sb = rng.integers(120, 130, (5, k // u.info.block), np.uint8), rng.integers(120, 130, (k // u.info.block, 3), np.uint8)
        np.testing.assert_array_equal(u.matmul(a, b, sa=sa, sb=sb), u(a[:, None], b.T[None], sa=sa[:, None], sb=sb.T[None]))
        with self.assertRaisesRegex(TypeError, "needs block scales"):
            u(one, one)
        with self.assertRaisesRegex(ValueError, "products have"):
            u(one, one, sa=two[:-1], sb=two)

    def test_reference(self):
        a, b, c = dots(100)
        np.testing.assert_array_equal(mmafuzz.unit("ref:mul32", like=HOPPER)(a, b, c), chain(a, b, c))
        np.testing.assert_array_equal(mmafuzz.unit("ref:mul32", like=mmafuzz.unit(HOPPER))(a, b, c), chain(a, b, c))
        exact = (a.astype(np.float64) * b.astype(np.float64)).sum(axis=1) + c
        np.testing.assert_allclose(mmafuzz.unit("ref:exact", like=HOPPER)(a, b, c), exact, rtol=1e-6)

    def test_units(self):
        all = mmafuzz.units()
        self.assertGreater(len(all), 500)
        self.assertIn(HOPPER, [f"{i.target}/{i.name}" for i in all])
        self.assertTrue(all[0].d.values is not None)

    def test_integers(self):
        """Arrays of integers are numbers, and so is the result."""
        i = next(i for i in mmafuzz.units("sim:ampere") if (i.a.name, i.b.name) == ("s8", "u8"))
        with mmafuzz.unit(i) as u:
            a, b = rng.integers(-128, 128, (5, i.k), np.int8), rng.integers(0, 256, (5, i.k), np.uint8)
            c = rng.integers(-1000, 1000, 5, np.int32)
            d = u(a, b, c)
            self.assertEqual(d.dtype, np.int32)
            np.testing.assert_array_equal(d, (a.astype(np.int32) * b).sum(axis=1) + c)

    def test_errors(self):
        u = mmafuzz.unit(HOPPER)
        a, b, c = dots(2)
        for error, words, f in [
            (TypeError, "a is an array of float32; fp16 takes arrays of float16 or uint16", lambda: u(a.astype(np.float32), b)),
            (TypeError, "c is an array of float64", lambda: u(a, b, c.astype(np.float64))),
            (ValueError, "dot products of 8 elements; .* takes 16, or a multiple of it", lambda: u(a[:, :8], b[:, :8])),
            (ValueError, "16 elements of a and 8 of b", lambda: u(a, b[:, :8])),
            (ValueError, "a is a number", lambda: u(a[0, 0], b)),
            (ValueError, r"leading shapes of a \(2,\), b \(3,\), c \(\) do not go", lambda: u(a, dots(3)[1])),
            (ValueError, "rows of a have 16 elements, and the columns of b 2", lambda: u.matmul(a, b)),
            (ValueError, r"c has the shape \(3, 2\), and the product \(2, 2\)", lambda: u.matmul(a, b.T, np.ones((3, 2), np.float32))),
            (TypeError, r"c is an array of float64.*use np.array\(..., np.float32\)", lambda: u(a, b, 1.0)),
            (TypeError, "a is None", lambda: u(None, b)),
            (TypeError, "a has masked elements", lambda: u(np.ma.array(a, mask=a > 0), b)),
            (TypeError, "workers is 'x', and not a whole number", lambda: u(a, b, workers="x")),
            (TypeError, "target is None, and not a str", lambda: mmafuzz.unit(None)),
            (TypeError, "has no block scales", lambda: u(a, b, sa=a)),
            (ValueError, "one dot product", lambda: u.explain(a, b)),
            (mmafuzz.Error, "nearest: mma.m16n8k16.f32", lambda: mmafuzz.unit("sim:hopper", "mma.m16n8k16.f33.f16")),
            (mmafuzz.Error, "unknown kind", lambda: mmafuzz.unit("simm:hopper", "x")),
            (mmafuzz.Error, "like=", lambda: mmafuzz.unit("ref:exact", "")),
            (mmafuzz.Error, "instructions, of which one has to be named: mma", lambda: mmafuzz.unit("sim:hopper")),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                f()
        u.close()
        with self.assertRaisesRegex(mmafuzz.Error, "is not open"):
            u(a, b)

    def test_at_once(self):
        """What is computed in one call of the library is what batches give, wherever the operands lie."""
        for name in (HOPPER, "sim:hopper/mma.m16n8k4.f64.f64.f64.f64", "sim:ampere/mma.m16n8k32.s32.s8.s8.s32"):
            u = mmafuzz.unit(name)
            i = u.info
            for k in (i.k, 3 * i.k):
                a, b, c = ((100 * rng.standard_normal(s)).astype(f.values) for f, s in ((i.a, (5, k)), (i.b, (k, 7)), (i.c, (5, 7))))
                want = u.matmul(a, b, c, workers=1)
                apart = np.stack([a, a], 2)[:, :, 0]
                fixed = b.copy()
                fixed.flags.writeable = False
                for x, y in ((a, b), (a, np.asfortranarray(b)), (a, fixed), (apart, b), (a.copy(order="F"), b[:, ::-1][:, ::-1])):
                    np.testing.assert_array_equal(u.matmul(x, y, c), want)
                    self.assertEqual(u.matmul(x, y, c).dtype, want.dtype)
                    got = u(x[2], y[:, 3], c[2, 3])
                    self.assertEqual((got, type(got)), (want[2, 3], type(want[2, 3])))
                np.testing.assert_array_equal(u.matmul(a, b), u.matmul(a, b, np.zeros_like(c), workers=1))
                self.assertEqual(u(a[0], b[:, 0]), u(a[0], b[:, 0], i.c.values.type(0), workers=1))
                for wrong in ((a[:, 1:], b[1:], c), (a, b[1:], c), (a, b, c[1:]), (a.astype(np.float16 if i.a.name != "fp16" else np.int8), b, c)):
                    with self.assertRaises((ValueError, TypeError)):
                        u.matmul(*wrong)
            u.close()
            with self.assertRaisesRegex(mmafuzz.Error, "not open"):
                u.matmul(a, b, c)


class Comparisons(unittest.TestCase):
    def test_equal(self):
        u = mmafuzz.unit(HOPPER)
        found = mmafuzz.compare(u, u, count=5000)
        self.assertFalse(found)
        self.assertEqual((found.mismatches, str(found)), (0, f"no mismatch in {found.dots:,} dot products"))

    def test_stochastic(self):
        draw = np.random.default_rng(1)

        def stochastic(a):
            x = a[:, 0]
            with np.errstate(all="ignore"):
                nearest = x.astype(np.float16)
                down = np.where(np.abs(nearest.astype(np.float32)) > np.abs(x), np.nextafter(nearest, np.float16(0)), nearest)
                up = np.nextafter(down, np.copysign(np.float16(np.inf), x.astype(np.float16)))
                fraction = (x - down) / (up.astype(np.float64) - down)
                chance = np.where(draw.random(len(x)) < fraction, up, down)
                return np.where(np.isfinite(up), chance, nearest).astype(np.float16)

        found = mmafuzz.compare(stochastic, "sim:x86/vcvtps2ph", count=20_000)
        self.assertEqual((found.mismatches, found.causes), (0, []), str(found))
        self.assertIn("rounds stochastically", str(found))

    def test_defect(self):
        """A kernel that forgets the last product is found, and shrunk to that product."""
        u = mmafuzz.unit(HOPPER)

        def forgetful(a, b, c):
            a = a.copy()
            a[:, 15] = 0
            return u(a, b, c)

        found = mmafuzz.compare(forgetful, HOPPER, count=5000)
        self.assertTrue(found)
        a, b, _ = found.findings[0].input.split()
        self.assertEqual(len(a.split(",")), 16)
        self.assertTrue(all(int(x, 16) & 0x7FFF == 0 for x in a.split(",")[:15]), found.findings[0])

    def test_causes(self):
        with tempfile.TemporaryDirectory() as bundles:
            found = mmafuzz.compare(chain, HOPPER, count=5000, bundles=bundles)
            self.assertIn("truncation-width", [c.label for c in found.causes])
            self.assertTrue(pathlib.Path(found.findings[0].bundle, "README.md").exists())
            self.assertIn("B  sim:hopper", str(found))

    def test_unexamined(self):
        """Later mismatches are all counted, and most of them for no cause."""
        all, some = (mmafuzz.compare(chain, HOPPER, count=8000, examine=n) for n in (0, 500))
        self.assertEqual((all.unexamined, some.mismatches), (0, all.mismatches))
        self.assertGreater(some.unexamined, 500)
        self.assertEqual(some.unexamined + sum(c.cases for c in some.causes), some.mismatches)
        self.assertIn(f"{some.unexamined:>12,}  explained by the same arithmetics", str(some))

    def test_effort(self):
        """Without effort mismatches have no cause, with a little they have, both times the same ones. What
        needs more effort is called unexplained, and the text says that there is more."""
        def run(effort):
            found = mmafuzz.compare(chain, HOPPER, count=4000, effort=effort)
            self.assertEqual(found, mmafuzz.compare(chain, HOPPER, count=4000, effort=effort, workers=1))
            return found

        none, little = run(0), run(1)
        self.assertEqual([c.label for c in none.causes], ["unexplained"])
        self.assertEqual(none.mismatches, little.mismatches)
        self.assertIn("truncation-width", [c.label for c in little.causes])
        self.assertNotIn("unexplained", [c.label for c in little.causes])
        self.assertEqual(little.causes, mmafuzz.compare(chain, HOPPER, count=4000).causes)
        self.assertIn("(with effort=0 causes are not looked for)", str(none))
        self.assertNotIn("effort", str(little))
        f = none.findings[0]
        self.assertEqual(mmafuzz.minimize(chain, HOPPER, f, effort=0).label, "unexplained")
        self.assertEqual(mmafuzz.minimize(chain, HOPPER, (*[np.ones(16, np.float16)] * 2, np.float32(2**24)), effort=1).label, "fusion-width")

    def test_spent(self):
        """The text says whether a larger effort looks further, and of nothing that it finds more."""
        for spent, long, effort, words in ((True, False, 4, "effort=4 is used up: a larger one looks further"), (False, False, 64, "effort=64 is not used up"),
                                           (True, False, 0, "with effort=0"), (True, True, 4, "a smaller k may show the cause")):
            found = mmafuzz.Comparison(9, 1, 0, [mmafuzz.Cause("unexplained", 1, 1)], [], spent=spent, effort=effort, long=long)
            self.assertIn(words, str(found))
        u = mmafuzz.unit(HOPPER)
        strange = mmafuzz.compare(lambda a, b, c: c + a.astype(np.float32).max(axis=1) * b[:, 3], u, count=1000, effort=1)
        self.assertIn("unexplained", [c.label for c in strange.causes])
        self.assertTrue(strange.spent)

    def test_long(self):
        """Two functions of more products than a program has are told apart by their schedules."""
        def one(a, b):
            return np.add.accumulate(a.astype(np.float32) * b, axis=1, dtype=np.float32)[:, -1]

        def two(a, b):
            return one(a[:, :150], b[:, :150]) + one(a[:, 150:], b[:, 150:])

        found = mmafuzz.compare(one, two, formats=("fp16", "fp16", None, "fp32"), k=300, count=2000)
        self.assertEqual([c.label for c in found.causes], ["schedule"])
        self.assertIn("K = 300 is cut into 2 blocks: k 0..149; k 150..299", found.findings[0].why)
        self.assertTrue(found.long)

    def test_unstable(self):
        """A function that changes its answers, each call: the causes, with these, are all mismatches."""
        calls = []

        def changes(a, b, c):
            calls.append(1)
            return c + np.float32(len(calls) % 2)

        found = mmafuzz.compare(changes, HOPPER, count=20_000, effort=1, workers=1)
        self.assertGreater(found.unstable, 100)
        self.assertEqual(found.mismatches, found.unstable + found.unexamined + sum(c.cases for c in found.causes))
        self.assertIn(f"{found.unstable:>12,}  unstable: the same inputs gave other results", str(found))

    def test_conversions(self):
        """A conversion has formats of a and d alone, and is described in words of its own."""
        def direct(a):
            return a[:, 0].astype(np.float16)

        def twice(a):  # by way of BF16
            x = np.ascontiguousarray(a[:, 0])
            codes = x.view(np.uint32)
            short = (codes + np.uint32(0x7FFF) + (codes >> 16 & 1)) & np.uint32(0xFFFF0000)
            return np.where(np.isfinite(x), short.view(np.float32), x).astype(np.float16)

        for formats in (("fp32", None, None, "fp16"), ("fp32", "one", None, "fp16"), {"a": np.float32, "d": np.float16}):
            self.assertFalse(mmafuzz.compare(direct, direct, formats=formats, count=2000))
        found = mmafuzz.compare(twice, direct, formats=formats, count=5000)
        self.assertTrue(found)
        for f in found.findings:
            self.assertNotRegex(f.why, r"\b(products?|sums?|terms?)\b")
        self.assertRegex(found.findings[0].why, r"8 significant bits \(bf16\)")
        found = mmafuzz.infer(direct, formats=formats, checks=1000)
        self.assertTrue(found)
        self.assertNotRegex(found.text, r"Adder|\d products")
        with self.assertRaisesRegex(ValueError, r"shape \[N, 1\]"):
            mmafuzz.compare(lambda a: a.astype(np.float16), direct, formats=formats, count=2000)

    def test_codes(self):
        """NaNs of another code are equal, unless bits are asked for."""
        u = mmafuzz.unit(HOPPER)

        def quiet(a, b, c):
            d = u(a, b, c, codes=True).copy()
            d[(d & 0x7FFFFFFF) > 0x7F800000] = 0x7FC00001
            return d

        found = mmafuzz.compare(quiet, u, count=5000)
        self.assertEqual(found.mismatches, 0)
        self.assertGreater(found.codes, 0)
        self.assertEqual(mmafuzz.compare(quiet, u, count=5000, bits=True).mismatches, found.codes)

    def test_codes_change(self):
        """NaNs of another code each time are one result, of which the smallest input is found."""
        draw = np.random.default_rng(1)

        def nans(a, b, c):
            return np.full(len(c), 0x7FC00000, np.uint32) + draw.integers(1, 1000, len(c), np.uint32)

        found = mmafuzz.minimize(nans, HOPPER, (*[np.ones(16, np.float16)] * 2, np.float32(1)), effort=0)
        self.assertEqual(found.label, "unexplained")
        self.assertEqual(mmafuzz.minimize(nans, HOPPER, found.input, effort=0, bits=True).label, "unstable")

    def test_functions(self):
        """Two functions, and a function beside a reference, need formats of their own."""
        formats = ("fp16", np.float16, "fp32", "fp32")
        back = mmafuzz.compare(lambda a, b, c: chain(a[:, ::-1], b[:, ::-1], c), chain, formats=formats, k=2, count=1000)
        self.assertEqual([c.label for c in back.causes], ["summation-order"])
        product = lambda a, b: (a[:, :, None] * b).sum(axis=1)  # noqa: E731
        self.assertFalse(mmafuzz.compare(lambda a, b: np.diagonal(product(a, b.T)), "ref:mul32", formats=("fp32", "fp32", None, "fp32"), k=1, count=500))
        f = back.findings[0]
        for side in ("A  python:f/", "B  python:g/common.chain"):  # which of the two
            self.assertIn(side, f.picture)
        self.assertEqual((f.operands[0].shape, f.operands[2].shape), ((2,), ()))
        self.assertEqual(int(f.want, 16), int(chain(*(x[None] for x in f.operands)).view(np.uint32)[0]))
        self.assertEqual(int(f.got, 16), int(chain(*(x[None, ::-1] if x.ndim else x[None] for x in f.operands)).view(np.uint32)[0]))
        self.assertFalse(mmafuzz.compare(chain, "ref:mul32", formats=formats, k=16, count=5000))
        self.assertFalse(mmafuzz.compare(HOPPER, mmafuzz.unit(HOPPER), count=5000))
        for words, f in [("formats.* and k, .* are needed", lambda: mmafuzz.compare(chain, chain)),
                         ("no function, no unit", lambda: mmafuzz.compare(3, HOPPER)),
                         ("not those of a, b, c and d", lambda: mmafuzz.compare(chain, "ref:mul32", formats=formats[:3], k=4)),
                         ("there is no format 'fp17': one of fp64", lambda: mmafuzz.compare(chain, "ref:mul32", formats=("fp17",) * 4, k=4)),
                         ("like is 3", lambda: mmafuzz.compare(chain, chain, like=3)),
                         ("count is 1000.0, and not a whole number", lambda: mmafuzz.compare(chain, HOPPER, count=1e3)),
                         ("no format", lambda: mmafuzz.infer(chain, formats=("fp16", "fp16", "fp32", np.int64), k=4))]:
            with self.subTest(words), self.assertRaisesRegex(TypeError, words):
                f()
        for words, f in [("count is 0", lambda: mmafuzz.compare(chain, HOPPER, count=0)),
                         ("k is 0", lambda: mmafuzz.compare(chain, "ref:exact", formats=formats, k=0)),
                         ("no inputs in common", lambda: mmafuzz.compare("sim:hopper/mma.m8n8k4.f64.f64.f64.f64", HOPPER))]:
            with self.subTest(words), self.assertRaisesRegex(mmafuzz.Error, words):
                f()

    def test_lengths(self):
        """Units of other k are compared on dot products of a length that both take."""
        found = mmafuzz.compare("sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:hopper/mma.m16n8k8.f32.f16.f16.f32", count=3000)
        f = found.findings[0]
        self.assertEqual(f.operands[0].shape, (8,))
        with mmafuzz.unit("sim:volta/mma.m8n8k4.f32.f16.f16.f32") as u:
            self.assertEqual(f"{int(u(*f.operands, codes=True)):08x}", f.got)

    def test_minimize(self):
        """An input of many terms shrinks to the few that show the same."""
        a, b = np.zeros((2, 16), np.float16)
        a[:4], b[:4], c = [-8192, -0.5, -0.25, -0.125], [1024, 1, 1, 1], np.float32(2**23)
        found = mmafuzz.minimize(chain, HOPPER, (a, b, c))
        small = found.operands
        self.assertLess(np.count_nonzero(small[0] * small[1]), 4)
        self.assertEqual(f"{int(mmafuzz.unit(HOPPER)(*small, codes=True)):08x}", found.want)
        self.assertEqual(f"{int(chain(*(x[None] for x in small)).view(np.uint32)[0]):08x}", found.got)
        self.assertEqual(mmafuzz.minimize(chain, HOPPER, found), found)
        self.assertEqual(mmafuzz.minimize(chain, HOPPER, found.input), found)
        self.assertIsNone(mmafuzz.minimize(chain, HOPPER, (a, b * 0, c)))
        calls = []
        constant = mmafuzz.minimize(lambda a, b, c: calls.append(len(c)) or c, "ref:mul32", (a[:1], b[:1], c), formats=("fp16", "fp16", "fp32", "fp32"), k=1)
        self.assertEqual((constant.label, constant.input, constant.got), ("defect", "3c00 3c00 00000000", "00000000"))
        self.assertLess(len(calls), 100)
        with self.assertRaisesRegex(TypeError, "has the operands a, b, c: 3, not 4"):
            mmafuzz.minimize(chain, HOPPER, (a, b, c, c))
        with self.assertRaisesRegex(ValueError, r"a has the shape \(1, 16\), and should be of one dimension"):
            mmafuzz.minimize(chain, HOPPER, (a[None], b, c))

    def test_inputs(self):
        """Inputs are the same in any batch, and of the unit's types."""
        u = mmafuzz.unit(HOPPER)
        all, part = u.inputs(300), u.inputs(100, skip=200)
        for x, y in zip(all, part, strict=True):
            self.assertEqual(x[200:].tobytes(), y.tobytes())
        self.assertNotEqual(all[0].tobytes(), u.inputs(300, seed=2)[0].tobytes())
        self.assertGreater(np.count_nonzero(u(*all) != chain(*all)), 30)
        self.assertEqual([x.shape for x in u.inputs(0)], [(0, 16), (0, 16), (0,)])


class Inferences(unittest.TestCase):
    def test_infer(self):
        """The program of a function is found, and its model has the function's bits."""
        i = mmafuzz.infer(chain, formats=("fp16", "fp16", "fp32", "fp32"), k=2, checks=500)
        self.assertTrue(i)
        self.assertEqual((i.verdict, i.tree), ("found", "((p0 + c) + p1)"))
        self.assertIn("validated", str(i))
        self.assertIn("acc.mode", [p.path for p in i.parameters if p.value == "rne"])
        with tempfile.TemporaryDirectory() as d:
            i.save(pathlib.Path(d, "m.json"))
            with mmafuzz.unit(f"model:{d}/m.json") as u:
                self.assertFalse(mmafuzz.compare(chain, u, count=3000))

    def test_progress(self):
        """Long calls say what they do, if somebody wants to know or looks at a terminal."""
        half = dict(formats=("fp16", "fp16", "fp32", "fp32"), k=2)
        for call, line in [(lambda **p: mmafuzz.infer(chain, checks=500, **half, **p), r"(?s)challenging it  \d+ queries in \d+ batches  .*validating"),
                           (lambda **p: mmafuzz.compare(chain, lambda a, b, c: chain(a, b, c) + 0, count=3000, **half, **p), "looking for the arithmetic of python:f"),
                           (lambda **p: mmafuzz.probe(chain, **half, **p), "asking the questions of ")]:
            for terminal, progress, shown in [(False, None, False), (False, True, True), (True, None, True), (True, False, False)]:
                err, clock = io.StringIO(), itertools.count(step=5)
                err.isatty = lambda: terminal
                with contextlib.redirect_stderr(err), unittest.mock.patch("time.monotonic", lambda: next(clock)):
                    call(progress=progress)
                with self.subTest(line=line, terminal=terminal, progress=progress):
                    if shown:
                        self.assertRegex(err.getvalue(), r"^(\r\x1b\[K)?\d+:\d\d  ")
                        self.assertRegex(err.getvalue(), line)
                        self.assertEqual(err.getvalue().endswith("\r\x1b[K"), terminal)
                    else:
                        self.assertEqual(err.getvalue(), "")

    def test_unexplained(self):
        i = mmafuzz.infer(lambda a, b, c: np.maximum(c, 3), formats=("fp16", "fp16", "fp32", "fp32"), k=1, seconds=0.5)
        self.assertFalse(i)
        self.assertNotRegex(str(i), "--[a-z]|mmafuzz [a-z]+|command")
        self.assertIn("mmafuzz.compare(f, REFERENCE)", str(i))
        with self.assertRaisesRegex(ValueError, "no program was found"):
            i.save("/nowhere")

    def test_probe(self):
        p = mmafuzz.probe(HOPPER)
        self.assertEqual(p["T_rnd_dir"], "RZ")
        self.assertEqual(p.tree, "[c p0..p15]")
        self.assertIn("summation tree", str(p))
        self.assertEqual(mmafuzz.probe(mmafuzz.unit(HOPPER)), p)
        self.assertEqual(mmafuzz.probe(chain, like=HOPPER)["T_rnd_dir"], "RNE")

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        p = mmafuzz.probe(HOPPER)
        self.assertEqual(list(p.to_pandas()["value"]), [a.value for a in p.answers])
        self.assertEqual(list(mmafuzz.compare(chain, HOPPER, count=2000).to_pandas().columns), ["label", "cases", "max_ulp"])


if __name__ == "__main__":
    unittest.main()
