"""Builds the wheel (PEP 517) of this folder and of the Go package in it, with Python's standard
library alone. It needs Go and a C compiler. GOOS, GOARCH and CC choose another system; then
MMAFUZZ_PLATFORM is the wheel's platform tag. With a C compiler for all of them, Zig's (pip install
ziglang), this makes the wheels for other machines:

    python3 cmd/python/backend.py DIRECTORY manylinux2014_x86_64 manylinux2014_aarch64 win_amd64 macosx_12_0_x86_64 macosx_12_0_arm64
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = (HERE / "pyproject.toml").read_text()
VERSION = re.search(r'^version = "(.*)"', PROJECT, re.M)[1]
DESCRIPTION = re.search(r'^description = "(.*)"', PROJECT, re.M)[1]
DEPENDENCIES = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]", PROJECT, re.M)[1])
NAME = f"mmafuzz-{VERSION}"

METADATA = "\n".join(
    ["Metadata-Version: 2.1", "Name: mmafuzz", f"Version: {VERSION}", f"Summary: {DESCRIPTION}",
     "License: Apache-2.0", "Requires-Python: >=3.10"]
    + [f"Requires-Dist: {d}" for d in DEPENDENCIES]
    + ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
)


# Systems by their platform tags: Go's names and Zig's, which has the C library's version.
SYSTEMS = {
    "manylinux2014_x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17"),
    "manylinux2014_aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17"),
    "win_amd64": ("windows", "amd64", "x86_64-windows-gnu"),
    "macosx_12_0_x86_64": ("darwin", "amd64", "x86_64-macos.12.0"),
    "macosx_12_0_arm64": ("darwin", "arm64", "aarch64-macos.12.0"),
}

# Go links against two libraries of macOS that Zig does not have, and of which nothing is used here:
# these say where they are.
LIBRARIES = {
    "CoreFoundation.framework/CoreFoundation.tbd": "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
    "libresolv.tbd": "/usr/lib/libresolv.9.dylib",
}


def platform():
    """The tag of the system that the library is for."""
    return os.environ.get("MMAFUZZ_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())


def library(to):
    """Builds the shared library and returns its file name."""
    system = os.environ.get("GOOS") or subprocess.check_output(["go", "env", "GOOS"], text=True).strip()
    name = {"windows": "mmafuzz.dll", "darwin": "libmmafuzz.dylib"}.get(system, "libmmafuzz.so")
    subprocess.run(
        ["go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", str(to / name), "."],
        cwd=HERE, check=True, env={**os.environ, "CGO_ENABLED": "1"},
    )
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = f"py3-none-{platform()}"
    info = f"{NAME}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        name = library(scratch)
        files = {p.relative_to(HERE).as_posix(): p.read_bytes() for p in sorted((HERE / "mmafuzz").rglob("*.py"))}
        files[f"mmafuzz/{name}"] = (scratch / name).read_bytes()
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: mmafuzz\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[pytest11]\nmmafuzz = mmafuzz._pytest\n"
    files[f"{info}/licenses/LICENSE"] = (HERE.parent.parent / "LICENSE").read_bytes()
    record = ""
    for path, body in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(body)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as z:
        for path, body in files.items():
            z.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), body, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the sources are those of the Go module: pip install ./cmd/python of a checkout")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as libraries:
        for file, name in LIBRARIES.items():
            path = pathlib.Path(libraries, file)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\ninstall-name: '{name}'\n...\n")
        for tag in sys.argv[2:]:
            if tag not in SYSTEMS:
                sys.exit(f"no wheel for {tag}: one of {', '.join(SYSTEMS)}")
            system, processor, target = SYSTEMS[tag]
            os.environ |= {"MMAFUZZ_PLATFORM": tag, "GOOS": system, "GOARCH": processor, "CC": f"{sys.executable} -m ziglang cc -target {target}"}
            os.environ["CGO_LDFLAGS"] = f"-L{libraries} -F{libraries}" if system == "darwin" else ""
            print(build_wheel(sys.argv[1]))
