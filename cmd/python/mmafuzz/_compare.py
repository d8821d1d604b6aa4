"""Comparison of functions and units, and smallest inputs."""

import dataclasses
import math
import os

from . import _function, _table
from ._unit import UnitInfo, line_of, operands_of


@dataclasses.dataclass(frozen=True)
class Cause:
    """All cases of one cause: its label, their number, and the largest distance of two results, in steps from
    one number of d's format to the next. A case can have several causes: it counts for the first of
    them, in the order of the computation."""

    label: str
    cases: int
    max_ulp: float


@dataclasses.dataclass(frozen=True)
class Finding:
    """The smallest input of a kind: label is its cause, why says it in words, and detail has all that
    the case needs. got is the result of the first of the two, want that of the other, and input has a,
    b and c as mmafuzz eval reads them, all in hexadecimal codes; operands are the same as arrays. picture
    shows how both compute it, the first as A, and brief does so in short. bundle is a directory that
    mmafuzz show reads."""

    label: str
    detail: str
    input: str
    got: str
    want: str
    bundle: str = ""
    picture: str = dataclasses.field(default="", repr=False)
    brief: str = dataclasses.field(default="", repr=False)
    why: str = ""
    info: UnitInfo | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def operands(self):
        """The input as arrays: a and b of [k], c, and scales, as far as there are any. A unit takes
        them as they are: u(*operands), and a function as f(*(x[None] for x in operands))."""
        return operands_of(self.info, self.input)

    def __str__(self):
        return f"{self.label}: {self.detail}\n{self.picture}" + (f"{self.bundle}\n" if self.bundle else "")


@dataclasses.dataclass(frozen=True)
class Comparison(_table.Table):
    """What compare has found; it is true if there are mismatches, and prints as a text. dots were compared, and
    mismatches are those of other results, codes further ones of the same results in other codes: NaNs,
    unless bits were asked for. causes are the mismatches by their cause, the most frequent first, but for
    unexamined ones (examine of compare), and findings the smallest inputs in the same order.
    stochastic says what was found of a side that rounds stochastically, or why that is not known. effort is
    that of the search, and spent says that the search has used it up: a larger one looks further. long says
    that k is more than 255, of which little but schedules is looked for. unstable are mismatches of no
    cause: asked again, the same inputs gave other results."""

    dots: int
    mismatches: int
    codes: int
    causes: list[Cause]
    findings: list[Finding]
    stochastic: list[str] = dataclasses.field(default_factory=list)
    unexamined: int = 0
    effort: int = 0
    spent: bool = False
    unstable: int = 0
    long: bool = False

    _rows = "causes"

    def __bool__(self):
        return self.mismatches > 0

    def __str__(self):
        dots = f"{self.dots:,} dot product{'s' if self.dots != 1 else ''}"
        if not self.mismatches:
            return "\n".join([f"no mismatch in {dots}", *self.stochastic])
        text = f"{self.mismatches:,} mismatch{'es' if self.mismatches > 1 else ''} in {dots}\n"
        text += "".join(f"{c.cases:>12,}  {c.label}\n" for c in self.causes)
        if self.unstable:
            text += f"{self.unstable:>12,}  unstable: the same inputs gave other results when they were asked again\n"
        if self.unexamined:
            known = not self.unstable and not {"unexplained", "defect"} & {c.label for c in self.causes}
            text += f"{self.unexamined:>12,}  " + ("explained by the same arithmetics, not counted by cause\n" if known else "not examined\n")
        if any(c.label == "unexplained" for c in self.causes):
            text += ("(of more than 255 products, little but the order, accumulators and formats in which they are added is looked for: "
                     "a smaller k may show the cause)\n" if self.effort and self.long else
                     f"(effort={self.effort} is used up: a larger one looks further for causes, and may find none)\n" if self.effort and self.spent else
                     f"(effort={self.effort} is not used up: a larger one finds the same causes)\n" if self.effort else
                     "(with effort=0 causes are not looked for)\n")
        if len(self.causes) > 1:
            text += "(a case that has several causes counts for the first of them)\n"
        said = set()  # labels: with others beside it, one makes many kinds of cases
        for n, f in enumerate(self.findings):
            if f.label not in said:
                text += f"\nfindings[{n}]: " + (f.why.partition("\n")[0] if n else f"{f.why}\n{f.brief}")
            said.add(f.label)
        if more := len(self.findings) - len(said):
            text += f"\n{more} more finding{'s have' if more > 1 else ' has'} one of these labels, too"
        return "\n".join([text, *self.stochastic])


def compare(f, g, *, formats=None, k=None, like=None, count=100_000, examine=10_000, effort=4, seed=1, bits=False, bundles="", workers=0, progress=None):
    """Compares f with g, on inputs that are aimed at the decisions of arithmetics. Each is a unit,
    the name of one, or a function.

    A function f(a, b, c) gets a batch of dot products, arrays a and b of the shape [N, k] and c of
    [N], and returns d of [N]; without c if there is none, and with sa and sb, [N, k / block], if
    there are block scales. A conversion f(a) gets a of the shape [N, 1] and returns [N], as a[:, 0].astype(...)
    does; its formats are those of a and d, formats=("fp32", None, None, "e4m3"), and its k is 1. A product of matrices mm(a, b) is one as
    lambda a, b: np.diagonal(mm(a, b.T)), for some thousand dot products: most of what it computes
    is not used. A function has to give the same results for the same inputs, or to round
    stochastically: then results that are neighbours of the exact value are no mismatches. Types are
    those of the unit on the other side; for two functions, formats=("fp16", "fp16", "fp32", "fp32")
    are those of a, b, c and d, names or types of NumPy, or like names a unit.

    The cause of each of about the first examine mismatches is found, or of all if that is 0. Of later
    ones one in 64 is examined, and more where an infinity, a NaN or the sign of a zero differs, until
    there were examine of these, too. The others are unexamined; while the arithmetics found explain all
    mismatches, it is checked that they explain these as well.

    A NaN is equal to any other unless bits is true. bundles is a directory for findings that the
    command mmafuzz reads. The same seed, count and effort give the same findings. effort is what the
    search for causes may take, in millions of dot products of models; two more come to it for each million
    compared. Changes of the arithmetic are tried, then a defect, and then programs of other structure; without c,
    the order, accumulators and formats in which a kernel adds its products. One
    change that explains all is found in a second or two. Where nothing explains the mismatches all of that
    is spent: with effort=4 it takes 5 to 25 s of a processor, depending on the formats, k and the machine.
    Several causes together, or a defect beside one, may need effort=16. With effort=0 there is
    no search, and mismatches are unexplained unless both sides are units. progress is as in infer."""
    with _function.opened(f, g, formats=formats, k=k, like=like) as units:
        found = _function.run("compare", units, progress, count=count, examine=examine, effort=effort, seed=seed, bits=bits, workers=workers, bundles=os.fspath(bundles))
        info = _both(units)
    return Comparison(found["dots"], found["mismatches"], found["codes"], [Cause(**x) for x in found["causes"]],
                      [Finding(**x, info=info) for x in found["findings"]], found["stochastic"], found["unexamined"], effort, found["spent"], found["unstable"], found["long"])


def minimize(f, g, case, *, formats=None, k=None, like=None, effort=4, seed=1, bits=False, workers=0, progress=None):
    """The smallest input on which f and g differ as they do on one dot product, and why: a Finding,
    or None if they agree on it. The case is a Finding, its input, or the operands of a dot product, as in
    compare but without the first dimension. f and g are asked about other inputs, too, to find
    out why, which may take some seconds: effort is as in compare, and with effort=0 it is left out."""
    with _function.opened(f, g, formats=formats, k=k, like=like) as units:
        info = _both(units)
        case = case.input if isinstance(case, Finding) else case
        line = case if isinstance(case, str) else line_of(info, case)
        found = _function.run("minimize", units, progress, input=line, effort=effort, seed=seed, bits=bits, workers=workers)
    return found and Finding(**found, info=info)


def _both(units):
    """What two units compute: dot products of a length that both take."""
    info = units[0].info
    return dataclasses.replace(info, k=math.lcm(info.k, units[1].info.k))
