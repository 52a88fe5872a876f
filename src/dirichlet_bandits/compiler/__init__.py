"""The only access to Numba: decorators, calls by address, and compiled code kept on disk.

Numba is used through its public interface, and nothing in it is ever replaced. These parts have no public equivalent:

* a dispatcher's ``_cache``, set to our own cache (``cache.py``), which lets ``FunctionCache`` choose the folder and
  read and write a ``CompileResult``;
* the address of a compiled function (``library.get_pointer_to_function`` and its name in ``fndesc``), the calling
  convention (``context.call_conv``), and ``library._reload_init``, which Numba calls before it loads a function from a
  cache (``calls.py``);
* the ``entry_point`` of a compiled function and the types of its arguments, ``typeof_pyval``, for calls that skip the
  search for these types (``decorators.direct``);
* the fields of a random generator (``generators.py``);
* ``codegen.magic_tuple``, which identifies processors, and the events of ``numba.core.event`` (``announcements.py``).

``internals.supported`` checks on first use that these parts exist. With a version of Numba that lacks them, everything
is compiled by plain ``njit(cache=True)``, which takes longer, and one log record reports it.
"""

from dirichlet_bandits.compiler.announcements import compiling, stop_spinner
from dirichlet_bandits.compiler.cache import NotCached, only_cached
from dirichlet_bandits.compiler.calls import Shared, address_of, by_address, shared
from dirichlet_bandits.compiler.decorators import (
    INNER_OPTIONS,
    Direct,
    direct,
    entry_point,
    jit,
    jit_inline,
    jit_sum,
    named_entry_point,
)
from dirichlet_bandits.compiler.generators import borrowed_generator, lent
from dirichlet_bandits.compiler.internals import supported

# fmt: off
__all__ = [
    "INNER_OPTIONS", "Direct", "NotCached", "Shared", "address_of", "borrowed_generator", "by_address", "compiling",
    "direct", "entry_point", "jit", "jit_inline", "jit_sum", "lent", "named_entry_point", "only_cached", "shared",
    "stop_spinner", "supported",
]
