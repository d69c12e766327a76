"""Strict stand-ins of model services, each made of a description of its published reference.

`async with serve(PROVIDERS["mistral"], answer) as service` gives an address, a key and a model for any client of the
OpenAI protocol, and remembers what it was asked and what it refused. Only whole replies: `stream` is refused.
"""

from tests.support.providers.descriptions import PROVIDERS as PROVIDERS
from tests.support.providers.descriptions import Provider as Provider
from tests.support.providers.faults import Failing as Failing
from tests.support.providers.faults import Finish as Finish
from tests.support.providers.faults import RateLimited as RateLimited
from tests.support.providers.faults import Reply as Reply
from tests.support.providers.faults import Trouble as Trouble
from tests.support.providers.server import Service as Service
from tests.support.providers.server import serve as serve
