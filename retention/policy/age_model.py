"""Where a row's time stands, as a policy says it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, model_validator

from .base import Model, Name, Names, distinct, show

__all__ = ["Age", "Format"]

Format = Literal["unix_s", "unix_ms", "unix_us", "utc_text", "iso8601", "date", "julian", "snowflake", "uuid7", "ulid", "mixed"]

EPOCHS_MS = (100_000_000_000, 253_402_300_799_999)
"""ms: an epoch in 1973 or later (known ones are of 2010 and later), so that one given in seconds is noticed; at most year 9999."""


def _column(value: Any) -> Any:
    if isinstance(value, str):
        return value
    names = list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"must be a column's name or a list of names, not {show(value)}")
    return distinct(names)


class Age(Model):
    """Where a row's time stands. Of several columns, the first that is not NULL decides.

    Attributes:
        epoch_ms: ms since 1970 at which snowflake ids begin; 0 for the other formats.
    """

    column: Annotated[Name | Names, BeforeValidator(_column), Field(examples=["created_at"])]
    format: Annotated[Format, Field(examples=["unix_s"])]
    epoch_ms: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The column or columns, as a tuple."""
        return (self.column,) if isinstance(self.column, str) else self.column

    @model_validator(mode="after")
    def _epoch(self) -> Age:
        if self.format != "snowflake":
            if self.epoch_ms:
                raise ValueError(f"epoch_ms is for snowflake ids only, not for {self.format}; leave it out")
        elif "epoch_ms" not in self.model_fields_set:
            raise ValueError("a snowflake needs epoch_ms, the ms since 1970 at which its ids begin; write 0 if they begin then")
        elif self.epoch_ms and not EPOCHS_MS[0] <= self.epoch_ms <= EPOCHS_MS[1]:
            raise ValueError(f"epoch_ms = {show(self.epoch_ms)} is not between 1973 and 9999 in ms; is it in seconds? multiply by 1000")
        return self
