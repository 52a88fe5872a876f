"""The one way to Numba: decorators, calls by address, and compiled code kept on disk.

Numba is used through its public interface, and nothing in it is ever replaced. What has no public equivalent is used in
two modules, ``cache.py`` and ``calls.py``:

* a dispatcher's ``_cache``, set to a cache of our own that calls ``FunctionCache`` for the folder and for reading and
  writing a ``CompileResult``;
* the address of a compiled function (``library.get_pointer_to_function`` and its name in ``fndesc``), and
  ``library._reload_init``, the calls that Numba makes before it loads a function from the cache.

``internals.supported`` checks on first use that they are there. With a version of Numba that lacks them everything is
compiled by plain ``njit(cache=True)``, which takes longer, and one log record says so.
"""

from dirichlet_bandits.compiler.announcements import compiling, stop_spinner
from dirichlet_bandits.compiler.cache import NotCached, only_cached
from dirichlet_bandits.compiler.calls import Shared, address_of, addressable, by_address, shared
from dirichlet_bandits.compiler.decorators import (
    INNER_OPTIONS,
    entry_point,
    interpreted,
    jit,
    jit_inline,
    jit_sum,
    named_entry_point,
)
from dirichlet_bandits.compiler.internals import supported
from dirichlet_bandits.compiler.sources import source_stamp

__all__ = [
    "INNER_OPTIONS",
    "NotCached",
    "Shared",
    "address_of",
    "addressable",
    "by_address",
    "compiling",
    "entry_point",
    "interpreted",
    "jit",
    "jit_inline",
    "jit_sum",
    "named_entry_point",
    "only_cached",
    "shared",
    "source_stamp",
    "stop_spinner",
    "supported",
]
