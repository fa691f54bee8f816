"""Tables as data frames of pandas, which is optional."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightlag.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["to_pandas"]


def to_pandas(table: pl.DataFrame) -> pd.DataFrame:
    """Returns a table as a data frame of pandas; columns of repeated strings become categories.

    Raises
    ------
    InputError
        If pandas or pyarrow is missing.
    """
    try:
        import pandas as pd
        import pyarrow
    except ImportError as error:
        raise InputError(f'to_pandas needs pandas and pyarrow ({error}); pip install "lightlag[pandas]"') from None
    assert pd, pyarrow
    return table.to_pandas()
