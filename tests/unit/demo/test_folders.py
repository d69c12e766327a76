"""Each demo has a folder of its own as long as it runs, its kept gateway included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pgparley.demo.run import take_folder


def test_no_two_demos_have_one_folder(tmp_path: Path) -> None:
    first, taken = take_folder(tmp_path)
    second, also = take_folder(tmp_path)
    assert (first.name, second.name) == ("demo", "demo-2")
    assert first.stat().st_mode & 0o777 == 0o700
    kept = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(taken,))
    os.close(taken)
    os.close(also)
    third, also = take_folder(tmp_path)
    assert third == second, "what is kept holds the first one"
    kept.communicate(b"\n")
    os.close(also)
    again, taken = take_folder(tmp_path)
    assert again == first
    os.close(taken)
