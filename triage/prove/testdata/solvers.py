"""What two SMT solvers say of questions that mmafuzz prove --smtlib has written.

    python3 solvers.py SECONDS FILE=ANSWER...

ANSWER is sat or unsat. Fails if a solver gives another answer, or if none answers a question
within the time.
"""
import subprocess
import sys

Z3 = """
import sys, z3
s = z3.Solver()
s.from_file(sys.argv[1])
print(s.check())
"""
BITWUZLA = """
import sys, bitwuzla
parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
parser.parse(sys.argv[1])  # prints the answer to its (check-sat)
"""


def ask(solver, file, seconds):
    try:
        done = subprocess.run([sys.executable, "-c", solver, file], capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired:
        return "no answer"
    return done.stdout.strip()


def main():
    seconds, failed = float(sys.argv[1]), False
    for question in sys.argv[2:]:
        file, want = question.rsplit("=", 1)
        got = {name: ask(solver, file, seconds) for name, solver in (("z3", Z3), ("bitwuzla", BITWUZLA))}
        print(file, "want", want, got, flush=True)
        failed |= not set(got.values()) <= {want, "no answer"} or want not in got.values()
    sys.exit(failed)


main()
