"""The hot scans: compiled where the extension was built, else in Python. Same answers, see the property tests."""

from __future__ import annotations

from proxy.protocol import framing, scan

try:
    from proxy.protocol import _scan
except ImportError:  # no compiler where the package was built
    hop, frontend, backend = framing.hop, scan.frontend, scan.backend
    COMPILED = False
else:
    _scanner = _scan.Scanner(scan.NO_TEXT, scan.TO_SYNC, scan.BACKEND_PLAIN)
    hop, frontend, backend = _scan.hop, _scanner.frontend, _scanner.backend
    COMPILED = True

__all__ = ["COMPILED", "backend", "frontend", "hop"]
