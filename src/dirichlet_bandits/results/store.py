"""Results on disk: a zarr folder that says whose it is."""

import shutil
from os import PathLike
from pathlib import Path

import xarray as xr

from dirichlet_bandits.errors import FormatError

FORMAT = "dirichlet-bandits result 1"
_VARIABLES = {"regret", "pulls", "reward", "mean"}


def save(data: xr.Dataset, path: str | PathLike[str]) -> None:
    """Write beside the target first, so that nothing is lost if this fails half-way."""
    target = Path(path)
    if target.exists():
        load(target)  # refuses to replace what is not ours
    draft = target.with_name(f".{target.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    data.to_zarr(draft, mode="w", consolidated=False)
    if target.exists():
        shutil.rmtree(target)
    draft.rename(target)


def load(path: str | PathLike[str]) -> xr.Dataset:
    """Read and check a folder that :func:`save` wrote."""
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"no result at {str(path)!r}")
    try:
        data = xr.open_zarr(target, consolidated=False, chunks=None).load()
    except Exception as error:
        raise FormatError(f"{str(path)!r} is not a readable zarr folder: {error}") from error
    if data.attrs.get("format") != FORMAT or not set(data.data_vars) >= _VARIABLES:
        raise FormatError(f"{str(path)!r} is not a result of dirichlet-bandits (expected format {FORMAT!r})")
    return data
