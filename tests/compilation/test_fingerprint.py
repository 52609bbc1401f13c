"""Digests of kernels: what they notice, and what they leave alone."""

import os
import subprocess
import sys

from twinwl.compilation import fingerprint

CALLEE = (
    "from twinwl.compilation import kernel\nSTEP = {step}\n@kernel\ndef inner(x):\n    return x + {more}\n"
)
CALLER = (
    "from {callee} import STEP, inner\nfrom twinwl.compilation import kernel\n"
    "@kernel\ndef outer(x):\n    return inner(x) * STEP\n"
)


def digest_of_caller(folder, step, more):
    """Return the digest of a kernel whose callee and constant lie in another file, in a fresh process."""
    (folder / "callee.py").write_text(CALLEE.format(step=step, more=more))
    (folder / "caller.py").write_text(CALLER.format(callee="callee"))
    code = (
        "from caller import outer\nfrom twinwl.compilation import fingerprint\n"
        "print(fingerprint(outer.py_func))"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file changed twice within a second must be read again
    }
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_a_changed_callee_or_constant_in_another_file_is_noticed(tmp_path):
    first = digest_of_caller(tmp_path, step=2, more=1)
    assert digest_of_caller(tmp_path, step=2, more=1) == first
    assert digest_of_caller(tmp_path, step=3, more=1) != first
    assert digest_of_caller(tmp_path, step=2, more=4) != first


def test_constants_count_by_type_as_well_as_value():
    digests = set()
    for constant in (1, 1.0, True, "1", (1,), frozenset({1})):
        body = {}
        exec("def read(x):\n    return C", {"C": constant}, body)  # noqa: S102
        digests.add(fingerprint(body["read"]))
    assert len(digests) == 6


def test_what_a_kernel_never_reads_changes_nothing():
    digests = set()
    for unused in (1, 2):
        body = {}
        exec("def read(x):\n    return x", {"C": unused}, body)  # noqa: S102
        digests.add(fingerprint(body["read"]))
    assert len(digests) == 1


def test_closures_and_nested_functions_count():
    def made(step):
        def add(x):
            return [x + step for _ in range(2)]

        return add

    assert fingerprint(made(1)) == fingerprint(made(1))
    assert fingerprint(made(1)) != fingerprint(made(2))
