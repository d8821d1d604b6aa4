#!/usr/bin/env python3
"""What libraries compute on this processor: runs mmafuzz infer on the children here and
writes the table RESULTS.md, with one row for each library, type, size and path (the variables
by which a library chooses its code).

  go build -o /tmp/mmafuzz ./cmd/mmafuzz
  python3 devices/exec/children/survey.py --mmafuzz /tmp/mmafuzz --out /tmp/survey --table RESULTS.md

The children run in the interpreter that runs this script. --out keeps what is inferred, and
a survey that was interrupted goes on from there. --only REGEXP chooses rows.
"""
import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys

# Variables, child, options, and inputs of each generator that a model must pass: as many as
# take about a minute of processor time, at most a million.
ROWS = [
    ("", "torch_matmul", "--type f32", 1000000),
    ("MKL_CBWR=AVX2", "torch_matmul", "--type f32", 1000000),
    ("MKL_CBWR=COMPATIBLE", "torch_matmul", "--type f32", 1000000),
    ("", "torch_matmul", "--type f32 -k 64", 100000),
    ("", "torch_matmul", "--type f32 --size 1x64", 100000),
    ("", "torch_matmul", "--type bf16", 1000000),
    ("ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX", "torch_matmul", "--type bf16", 1000000),
    ("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16", "torch_matmul", "--type bf16", 1000000),
    ("ONEDNN_MAX_CPU_ISA=AVX512_CORE", "torch_matmul", "--type bf16", 1000000),
    ("ONEDNN_MAX_CPU_ISA=AVX2", "torch_matmul", "--type bf16", 1000000),
    ("ATEN_CPU_CAPABILITY=avx2", "torch_matmul", "--type bf16", 1000000),
    ("", "torch_matmul", "--type bf16 -k 64", 100000),
    ("", "torch_matmul", "--type bf16 --size 1x64", 100000),
    ("", "torch_matmul", "--type bf16 --op addmm", 1000000),
    ("", "torch_matmul", "--type f32 --precision medium", 1000000),
    ("", "torch_matmul", "--type f16", 1000000),
    ("ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX_FP16", "torch_matmul", "--type f16", 1000000),
    ("ATEN_CPU_CAPABILITY=avx2", "torch_matmul", "--type f16", 1000000),
    ("", "torch_matmul", "--type f16 -k 64", 100000),
    ("", "torch_matmul", "--type f16 --size 1x64", 100000),
    ("", "torch_matmul", "--type f16 --transposed", 1000000),
    ("OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32", 1000000),
    ("OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32 --size 16x16 --at 0x0", 1000000),
    ("OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32 --size 16x16 --at 6x0", 1000000),
    ("OPENBLAS_CORETYPE=SkylakeX", "numpy_matmul", "--type f32", 1000000),
    ("", "numpy_matmul", "--type f32", 1000000),
    ("OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32 --size 1x64", 1000000),
    ("OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f64", 1000000),
    ("", "numpy_matmul", "--type f16", 100000),
    ("", "onnxruntime_matmul", "--type f32", 1000000),
    ("", "onnxruntime_matmul", "--type f32 --op addmm", 1000000),
    ("", "onnxruntime_matmul", "--type f16", 1000000),
    ("", "jax_matmul", "--type f32", 1000000),
    ("", "jax_matmul", "--type bf16", 1000000),
    ("", "jax_matmul", "--type f16", 1000000),
    ("XLA_FLAGS=--xla_cpu_max_isa=AVX2", "jax_matmul", "--type bf16", 1000000),
    ("", "triton_dot", "--type f16", 1000),
    ("", "tinygrad_wmma", "gfx942 --type bf16", 200),
]

# What Linux calls the instructions without which a path is not there: a library then takes
# the next best one, and says nothing.
NEEDS = {
    "ONEDNN_MAX_CPU_ISA=AVX512_CORE": "avx512bw",
    "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16": "avx512_bf16",
    "ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX": "amx_bf16",
    "ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX_FP16": "amx_fp16",
}


def processor():
    """The processor's name and, on x86, its family and model."""
    try:
        info = dict(x.split(":", 1) for x in open("/proc/cpuinfo").read().split("\n\n")[0].splitlines() if ":" in x)
        info = {k.strip(): v.strip() for k, v in info.items()}
        return "%s, family %s, model %s" % (info["model name"], info["cpu family"], info["model"])
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def missing(row):
    """The instructions that this processor lacks for a row's path, or nothing."""
    try:
        have = open("/proc/cpuinfo").read().split()
    except OSError:
        have = []
    need = NEEDS.get(row[0], "")
    return "" if need in ["", *have] else need


def target(row):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), row[1] + ".py")
    command = [sys.executable, path, *row[2].split()]
    return "exec:" + " ".join(shlex.quote(x) for x in (["env", row[0]] if row[0] else []) + command)


def infer(o, row):
    """The report of mmafuzz infer, or its error, or what the processor lacks."""
    if missing(row):
        return {"missing": missing(row)}
    name = re.sub(r"[^\w.=-]+", "_", "_".join(row[:3])).strip("_")
    checks = min(row[3], o.checks or row[3])
    out = os.path.join(o.out, "%s-%d" % (name, checks))
    if os.path.exists(os.path.join(out, "report.json")):
        with open(os.path.join(out, "report.json")) as f:
            r = json.load(f)
        if r["verdict"] != "exhausted":
            return r
    r = subprocess.run([o.mmafuzz, "infer", "--target", target(row), "--nan", "class", "--json", "--checks", str(checks),
                        "--time", o.time, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = r.stdout.strip().splitlines()
    if r.returncode > 1 and not lines:
        return {"error": r.stderr.strip().splitlines()[0] if r.stderr.strip() else "exit status %d" % r.returncode}
    return json.loads(lines[-1])


def flat(x, path=""):
    for k, v in x.items():
        if isinstance(v, dict):
            yield from flat(v, path + k + ".")
        else:
            yield "%s%s=%s" % (path, k, str(v).lower() if isinstance(v, bool) else v)


def cells(o, row, r):
    """The cells of a row of the table."""
    head = ["`%s`" % row[1].split("_")[0], "`%s`" % row[0] if row[0] else "", "`%s`" % r.get("instruction", row[2])]
    if "missing" in r:
        return head + ["not measured", "the processor has no %s" % r["missing"], "", ""]
    if "error" in r:
        return head + ["not had", r["error"].split(": ", 1)[-1], "", ""]
    program = r["arithmetic"] if r["arithmetic"] != "custom" else " ".join(x for x in flat(r["params"]) if not x.startswith("special.nan"))
    generators = [c for c in r.get("classes", []) if c["name"] in o.generators]  # others are families of infer's own
    passed = min((c["asked"] for c in generators if "asked" in c), default=0)
    tree = r.get("tree", "")
    if len(tree) > 170:
        tree = "… " + tree[-60:].lstrip(") ")
    note = "%s of each of %d kinds" % (format(passed, ","), len(generators)) if r["verdict"] == "found" else "wrong on `%s`: gives %s, not %s" % (
        r["witness"]["terms"], r["witness"]["got"], r["witness"]["would"]) if "witness" in r else r.get("unstable", r).get("what", r.get("note", ""))
    return head + [r["verdict"], program.replace("special.nan=ones ", ""), note, "`%s`" % tree if tree else ""]


def versions(o, row):
    """What a child says of itself, except for variables of the environment."""
    p = subprocess.run(shlex.split(target(row)[len("exec:"):]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [x[6:] for x in p.stdout.decode().splitlines() if x.startswith("about ") and not x[6].isupper()]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mmafuzz", default="mmafuzz")
    p.add_argument("--out", default="survey")
    p.add_argument("--table", default="RESULTS.md")
    p.add_argument("--only", default="")
    p.add_argument("--checks", type=int, default=0, help="at most so many inputs of each generator")
    p.add_argument("--time", default="5m", help="for a row")
    o = p.parse_args()
    for name in list(os.environ):  # rows without variables are what libraries choose by themselves
        if re.match("(OPENBLAS|MKL|ONEDNN|DNNL|ATEN|XLA)_", name):
            del os.environ[name]
    listed = subprocess.run([o.mmafuzz, "list", "generators", "--json"], stdout=subprocess.PIPE, check=True).stdout
    o.generators = {json.loads(line)["generator"].split("@")[0] for line in listed.splitlines()}
    rows = [r for r in ROWS if re.search(o.only, " ".join(r[:3]))]
    table, seen = [], {}
    for row in rows:
        r = infer(o, row)
        table.append(cells(o, row, r))
        print(" | ".join(table[-1][:5]), flush=True)
        if "missing" in r:
            print("!! SKIPPED: %s has no %s" % (processor(), r["missing"]), flush=True)
        elif "error" not in r:
            seen.setdefault(row[1], versions(o, row))
    with open(o.table, "w") as f:
        f.write(TEXT % processor())
        for child, about in seen.items():
            f.write("- `%s.py`: %s\n" % (child, "; ".join(about)))
        f.write("\n| library | path | instruction | verdict | program | inputs that agree | summation tree |\n|---|---|---|---|---|---|---|\n")
        for cs in table:
            f.write("| %s |\n" % " | ".join(c.replace("|", "\\|") for c in cs))


TEXT = """# What libraries compute

Made by `survey.py`, which `.ci/nightly frameworks` runs; do not edit. Each row is an
inference (`mmafuzz infer --nan class`): the arithmetic of one dot product in a matrix
product, in the words of `go doc ./sim/mma Params`, equal to the library on so many dot
products of every generator. A path is the variables of the environment by which the library
chooses its code; none is what it chooses by itself. Every `RESULTS*.md` here is of one
processor, and the stage compares its own with that of the same processor.

Processor: %s.

"""

if __name__ == "__main__":
    main()
