#!/usr/bin/env python3
"""In which order libraries sum the products of whole matrices on this processor: runs
mmafuzz infer --shape on the children here and writes the table KERNELS.md, with one row for
each library, type, number of threads and shape.

  go build -o /tmp/mmafuzz ./cmd/mmafuzz
  python3 devices/exec/children/kernels.py --mmafuzz /tmp/mmafuzz --out /tmp/kernels --table KERNELS.md

The children run in the interpreter that runs this script. --out keeps what is inferred, and
what is there is not inferred again. --only REGEXP chooses rows.
"""
import argparse
import json
import os
import re
import subprocess

import survey

CHECKS = 1000000  # elements on which a schedule is validated, at most
SHAPES = ("1x1x7 1x1x64 1x1x1000 1x64x1000 64x1x1000 8x8x7 8x8x1000 8x8x4096 64x64x64 64x64x384 64x64x1000 64x64x4096 "
          "128x128x100 128x128x1000").split()
MATRICES = SHAPES[5:]
DEEP = ["64x64x30000"]

# Variables, child, options and shapes.
ROWS = [
    ("OPENBLAS_NUM_THREADS=1", "numpy_matmul", "--type f32", SHAPES + DEEP),
    ("OPENBLAS_NUM_THREADS=2", "numpy_matmul", "--type f32", MATRICES + DEEP),
    ("OPENBLAS_NUM_THREADS=1", "numpy_matmul", "--type f64", SHAPES + DEEP),
    ("OPENBLAS_NUM_THREADS=2", "numpy_matmul", "--type f64", MATRICES),
    ("OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32", SHAPES),
    ("OPENBLAS_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32", MATRICES),
    ("OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f64", SHAPES),
    ("OPENBLAS_NUM_THREADS=1", "scipy_matmul", "--type f32", SHAPES),
    ("OPENBLAS_NUM_THREADS=2", "scipy_matmul", "--type f32", MATRICES),
    ("OPENBLAS_NUM_THREADS=1", "scipy_matmul", "--type f64", SHAPES),
    ("MKL_NUM_THREADS=1", "blas_matmul", "libmkl_rt.so.3 --type f32", SHAPES),
    ("MKL_NUM_THREADS=2", "blas_matmul", "libmkl_rt.so.3 --type f32", MATRICES),
    ("MKL_NUM_THREADS=1", "blas_matmul", "libmkl_rt.so.3 --type f64", SHAPES),
    ("BLIS_NUM_THREADS=1", "blas_matmul", "libblis.so.4 --type f32", SHAPES),
    ("BLIS_NUM_THREADS=2", "blas_matmul", "libblis.so.4 --type f32", MATRICES),
    ("BLIS_NUM_THREADS=1", "blas_matmul", "libblis.so.4 --type f64", SHAPES),
    ("", "onnxruntime_matmul", "--type f32", SHAPES),
    ("", "onnxruntime_matmul", "--threads 2 --type f32", MATRICES),
    ("", "onnxruntime_matmul", "--type u8s8", SHAPES),
    ("", "jax_matmul", "--type f32", SHAPES),
    ("", "torch_matmul", "--type f32", SHAPES + DEEP),
    ("", "torch_matmul", "--threads 2 --type f32", MATRICES),
    ("", "torch_matmul", "--type bf16", SHAPES),
    ("", "torch_matmul", "--threads 2 --type bf16", MATRICES),
    ("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16", "torch_matmul", "--type bf16", MATRICES),
    ("", "torch_matmul", "--type f16", SHAPES),
    ("", "torch_matmul", "--op _int_mm --type s8", MATRICES),
    ("", "ggml_matmul", "--type f32", SHAPES),
    ("", "ggml_matmul", "--type f16", SHAPES),
    ("", "ggml_matmul", "--type bf16", SHAPES),
    ("", "ggml_matmul", "--type q8_0", ["1x1x64", "8x8x1024", "64x64x64", "64x64x384", "64x64x4096"]),
    ("", "tinygrad_matmul", "--type f32", SHAPES),
    ("", "tinygrad_matmul", "--type f16", SHAPES),
    ("", "triton_matmul", "--type f16", ["8x8x100", "16x16x1000"]),
]
SLOW = {"triton_matmul": 100}  # by how much fewer elements are validated; single elements are calls of their own


def target(row, shape):
    m, n, k = shape.split("x")
    _, path = survey.target(("", row[1], "%s -k %s --size %sx%s" % (row[2], k, m, n))).split(":", 1)
    return "exec:" + ("env %s " % row[0] if row[0] else "") + path


def infer(o, row, shape):
    """The report of mmafuzz infer, or its error."""
    name = re.sub(r"[^\w.=-]+", "_", "_".join(row[:3] + (shape,))).strip("_")
    checks = o.checks // SLOW.get(row[1], 10 if shape.startswith("1x1x") else 1)
    out = os.path.join(o.out, "%s-%d" % (name, checks))
    if not os.path.exists(os.path.join(out, "report.json")):
        if o.measured:
            return {"error": "not in " + o.out}
        r = subprocess.run([o.mmafuzz, "infer", "--shape", shape, "--target", target(row, shape), "--json", "--checks", str(checks),
                            "--time", o.time, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if r.returncode > 1:
            lines = [x for x in r.stderr.splitlines() if x.startswith("mmafuzz: ")] or ["exit status %d" % r.returncode]
            return {"error": lines[0]}
    with open(os.path.join(out, "report.json")) as f:
        return json.load(f)


def unit(u):
    if "instruction" in u:  # or what computes as it does: integers, by any instruction
        return "exact sums of integers" if re.search("_i32_|_u32_|i8|s32", u["instruction"]) else "`%s`" % u["instruction"]
    return "%s %s" % (u.get("op", "model"), u.get("acc", "")) + (" of %s" % u["product"] if "product" in u else "") + (
        " by way of %s" % u["sum"] if "sum" in u else "") + (" from the second product" if u.get("start") == "second" else "") + (
        " without subnormal numbers" if "subnormals" in u else "") + "".join(
        ", %s cast to %s" % (x, " ".join(str(v) for v in u["cast_" + x.lower()].values() if v is not True)) for x in "AB" if "cast_" + x.lower() in u)


def level(x, K):
    """A level in short: lanes 8 (4-1-2), blocks 320 halve/8."""
    c, order, zero = x["cut"], x["merge"]["order"], "start" in x["merge"]
    if zero and c["by"] == "size" and c["n"] >= K:
        return "added to zero"
    text = "%s %d" % ({"size": "blocks of", "count": "blocks, in number"}.get(c["by"], c["by"]), c["n"])
    text += " of %d" % c["vector"] if "vector" in c else ""
    text += " %s" % c["rest"] if "rest" in c else ""
    text += "/%d" % c["grain"] if "grain" in c else ""
    text += "" if order == "forward" else " (%s)" % order
    text += " from zero" if zero else ""
    text += "".join(", %s %s" % (words, x["merge"][f]) for f, words in (("format", "sums in"), ("parts", "parts in"), ("store", "stored in")) if f in x["merge"])
    text += ", times %s" % x["merge"]["scale"] if "scale" in x["merge"] else ""
    text += ", fused" if "fused" in x["merge"] else ""
    text += ", the first %d before" % x["head"] if "head" in x else ""
    t = x.get("tail")
    if t:
        text += ", tail of %d %s" % (t["of"], t["into"]) + (" by %s" % unit(t["unit"]) if "unit" in t else "")
    return text


def schedules(r):
    """The schedules of a kernel, with how many elements have each."""
    k, all = r["kernel"], []
    for s, n in zip(k["schedules"], r["elements"]):
        words = [level(x, r["shape"]["K"]) for x in s.get("levels", [])] + [unit(s.get("unit", k.get("unit")))]
        all.append("; ".join(words) + (" (%d elements)" % n if len(r["elements"]) > 1 else ""))
    return "<br>".join(all)


def cells(row, shape, r):
    *some, kind = row[2].split()
    name, words = row[1].split("_")[0], [x for x in some if x != "--type"]
    if name == "blas":
        name = words.pop(0)
    path = " ".join([row[0]] * bool(row[0]) + words)
    head = ["`%s`" % name, "`%s`" % path if path else "", kind, shape]
    if "error" in r:
        return head + ["not had", r["error"], ""]
    if r["verdict"] != "found":
        w = r.get("witness")
        return head + [r["verdict"], "element (%d,%d) is %s, not %s" % (w["row"], w["column"], w["d"], w["model"]) if w and "model" in w else r["why"][:200], ""]
    return head + ["found", schedules(r), format(r["validated"], ",")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mmafuzz", default="mmafuzz")
    p.add_argument("--out", default="kernels")
    p.add_argument("--table", default="KERNELS.md")
    p.add_argument("--only", default="")
    p.add_argument("--time", default="5m", help="for a row")
    p.add_argument("--checks", type=int, default=CHECKS, help="elements on which a schedule is validated")
    p.add_argument("--measured", action="store_true", help="infer nothing: only the rows that are in --out")
    o = p.parse_args()
    for name in list(os.environ):
        if re.match("(OPENBLAS|MKL|ONEDNN|DNNL|ATEN|XLA)_", name):
            del os.environ[name]
    table, seen = [], {}
    for row in ROWS:
        for shape in row[3]:
            if not re.search(o.only, " ".join(row[:3] + (shape,))):
                continue
            r = infer(o, row, shape)
            table.append(cells(row, shape, r))
            print(" | ".join(table[-1]), flush=True)
            if "error" not in r:
                seen.setdefault(table[-1][0], [row[1]] + survey.versions(o, (row[0].split(" ")[0], row[1], row[2])))
    rows = len(table)
    table = [cs for cs in table if cs[4] != "not had" or not o.measured]
    with open(o.table, "w") as f:
        f.write(TEXT % survey.processor())
        if len(table) < rows:
            f.write("This page is not complete: %d rows of %d were measured. A row that is not here was not asked, or not to the end.\n\n" % (len(table), rows))
        for library, (child, *about) in seen.items():
            f.write("- %s, `%s.py`: %s\n" % (library, child, "; ".join(about)))
        f.write("\n| library | path | type | rows x columns x K | verdict | schedules | elements validated |\n|---|---|---|---|---|---|---|\n")
        for cs in table:
            f.write("| %s |\n" % " | ".join(c.replace("|", "\\|") for c in cs))


TEXT = """# In which order libraries sum

Made by `kernels.py`, which `.ci/nightly libraries` runs; do not edit. Each row is an
inference (`mmafuzz infer --shape`): the schedules of the elements of a product of matrices of
this shape, outermost level first, in the words of `go doc ./sim/schedule`; the result is equal
to the library's in every bit (NaNs by class) on so many elements of fresh matrices of the
kinds in `go doc ./triage/infer/kernel`. A path is variables of the environment and options of
the child. Another shape may have another schedule.

Processor: %s.

"""

if __name__ == "__main__":
    main()
