"""The compiled relay of plain chunks between pairs of sockets, on a thread of its own."""

from array import array
from typing import Protocol, TypeAlias, final

_Account: TypeAlias = tuple[int, int, int, bytes, int, int, int]

class RelayOwner(Protocol):
    """Has handed two sockets over. Of the stub alone: for annotations."""

    def flow_ended(self) -> None:
        """The relay has met a chunk that it does not relay, or an end: the owner takes the sockets back."""

@final
class Flow:
    """A client's and a server's socket."""

    def account(self) -> _Account:
        """What was relayed since the last account.

        (ReadyForQuery seen, those outside of a transaction, the last one's status, kinds of the boundaries not
        answered yet, bytes of the server's last message still to come, bytes from the client, from the server).
        """

    def take(self) -> tuple[_Account, bytes, bytes, bytes, int, bytes | None]:
        """Takes the sockets back, once; the owner need not have been named by `Pump.ended` before.

        Returns (account, bytes not yet written to the client, to the server, the start of a message of the
        server's that is not forwarded yet, the side whose chunk ended it: 0 the client, 1 the server, -1 neither,
        that chunk).
        """

@final
class Pump:
    """The flows of one event loop. The tables are `scan.Scanner`'s."""

    def __init__(self, no_text: array[int], to_sync: array[int], backend: array[int], /) -> None: ...
    def attach(self, owner: RelayOwner, client: int, server: int, rest: int, owed: bytes, /) -> Flow:
        """Relays between two sockets, by their descriptors, which only it reads and writes until `Flow.take`.

        The client's next byte begins a message; `rest` bytes of the server's last are still to come, and `owed` are
        the kinds of the boundaries that it has not answered, 32 at most. Keeps `owner` until then.

        Raises:
            OSError: The kernel cannot watch them.
        """

    def ended(self) -> list[RelayOwner]:
        """The owners of the flows that ended since the last call; each has to `take` its own."""

    def fileno(self) -> int:
        """A descriptor that is readable when flows have ended."""

    def stop(self) -> None:
        """Ends the thread: flows stand still until they are taken back."""
