"""Check of the DBA's page: its address and certificate."""

from __future__ import annotations

from page.settings import PageConfigError, address, tls_context
from pgparley.check.finding import Finding, ok, problem
from pgparley.config import Config


def check_page(config: Config) -> Finding:
    """Whether it can be served as configured."""
    try:
        where = address(config.page)
        tls_context(config.page)
    except PageConfigError as error:
        return problem("page", str(error), error.hint)
    return ok("page", f"will listen at {'https' if where.https else 'http'}://{config.page.listen}")
