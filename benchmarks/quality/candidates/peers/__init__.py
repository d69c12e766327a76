"""Other ways from a question to SQL, each used as its documentation first shows, on the same model and databases.

Importing this package imports none of them: they come with the extra `bench-peers`.
"""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.quality.candidates.peers import langchain, vanna
from benchmarks.quality.candidates.peers.peer import Peer

PEERS = ("vanna", "langchain")

_NEEDED = {"vanna": ("vanna", "faiss"), "langchain": ("langchain_classic", "langchain_openai")}


def installed(url: str, model: str) -> tuple[Peer, ...]:
    """The peers whose packages are there. `url`: of an OpenAI-compatible server."""
    known = (
        Peer("vanna", "vanna", vanna.make, url, model),
        Peer("langchain", "langchain-classic", langchain.make, url, model),
    )
    return tuple(peer for peer in known if all(find_spec(package) for package in _NEEDED[peer.name]))
