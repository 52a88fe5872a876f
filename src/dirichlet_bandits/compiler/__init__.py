"""The only access to Numba: decorators, calls by address, compiled code kept on disk, and protection from interrupts.

No other package imports ``numba`` or ``llvmlite``. Numba is used through its public interface, and nothing in it is
ever replaced. These parts have no public equivalent:

* a dispatcher's ``_cache``, set to our own cache (``cache.py``), which lets ``FunctionCache`` choose the folder and
  read and write a ``CompileResult``;
* the address of a compiled function (``library.get_pointer_to_function`` and its name in ``fndesc``), the calling
  convention (``context.call_conv``), and ``library._reload_init``, which Numba calls before it loads a function from a
  cache (``calls.py``);
* the ``entry_point`` of a compiled function and the types of its arguments, ``typeof_pyval``, for calls that skip the
  search for these types (``decorators.Direct``);
* the fields of an array and of a random generator, whose owner (``meminfo``) is cleared so that references to them are
  not counted (``borrowed.py``);
* ``codegen.magic_tuple``, which identifies processors, and the events of ``numba.core.event`` (``announcements.py``).

``internals.py`` checks on first use that these parts exist. A version of Numba that lacks one is refused with an error
that names it.
"""

from numba import types
from numba.extending import overload

from dirichlet_bandits.compiler.announcements import compiling, stop_spinner
from dirichlet_bandits.compiler.borrowed import borrowed, lent, lent_generator
from dirichlet_bandits.compiler.cache import NotCached, only_cached
from dirichlet_bandits.compiler.calls import Shared, address_of, by_address, shared
from dirichlet_bandits.compiler.decorators import (
    INNER_OPTIONS,
    Direct,
    entry_point,
    jit,
    jit_inline,
    jit_sum,
    named_entry_point,
)
from dirichlet_bandits.compiler.interrupts import shielded

# fmt: off
__all__ = [
    "INNER_OPTIONS", "Direct", "NotCached", "Shared", "address_of", "borrowed", "by_address", "compiling",
    "entry_point", "jit", "jit_inline", "jit_sum", "lent", "lent_generator", "named_entry_point",
    "only_cached", "overload", "shared", "shielded", "stop_spinner", "types",
]
