"""What SQLite does to its files: each write, truncation, sync, creation and deletion, in order.

SQLite reaches its files through a VFS, a table of functions. We register a copy of the default one whose functions note
what they did, in the very library that the module ``sqlite3`` uses. Everything else is SQLite's own code.
"""

import _sqlite3
import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import NamedTuple

import pytest

FULL_SYNC = 3  # SQLITE_SYNC_FULL: also empties the cache of the drive, where the system makes a difference (macOS)
_KIND_OF_SYNC = 0x0F


class Write(NamedTuple):
    """Bytes written to a file."""

    file: int
    offset: int
    data: bytes


class Truncate(NamedTuple):
    """A file cut off, or extended by zeros."""

    file: int
    size: int


class Sync(NamedTuple):
    """A file synced, with what happened before the step with this number; in full or not."""

    file: int
    before: int
    full: bool


class Link(NamedTuple):
    """A name that leads to another file from now on, or to none."""

    name: str
    file: int | None


class SyncFolder(NamedTuple):
    """The folder synced, with what happened before the step with this number."""

    before: int


class Told(NamedTuple):
    """Something that a caller was told is done."""

    what: object


Step = Write | Truncate | Sync | Link | SyncFolder | Told

# The path of _OPEN is no c_char_p, which would be a copy: SQLite keeps the pointer, and names other files after it.
_OPEN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
_DELETE = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
_WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)
_SYNC = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)
_CLOSE = ctypes.CFUNCTYPE(c_int, c_void_p)
_FOLDER = ctypes.CFUNCTYPE(c_int, c_char_p, POINTER(c_int))
_SET_CALL = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p)
_GET_CALL = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_char_p)


class _VFS(ctypes.Structure):
    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", _OPEN),
        ("delete", _DELETE),
        *((name, c_void_p) for name in ("access", "full_path", "dl_open", "dl_error", "dl_sym", "dl_close")),
        *((name, c_void_p) for name in ("randomness", "sleep", "time", "last_error", "time_int64")),
        ("set_call", _SET_CALL),
        ("get_call", _GET_CALL),
        ("next_call", c_void_p),
    )


class _Methods(ctypes.Structure):
    _fields_ = (
        ("version", c_int),
        ("close", _CLOSE),
        ("read", c_void_p),
        ("write", _WRITE),
        ("truncate", _TRUNCATE),
        ("sync", _SYNC),
        *((name, c_void_p) for name in ("size", "lock", "unlock", "check_lock", "control", "sector", "device")),
        *((name, c_void_p) for name in ("shm_map", "shm_lock", "shm_barrier", "shm_unmap", "fetch", "unfetch")),
    )


class _Recorder:
    """Made once for the process; SQLite has pointers to it only while something is recorded."""

    def __init__(self) -> None:
        self._library = _library()
        self._original = self._library.sqlite3_vfs_find(None)
        if self._original.contents.version < 3 or not self._original.contents.set_call:
            pytest.skip("the VFS of this SQLite has no system calls to record (it is not that of Unix)")
        self._lock = threading.Lock()
        self._folder: str | None = None
        self._open_files: dict[int, tuple[int, int]] = {}  # by handle: the file, and the address of SQLite's functions
        self._methods: dict[int, _Methods] = {}  # ours, by the address of SQLite's own
        self.steps: list[Step] = []
        self._vfs = _VFS.from_buffer_copy(self._original.contents)
        self._vfs.name, self._vfs.next = b"recorded", None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._vfs))  # a connection left open uses it at the very end
        self._functions = _OPEN(self._open), _DELETE(self._delete)
        self._open_folder = _FOLDER(self._synced_folder)
        call = self._vfs.get_call(ctypes.addressof(self._vfs), b"openDirectory")
        self._really_open_folder = _FOLDER(call)

    @contextmanager
    def recording(self, folder: Path) -> Iterator[list[Step]]:
        """Record what connections opened from now on do in this folder, whose files are synced before."""
        self._folder, self.steps = str(folder), []
        self._names: dict[str, int] = {}
        for path in folder.iterdir():
            file = self._link(path.name)
            self.steps += [Write(file, 0, path.read_bytes()), Sync(file, len(self.steps) + 1, True)]
        self.steps.append(SyncFolder(len(self.steps)))
        original = ctypes.addressof(self._original.contents)
        self._vfs.open, self._vfs.delete = self._functions
        self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)
        call = ctypes.cast(self._open_folder, c_void_p)
        self._original.contents.set_call(original, b"openDirectory", call)
        try:
            yield self.steps
        finally:
            self._library.sqlite3_vfs_register(self._original, 1)
            self._original.contents.set_call(original, b"openDirectory", None)
            self._folder = None
            self._vfs.open, self._vfs.delete = self._original.contents.open, self._original.contents.delete
            for file, (_, methods) in self._open_files.items():
                c_void_p.from_address(file).value = methods
            self._open_files.clear()

    def _open(self, vfs: int, path_at: int | None, file: int, flags: int, flags_out: object) -> int:
        with self._lock:
            path = None if path_at is None else ctypes.string_at(path_at)
            name = self._name(path)
            existed = name is not None and os.path.exists(os.fsdecode(path or b""))
            code = int(self._original.contents.open(vfs, path_at, file, flags, flags_out))
            if code == 0 and name is not None:
                if not existed:
                    self._link(name)
                methods = c_void_p.from_address(file)  # the first field of SQLite's handle
                self._open_files[file] = self._names[name], methods.value
                methods.value = ctypes.addressof(self._recorded(methods.value))
            return code

    def _link(self, name: str) -> int:
        """Note that there is a new file of this name, and return its number."""
        file = self._names[name] = sum(isinstance(step, Link) for step in self.steps)
        self.steps.append(Link(name, file))
        return file

    def _delete(self, vfs: int, path: bytes, sync_folder: int) -> int:
        name = self._name(path)
        known = name is not None and os.path.exists(os.fsdecode(path))
        if known:
            self.steps.append(Link(str(name), None))  # before the folder is synced
        return int(self._original.contents.delete(vfs, path, sync_folder))

    def _synced_folder(self, path: bytes, descriptor: object) -> int:
        """SQLite opens a folder only in order to sync it."""
        if self._name(path) is not None:
            self.steps.append(SyncFolder(len(self.steps)))
        return int(self._really_open_folder(path, descriptor))

    def _name(self, path: bytes | None) -> str | None:
        if path is None or self._folder is None:
            return None
        folder, name = os.path.split(os.fsdecode(path))
        return name if folder == self._folder else None

    def _recorded(self, address: int) -> _Methods:
        """SQLite's own functions for a file, those that change it exchanged for ours."""
        if address not in self._methods:
            own = _Methods.from_address(address)
            ours = _Methods.from_buffer_copy(own)

            def write(file: int, data: int, size: int, offset: int) -> int:
                code = int(own.write(file, data, size, offset))
                self._note(code, file, lambda known: Write(known, offset, ctypes.string_at(data, size)))
                return code

            def truncate(file: int, size: int) -> int:
                code = int(own.truncate(file, size))
                self._note(code, file, lambda known: Truncate(known, size))
                return code

            def sync(file: int, flags: int) -> int:
                before = len(self.steps)
                code = int(own.sync(file, flags))
                self._note(code, file, lambda known: Sync(known, before, flags & _KIND_OF_SYNC == FULL_SYNC))
                return code

            def close(file: int) -> int:
                self._open_files.pop(file, None)
                return int(own.close(file))

            ours.write, ours.truncate, ours.sync = _WRITE(write), _TRUNCATE(truncate), _SYNC(sync)
            ours.close = _CLOSE(close)
            self._methods[address] = ours
        return self._methods[address]

    def _note(self, code, file, step) -> None:
        if code == 0:
            self.steps.append(step(self._open_files[file][0]))


def _library() -> ctypes.CDLL:
    """The SQLite that Python's own module is linked to."""
    path = getattr(_sqlite3, "__file__", None)  # None if it is built into the interpreter
    library = ctypes.CDLL(path)
    try:
        library.sqlite3_vfs_find.restype = POINTER(_VFS)
        library.sqlite3_vfs_register.argtypes = [c_void_p, c_int]
    except AttributeError:
        pytest.skip("this Python does not show the functions of its SQLite, so nothing can be recorded")
    return library


_RECORDERS: list[_Recorder] = []


def recording(folder: Path):
    """Record what SQLite does in a folder; a context manager that yields the growing list of steps."""
    if not _RECORDERS:
        _RECORDERS.append(_Recorder())
    return _RECORDERS[0].recording(folder)
