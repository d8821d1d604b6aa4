"""The examples run, and the notebook is made from them as they are."""

import json
import pathlib
import subprocess
import sys
import unittest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
sys.path.append(str(EXAMPLES))

import notebook  # noqa: E402


class Examples(unittest.TestCase):
    def test_scripts(self):
        for name, words in {
            "fp8_linear.py": ["H100     MI300      B200", "  8192  ", "FP32 sums of every 128 products"],
            "promotes.py": ["fraction bits that are left of c: 7", "findings[0]: operand-rounding: operands rounded", "  c  3f808000  (1.0039062)"],
            "sgemm.py": ["p0", "ref:fma32"],
        }.items():
            with self.subTest(name):
                done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=300)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                for w in words:
                    self.assertIn(w, done.stdout)

    def test_notebook(self):
        cells = json.loads((EXAMPLES / "examples.ipynb").read_text())["cells"]
        self.assertEqual([(c["cell_type"], "".join(c["source"])) for c in cells], list(notebook.sources()),
                         "python3 cmd/python/examples/notebook.py makes it anew")


if __name__ == "__main__":
    unittest.main()
