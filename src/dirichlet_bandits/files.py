"""Write files and folders so that other processes see either the old version or the complete new one."""

import ctypes
import errno
import glob
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FORMULA: Final = re.compile(r"(^|[\t\r\n])(?=[\t\r\n]|\s*[=+\-@＝＋－＠'])")  # noqa: RUF001
_HERE: Final = -100  # AT_FDCWD: relative paths start at the current folder
_EXCHANGE: Final = 2  # RENAME_EXCHANGE


def plain_text(text: str) -> str:
    """Return the text with a leading quote if a spreadsheet would take it for a formula, or if it begins with a quote.

    The same applies after a tab or an end of line, where a spreadsheet may begin another cell, and to the full-width
    signs of Chinese and Japanese keyboards.

    >>> [plain_text(text) for text in ("=1+1", "-5 days", "'n", "26 Feb", "\\t=1+1", "＝1+1", "a=1\\n@b")]
    ["'=1+1", "'-5 days", "''n", '26 Feb', "'\\t'=1+1", "'＝1+1", "a=1\\n'@b"]
    """
    return _FORMULA.sub(r"\1'", text)


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Yield a private path to write to; at the end, the file written there replaces the target atomically.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "log.csv") as draft:
    ...         _ = draft.write_text("trial,arm")
    ...     os.listdir(folder)
    ['log.csv']
    """
    draft = beside(target, "part")
    try:
        yield draft
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a private path for a folder; the target stays as it is until the new folder is complete."""
    draft = beside(target, "part")
    try:
        yield draft
        _put(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Lock a file while you read and replace it, and keep its new name for good; on Windows, this does nothing."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)  # the file itself is replaced by each change
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
        os.fsync(folder)
    finally:
        os.close(folder)


def beside(target: Path, kind: str) -> Path:
    """Return a hidden, unique name next to the target."""
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.{kind}")


def set_aside(target: Path) -> list[Path]:
    """Return the folders that a killed :func:`whole_folder` had moved aside."""
    return sorted(target.parent.glob(f".{glob.escape(target.name)}.*.old"))


def _put(draft: Path, target: Path) -> None:
    aside = []
    while True:  # a third attempt only if another process was faster
        try:
            draft.rename(target)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if exchange(draft, target):
            break
        aside.append(beside(target, "old"))  # a process killed now leaves both, under hidden names
        with suppress(FileNotFoundError):
            target.rename(aside[-1])
    for old in aside:
        shutil.rmtree(old, ignore_errors=True)


def exchange(first: Path, second: Path) -> bool:
    """Swap two folders atomically; return False where the system cannot (outside Linux, and on some network disks)."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EXDEV):
        return False
    raise OSError(code, os.strerror(code), str(first), None, str(second))
