"""What all children here share: the protocol of exec: targets (go doc ./devices/exec)
and matrices that hold many dot products. It needs nothing but Python 3.8."""
import argparse
import importlib
import os
import re
import struct
import sys
import zlib

# Only answers may go to stdout: what libraries print goes to stderr.
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def cannot(text):
    """Says why there is nothing to test, in place of a header, and ends."""
    line = "cannot " + " ".join(text.split())
    answers.write(b"mmafuzz-exec 1 binary\n" + line.encode("ascii", "replace")[:4000] + b"\n")
    answers.flush()
    sys.exit(2)


def need(name, minimum, install):
    """Imports a module of version minimum, such as "2.1", or later; with None, any version.
    install says how to get it."""
    try:
        module = importlib.import_module(name)
    except Exception as e:  # a package that is damaged raises anything
        lost = isinstance(e, ModuleNotFoundError) and e.name == name.split(".")[0]
        why = "is not installed" if lost else "cannot be imported (%s: %s)" % (type(e).__name__, e)
        cannot("the Python package %s %s for %s: %s" % (name.split(".")[0], why, sys.executable, install))
    number = lambda v: [int(x) for x in re.findall(r"\d+", v)[:2]]
    found = str(getattr(module, "__version__", "unknown"))
    if minimum and number(found) < number(minimum):
        cannot("the Python package %s is of version %s, %s or later is needed: %s" % (name, found, minimum, install))
    return module


def version(package):
    """The version of an installed package, by its metadata."""
    try:
        from importlib.metadata import version
        return version(package)
    except Exception:
        return "unknown"


def options(doc, types, operations=("matmul",)):
    """The options of children that multiply matrices; doc is the script's own text."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda s: s.split(",")
    p.add_argument("--op", type=words, default=operations[:1], help="operations: " + ",".join(operations))
    p.add_argument("--type", type=words, default=list(types), help="types of the elements: " + ",".join(types))
    p.add_argument("-k", type=lambda s: [int(x) for x in s.split(",")], default=[16], help="products of a dot product (default 16)")
    p.add_argument("--size", type=size, default=(64, 64), help="rows and columns of the result (default 64x64)")
    p.add_argument("--fit", action="store_true", help="make each matrix as large as the tile that is asked for, of at most --size: libraries may compute small ones in another way")
    p.add_argument("--at", type=place, metavar="ROWxCOLUMN", help="one dot product a matrix, at this place, zeros elsewhere: libraries may compute edges and corners in another way")
    p.add_argument("--transposed", action="store_true", help="store B column by column, not row by row")
    p.add_argument("--threads", type=int, default=1, help="threads of the library (default 1)")
    return p


def chosen(p, types, operations):
    """Reads the command line; wrong words end the child with a line that says so."""
    o = p.parse_args()
    for word in o.type:
        if word not in types:
            p.error("there is no type %s here; types: %s" % (word, ",".join(types)))
    for word in o.op:
        if word not in operations:
            p.error("there is no operation %s here; operations: %s" % (word, ",".join(operations)))
    if min(o.k) < 1 or o.threads < 1:
        p.error("-k and --threads are positive numbers")
    if o.at and not (o.at[0] < o.size[0] and o.at[1] < o.size[1]):
        p.error("--at is a place in a matrix of %dx%d, from 0x0" % o.size)
    if o.at and o.fit:
        p.error("--at is a place in a matrix of --size, which --fit does not make")
    return o


def named(o, op, k, name, flags):
    """The name of an instruction: it has all options that its results depend on."""
    words = ["%s.m%dn%dk%d.%s" % (op, *o.size, k, name)] + ["transposed"] * o.transposed
    words += ["at%dx%d" % o.at] if o.at else ["fit"] * o.fit
    return ".".join(words + list(flags))


def tiles(o):
    """The most rows and columns of a tile, as Instruction takes them."""
    return ("1", "1") if o.at else tuple("1..%d" % x for x in o.size)


def place(text):
    m = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text)
    if not m:
        raise argparse.ArgumentTypeError("%r is not ROWxCOLUMN" % text)
    return int(m[1]), int(m[2])


def size(text):
    m = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if not m:
        raise argparse.ArgumentTypeError("%r is not ROWSxCOLUMNS" % text)
    return int(m[1]), int(m[2])


def environment(*names):
    """Variables of the environment by which libraries choose their code, if they are set."""
    return {n: os.environ[n] for n in names if os.environ.get(n)}


class Instruction:
    """An instruction of a child. run(tiles, m, n, buffers) gets a request's buffers A, B, C,
    SA and SB (those that the instruction has) and returns D as an object with bytes."""

    def __init__(self, name, k, run, rows, columns, a, b, d, c="none", scale=None, block=0):
        self.run, self.k = run, k
        self.types = a, b, c, d
        self.line = "instruction %s k=%d a=%s b=%s c=%s d=%s m=%s n=%s" % (name, k, a, b, c, d, rows, columns)
        self.blocks, self.scale = 0, scale
        if scale:
            self.line += " scale=%s block=%d" % (scale, block)
            self.blocks = k // block

    def buffers(self, payload, m, n, tiles):
        """Cuts a payload into A, B, C, SA, SB; empty ones are left out."""
        a, b, c, _ = self.types
        each = self.blocks * width(self.scale or "none")
        sizes = [m * self.k * width(a), n * self.k * width(b), m * n * width(c), m * each, n * each]
        parts, at = [], 0
        for x in sizes:
            if x:
                parts.append(payload[at:at + tiles * x])
                at += tiles * x
        return parts


def width(name):
    """Bytes of an element."""
    return {"none": 0, "fp64": 8, "fp32": 4, "tf32": 4, "xf32": 4, "fp16": 2, "bf16": 2, "s32": 4, "u32": 4, "s16": 2, "u16": 2}.get(name, 1)


def read(n):
    """n bytes of a request, or None at the end of the input."""
    data = sys.stdin.buffer.read(n)
    return bytearray(data) if len(data) == n else None


def serve(instructions, about, batch=0, deadline="60s"):
    """Writes the header and answers requests until there are no more."""
    lines = ["mmafuzz-exec 1 binary"] + [i.line for i in instructions]
    lines += ["about %s %s" % (k, " ".join(str(v).split())) for k, v in about.items() if str(v).strip()]
    lines += ["batch %d" % batch] * (batch > 0) + ["deadline " + deadline, "ready", ""]
    answers.write("\n".join(lines).encode("ascii", "replace"))
    answers.flush()
    while True:
        head = read(36)
        if head is None:
            return
        magic, ident, number, m, n, k, tiles, length, crc = struct.unpack("<4s8I", head)
        payload = read(length)
        if payload is None:
            return
        if magic != b"mmaQ" or zlib.crc32(payload) != crc or number >= len(instructions) or k != instructions[number].k:
            sys.exit("this is no request of protocol 1: %r" % bytes(head))
        status = 0
        try:
            i = instructions[number]
            d = i.run(tiles, m, n, i.buffers(memoryview(payload), m, n, tiles))
        except MemoryError as e:
            status, d = 3, ("out of memory: %s" % e).encode()[:4096]
        except Exception as e:
            status, d = 1, ("%s: %s" % (type(e).__name__, e)).encode()[:4096]
        d = memoryview(d).cast("B")
        answers.write(struct.pack("<4s4I", b"mmaD", ident, status, len(d), zlib.crc32(d)))
        answers.write(d)
        answers.flush()


class Matrices:
    """Tiles of m by n on the diagonals of matrices of the size asked for, or one dot product
    in each with --at. It works with arrays of any library that has slices and reshape;
    zeros(shape) makes an array."""

    def __init__(self, o, tiles, m, n, zeros):
        self.rows, self.columns = (m, n) if o.fit else o.size
        self.row, self.column = o.at or (0, 0)
        self.each = 1 if o.at else min(self.rows // m, self.columns // n)  # tiles of a matrix
        self.count = -(-tiles // self.each)
        self.tiles, self.m, self.n, self.zeros = tiles, m, n, zeros

    def stack(self, x, m, first, rows):
        """(tiles, m, k) as (matrices, rows, k): the tiles of a matrix below each other, from
        row first on, and zeros in the other rows."""
        k = x.shape[2]
        if self.tiles == self.count * self.each and self.each * m == rows:
            return x.reshape(self.count, rows, k)
        whole = self.zeros((self.count * self.each, m, k))
        whole[:self.tiles] = x
        out = self.zeros((self.count, rows, k))
        out[:, first:first + self.each * m] = whole.reshape(self.count, self.each * m, k)
        return out

    def a(self, x):
        return self.stack(x, self.m, self.row, self.rows)

    def b(self, x):
        return self.stack(x, self.n, self.column, self.columns)

    def block(self, i):
        """The rows and columns of tile i of a matrix."""
        row, column = self.row + i * self.m, self.column + i * self.n
        return slice(row, row + self.m), slice(column, column + self.n)

    def c(self, x):
        """(tiles, m, n) as (matrices, rows, columns): on the diagonal, zeros elsewhere."""
        out = self.zeros((self.count, self.rows, self.columns))
        for i in range(self.each):
            some = x[i::self.each]
            out[(slice(len(some)), *self.block(i))] = some
        return out

    def d(self, x):
        """The tiles on the diagonals of (matrices, rows, columns)."""
        out = self.zeros((self.count, self.each, self.m, self.n))
        for i in range(self.each):
            out[:, i] = x[(slice(None), *self.block(i))]
        return out.reshape(self.count * self.each, self.m, self.n)[:self.tiles]


def multiplied(np, op, o, name, k, code, raw, multiply, flags=(), result=None, other=None):
    """An instruction OP.mROWSnCOLUMNSkK.NAME of a library that takes NumPy's arrays: code is
    mmafuzz's name of the type, raw NumPy's integer of its size, and multiply(a, b, c) takes
    and returns matrices of codes, where c is None without --op addmm. result is the type of D and
    NumPy's integer of its size, and other the type of B, of the same size; None: those of A."""
    last, out = result or (code, raw)
    c = code if op == "addmm" else "none"

    def run(tiles, m, n, buffers):
        t = Matrices(o, tiles, m, n, lambda shape: np.zeros(shape, raw))
        x = [np.frombuffer(b, raw) for b in buffers]
        a, b = t.a(x[0].reshape(tiles, m, k)), t.b(x[1].reshape(tiles, n, k)).transpose(0, 2, 1)
        b = b if o.transposed else np.ascontiguousarray(b)
        addend = t.c(x[2].reshape(tiles, m, n)) if op == "addmm" else [None] * t.count
        t.zeros = lambda shape: np.zeros(shape, out)
        d = t.zeros((t.count, t.rows, t.columns))
        for i in range(t.count):
            d[i] = multiply(a[i], b[i], addend[i])
        return np.ascontiguousarray(t.d(d))

    return Instruction(named(o, op, k, name, flags), k, run, *tiles(o), code, other or code, last, c)


def matrices(np, multiply, dtype, **about):
    """Serves a function of two NumPy matrices, for infer --shape: each argument of the child that is a
    shape such as 64x64x1000, rows x columns x K, is an instruction. Others are the child's own."""
    code = {"float32": "fp32", "float64": "fp64", "float16": "fp16"}[dtype]

    def instruction(shape):
        m, n, k = map(int, shape.split("x"))

        def run(tiles, rows, columns, buffers):
            a, b = (np.frombuffer(x, dtype).reshape(tiles, -1, k) for x in buffers)
            return np.ascontiguousarray([multiply(x, np.ascontiguousarray(y.T)) for x, y in zip(a, b)], dtype)

        return Instruction("matmul.m%dn%dk%d.%s" % (m, n, k, dtype), k, run, m, n, code, code, code)

    shapes = [s for s in sys.argv[1:] if re.fullmatch("[0-9]+x[0-9]+x[0-9]+", s)]
    if not shapes:
        sys.exit("name a shape, rows x columns x K, such as 64x64x1000")
    serve([instruction(s) for s in shapes], about)
