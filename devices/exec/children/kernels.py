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

# Variables, child, options and shapes.
ROWS = [(v, child, options, shapes) for v, child, options, shapes in [
    ("OPENBLAS_NUM_THREADS=1", "numpy_matmul", "--type f32", SHAPES),
    ("OPENBLAS_NUM_THREADS=2", "numpy_matmul", "--type f32", MATRICES),
    ("OPENBLAS_NUM_THREADS=1", "numpy_matmul", "--type f64", SHAPES),
    ("OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32", SHAPES),
    ("OPENBLAS_NUM_THREADS=2 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f32", MATRICES),
    ("OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell", "numpy_matmul", "--type f64", SHAPES),
    ("", "onnxruntime_matmul", "--type f32", SHAPES),
    ("", "jax_matmul", "--type f32", SHAPES),
    ("", "torch_matmul", "--type f32", SHAPES),
]]


def target(row, shape):
    m, n, k = shape.split("x")
    _, path = survey.target(("", row[1], "%s -k %s --size %sx%s" % (row[2], k, m, n))).split(":", 1)
    return "exec:" + ("env %s " % row[0] if row[0] else "") + path


def infer(o, row, shape):
    """The report of mmafuzz infer, or its error."""
    name = re.sub(r"[^\w.=-]+", "_", "_".join(row[:3] + (shape,))).strip("_")
    checks = CHECKS // 10 if shape.startswith("1x1x") and len(shape) > 6 else CHECKS  # each is a call of its own
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
    return "%s %s" % (u.get("op", "model"), u.get("acc", "")) + (" of %s" % u["product"] if "product" in u else "") + (" without subnormal numbers" if "subnormals" in u else "")


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
    head = ["`%s`" % row[1].split("_")[0], "`%s`" % row[0] if row[0] else "", row[2].split()[-1], shape]
    if "error" in r:
        return head + ["not had", r["error"], ""]
    if r["verdict"] != "found":
        w = r.get("witness")
        return head + [r["verdict"], "element (%d,%d) is %s, not %s" % (w["row"], w["column"], w["d"], w["model"]) if w else r["why"][:200], ""]
    return head + ["found", schedules(r), format(r["validated"], ",")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mmafuzz", default="mmafuzz")
    p.add_argument("--out", default="kernels")
    p.add_argument("--table", default="KERNELS.md")
    p.add_argument("--only", default="")
    p.add_argument("--time", default="5m", help="for a row")
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
                seen.setdefault(row[1], survey.versions(o, (row[0].split(" ")[0], row[1], row[2])))
    table = [cs for cs in table if cs[4] != "not had" or not o.measured]
    with open(o.table, "w") as f:
        f.write(TEXT % survey.processor())
        for child, about in seen.items():
            f.write("- `%s.py`: %s\n" % (child, "; ".join(about)))
        f.write("\n| library | path | type | rows x columns x K | verdict | schedules | elements validated |\n|---|---|---|---|---|---|---|\n")
        for cs in table:
            f.write("| %s |\n" % " | ".join(c.replace("|", "\\|") for c in cs))


TEXT = """# In which order libraries sum

Made by `kernels.py`, which `.ci/nightly libraries` runs; do not edit. Each row is an
inference (`mmafuzz infer --shape`): the schedules of the elements of a product of matrices of
this shape, outermost level first, in the words of `go doc ./sim/schedule`; the result is equal
to the library's in every bit (NaNs by class) on so many elements of fresh matrices of the
kinds in `go doc ./triage/infer/kernel`. A path is variables of the environment. Another shape
may have another schedule.

Processor: %s.

"""

if __name__ == "__main__":
    main()
