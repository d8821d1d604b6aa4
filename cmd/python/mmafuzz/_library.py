"""The shared library, through ctypes."""

import ctypes
import functools
import json
import operator
import os
import pathlib
import reprlib
import struct
import sys

_HERE = pathlib.Path(__file__).parent
_NAMES = ["libmmafuzz.so", "libmmafuzz.dylib", "mmafuzz.dll"]


class Error(Exception):
    """What the library says is wrong."""


class Batch(ctypes.Structure):
    _fields_ = (
        [(name, ctypes.c_int64) for name in ("m", "n", "k", "tiles")]
        + [(name, ctypes.c_void_p) for name in ("a", "b", "c", "sa", "sb", "d")]
        + [("bytes_" + name, ctypes.c_int64) for name in ("a", "b", "c", "sa", "sb", "d")]
    )


_text, _handle = ctypes.c_char_p, ctypes.c_int64
_job = ctypes.POINTER(_handle)
_failure = ctypes.POINTER(ctypes.c_void_p)


# What runs a supervisor of children (devices/exec) in a process of its own.
_SUPERVISE = "import ctypes, json, sys; ctypes.CDLL(sys.argv[1]).mmafuzz_supervise(json.dumps(sys.argv[2:]).encode())"


@functools.cache
def _load():
    """The library. It is loaded when it is first needed: an exec: child does without, and a
    process that has loaded it cannot be forked any more."""
    path = next((p for name in _NAMES if (p := _HERE / name).exists()), None)
    if path is None:
        raise ImportError(f"the shared library of mmafuzz is not in {_HERE}: install the wheel")
    lib = ctypes.CDLL(str(path))
    for name, result, arguments in [
        ("open", _handle, [_text, _text, _text, _failure]),
        ("callable", _handle, [_text, _failure]),
        ("close", None, [_handle]),
        ("info", ctypes.c_void_p, [_handle, _failure]),
        ("units", ctypes.c_void_p, [_text, _failure]),
        ("explain", ctypes.c_void_p, [_handle, _text, ctypes.c_int, _failure]),
        ("inputs", None, [_handle, ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(Batch), _failure]),
        ("run", None, [_handle, ctypes.POINTER(Batch), ctypes.c_int, _job, _failure]),
        ("tile", ctypes.c_int, [_text]),
        ("schedule", ctypes.c_void_p, [_handle, _text, *[ctypes.c_int64] * 3, ctypes.c_int, _failure]),
        ("gemm", None, [_handle, _text, ctypes.POINTER(Batch), ctypes.c_int, _job, _failure]),
        ("task", None, [_text, _handle, _handle, _text, _job, _failure]),
        ("wait", ctypes.c_int, [_handle, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Batch), _failure]),
        ("cancel", None, [_handle]),
        ("free", None, [ctypes.c_void_p]),
    ]:
        f = getattr(lib, "mmafuzz_" + name)
        f.restype, f.argtypes = result, arguments
    if hasattr(lib, "mmafuzz_supervisor") and sys.executable:
        command = [sys.executable, "-ISc", _SUPERVISE, str(path)]
        lib.mmafuzz_supervisor(json.dumps(command).encode(), ctypes.byref(ctypes.c_void_p()))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
    return lib


_lost = False  # this process was forked when the library was loaded: its threads are not here


def _forked():
    global _lost
    _lost = True


def _taken(pointer):
    """A text of the library, which is freed."""
    if not pointer:
        return ""
    try:
        return ctypes.string_at(pointer).decode()
    finally:
        _load().mmafuzz_free(pointer)


def call(name, *arguments):
    """Calls a function whose last parameter takes an error, and returns its result."""
    lib = _load()
    if _lost:
        raise Error("mmafuzz was used before this process was forked, which its threads do not survive: "
                    "use multiprocessing's \"spawn\", or use it in the child alone")
    if any(isinstance(a, bytes) and b"\0" in a for a in arguments):
        raise ValueError("a text has a null character in it")
    failure = ctypes.c_void_p()
    result = getattr(lib, "mmafuzz_" + name)(*arguments, ctypes.byref(failure))
    if failure.value:
        raise Error(_taken(failure.value))
    return result


MOST = {"workers": 4096, "effort": 10**9, "checks": 10**9}  # beyond what any machine does


def number(what, x, most=2**64 - 1):
    """x as a whole number, not negative."""
    try:
        n = operator.index(x)
    except TypeError:
        raise TypeError(f"{what} is {x!r}, and not a whole number") from None
    if not 0 <= n <= most:
        raise ValueError(f"{what} is {n}" + (f", and at most {most}" if n > most else ""))
    return n


def text(what, x):
    """x, which is a text or the like of one, as the library reads it."""
    if isinstance(x, os.PathLike):
        x = os.fspath(x)
    if not isinstance(x, str):
        raise TypeError(f"{what} is {reprlib.repr(x)}, and not a str")
    return x.encode()


_PRODUCT = struct.Struct("=6q6Q").pack


def tiles(unit, m, n, k, stored=0):
    """A function tile(by_rows, a, b, c, sa, sb, d) that computes a product of small matrices at these
    addresses, if that takes no longer than to begin a job: whether it was done. The library says what
    stored and by_rows are (mmafuzz_product)."""
    compute = _load().mmafuzz_tile

    def tile(by_rows, a, b, c, sa, sb, d):
        return not (_lost or compute(_PRODUCT(unit, m, n, k, stored, by_rows, a, b, c, sa, sb, d)))

    return tile


def call_json(name, *arguments):
    return json.loads(_taken(call(name, *arguments)))


def call_text(name, *arguments):
    return _taken(call(name, *arguments))


def close(handle):
    if not _lost:
        _load().mmafuzz_close(handle)


def _told(text):
    """A text that the library has put there, which it takes away."""
    pointer, text.value = text.value, None
    return _taken(pointer)


_in_use = {}  # by a key of each call of do that goes on: what the library uses


def do(name, *arguments, uses, stop=lambda: False, say=lambda doing: None):
    """Calls a function that begins a job, waits for it, if there is one, and returns its text. uses is the memory
    that the library uses meanwhile, or the units of a task, of which it may ask what functions compute. say is
    told again and again what the job is doing, "" if that is nothing new.
    An interrupt cancels the job, and so does stop() once it is true; the job is over when the exception
    leaves this function. Only if another interrupt comes before that it may go on: then it keeps what it uses."""
    lib, job, batch, text, key = _load(), _handle(), Batch(), ctypes.c_void_p(), object()
    _in_use[key] = uses
    try:
        call(name, *arguments, ctypes.byref(job))
        milliseconds, status, state = 1, 0, 1  # so that short jobs do not wait
        while job.value and (state := lib.mmafuzz_wait(job, milliseconds, status, ctypes.byref(batch), ctypes.byref(text))) not in (1, 2):
            milliseconds = 50
            say(_told(text))
            if state:
                status = uses[state - 3].compute(batch)
            if stop():
                lib.mmafuzz_cancel(job)
    except BaseException:
        if job.value:
            lib.mmafuzz_cancel(job)
            while lib.mmafuzz_wait(job, 1000, 1, ctypes.byref(batch), ctypes.byref(text)) not in (1, 2):
                _told(text)
            _told(text)
        del _in_use[key]
        raise
    del _in_use[key]
    said = _told(text)
    if state == 2:
        raise Error(said)
    return said
