"""The pytest plugin: options for mmafuzz.testing."""


def pytest_addoption(parser):
    parser.getgroup("mmafuzz").addoption(
        "--mmafuzz-count", type=int, metavar="N", help="dot products that assert_same_bits compares, unless a test says how many (default 10000)")


def pytest_configure(config):
    if n := config.getoption("--mmafuzz-count"):
        from . import testing

        testing.COUNT = n
