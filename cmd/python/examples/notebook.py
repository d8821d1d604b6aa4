"""Makes examples.ipynb of the scripts beside it, with what they print here."""

import ast
import contextlib
import io
import json
import pathlib

HERE = pathlib.Path(__file__).parent
SCRIPTS = ("fp8_linear.py", "promotes.py", "sgemm.py")


def sources():
    """The cells: of each script its docstring as text, and its code."""
    for name in SCRIPTS:
        text = (HERE / name).read_text()
        doc = ast.parse(text).body[0]
        title, _, rest = ast.literal_eval(doc.value).strip().partition("\n\n")
        yield "markdown", f"## {' '.join(title.split())}\n\n{rest}".strip()
        yield "code", "".join(text.splitlines(keepends=True)[doc.end_lineno:]).strip()


def cell(kind, source):
    out = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(source, {"__name__": "__main__"})
        stream = {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        out |= {"execution_count": None, "outputs": [stream]}
    return out


if __name__ == "__main__":
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [cell(kind, source) for kind, source in sources()]
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    (HERE / "examples.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
