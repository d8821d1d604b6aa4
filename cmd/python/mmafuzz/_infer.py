"""What an unknown function or unit computes."""

import dataclasses
import pathlib

from . import _function, _table


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What was found of a parameter of the arithmetic: its path in a model file, and its value. ruled_out are
    other values, each with an input that rules it out, and open those that no input was found to rule
    out; untested says why no value was tested."""

    path: str
    value: str
    ruled_out: list = dataclasses.field(default_factory=list, repr=False)
    open: list = dataclasses.field(default_factory=list, repr=False)
    untested: str = ""


@dataclasses.dataclass(frozen=True)
class Inference(_table.Table):
    """What infer has found; it is true if a program was found, and prints as a text. verdict is found,
    unexplained, unstable, failing or exhausted; arithmetic is the program in the field's words, or if none
    was found the best that there is; alike are instructions of the catalogue that no input tells from it,
    and tree is the order of additions. params is the program as in a model file, parameters a list of
    Parameter, model the model file that save writes ("" if no program was found), and report
    all of it (go doc ./triage/infer)."""

    verdict: str
    arithmetic: str
    alike: list[str]
    tree: str
    params: dict = dataclasses.field(repr=False)
    parameters: list[Parameter] = dataclasses.field(repr=False)
    model: str = dataclasses.field(repr=False)
    report: dict = dataclasses.field(repr=False)
    text: str = dataclasses.field(repr=False)

    _rows = "parameters"

    def __bool__(self):
        return self.verdict == "found"

    def __str__(self):
        return self.text

    def save(self, path):
        """Writes the program found to a model file: unit("model:" + path) computes it."""
        if not self:
            raise ValueError(f"no program was found, the verdict is {self.verdict}")
        pathlib.Path(path).write_text(self.model)


def infer(f, *, formats=None, k=None, like=None, seed=1, checks=100_000, effort=200, seconds=0, bits=False, workers=0,
          progress=None):
    """Finds the arithmetic of a function, of a unit, or of the name of one: a program that
    reproduces it bit for bit. A function is as in compare. It is asked until one program explains
    all answers, and then on checks inputs of each kind. effort bounds the search, in millions of
    dot products of models; seconds, if not 0, bounds the time by the clock. It may take minutes:
    lines on stderr say what is being done if progress is true, or if it is None and stderr is a terminal."""
    with _function.opened(f, formats=formats, k=k, like=like) as units:
        r = _function.run("infer", units, progress, seed=seed, checks=checks, effort=effort, seconds=seconds, bits=bits, workers=workers)
    text, model = r.pop("text"), r.pop("model")
    return Inference(r["verdict"], r["arithmetic"], r["alike"] or [], r.get("tree", ""), r["params"],
                     [Parameter(**p) for p in map(_without_none, r["parameters"] or [])], model, r, text)


def _without_none(fields):
    return {name: value for name, value in fields.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a question of a paper: its value, "-" if no input of these formats decides. evidence
    has inputs and results that prove it."""

    paper: str
    id: str
    question: str
    value: str
    remark: str = ""
    evidence: list = dataclasses.field(default_factory=list, repr=False)
    unstable: str = ""


@dataclasses.dataclass(frozen=True)
class Probe(_table.Table):
    """What a function or a unit answers to the questions of papers, a list of Answer; probe["T_rnd_dir"] is
    the value of one, and it prints as a text. tree is the order of additions, or problem says why no input
    shows one. unstable, if not "", says that it changes its answers, and how often: then they
    prove nothing."""

    answers: list[Answer]
    tree: str
    problem: str
    unstable: str
    text: str = dataclasses.field(repr=False)

    _rows = "answers"

    def __str__(self):
        return self.text

    def __getitem__(self, id):
        """The value of the first answer of an id."""
        return next(a.value for a in self.answers if a.id == id)


def probe(f, *, formats=None, k=None, like=None, progress=None):
    """Asks a function, a unit, or the name of one, the questions that papers have asked of matrix
    units: rounding, widths, the order of additions, special values. progress is as in infer."""
    with _function.opened(f, formats=formats, k=k, like=like) as units:
        r = _function.run("probe", units, progress)
    return Probe([Answer(**a) for a in r["answers"]], r["tree"], r.get("problem", ""), r.get("unstable", ""), r["text"])
