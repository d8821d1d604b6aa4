"""How a function of NumPy arrays computes the dot products of a batch."""

import numpy as np

from ._formats import ONE


class Signature:
    """The k and the formats of a function: what it takes and gives."""

    def __init__(self, k, a, b, c, d, scale=None, block=0):
        self.k, self.a, self.b, self.c, self.d, self.scale, self.block = k, a, b, c, d, scale, block

    def names(self):
        """The operands that a function gets, in their order."""
        return ["a", *([] if self.b.name == ONE else ["b"]), *(["c"] if self.c else []), *(["sa", "sb"] if self.scale else [])]

    def blocks(self, k):
        return -(-k // self.block) if self.scale else 0

    def compute(self, function, tiles, m, n, k, buffers):
        """The codes of D of a batch: buffers has the bytes of A, B, C, SA, SB, those that there
        are. If k is larger than the function's, it is called again with c = the result before. What the
        function gets are copies, which it may keep: the buffers may go when this is over."""
        buffers = iter(buffers)

        def array(f, times, axis, shape, result):
            """The next operand, so many times along an axis: np.repeat copies, even once, and does so
            several times as fast as what broadcasts."""
            codes = np.repeat(np.frombuffer(next(buffers), f.codes).reshape(shape), times, axis).reshape(result)
            codes.flags.writeable = False
            return f.result(codes)

        def operands(f, length):
            """Of each dot product, those of its row and of its column."""
            return [array(f[0], n, 0, (tiles * m, length), (-1, length)),
                    array(f[1], m, 1, (tiles, 1, n, length), (-1, length))]

        both = operands((self.a, self.b), k)
        c = array(self.c, 1, 0, -1, -1) if self.c else None
        scales = operands((self.scale, self.scale), self.blocks(k)) if self.scale else []
        for at in range(0, k, self.k):
            part = [x[:, at:at + self.k] for x in both]
            blocks = [x[:, at // self.block:(at + self.k) // self.block] for x in scales]
            if self.b.name == ONE:
                del part[1]
            with np.errstate(all="ignore"):  # there are infinities and NaNs among the inputs
                d = function(*part, *([c] if self.c else []), *blocks)
            d = self.d.array("the function's result", d)
            if d.shape != (tiles * m * n,):
                raise ValueError(f"the function's result has the shape {d.shape}, not ({tiles * m * n},)" +
                                 (": a has the shape [N, 1], and a[:, 0] is what is converted" if self.b.name == ONE else ""))
            c = self.d.result(np.ascontiguousarray(d))
        return d
