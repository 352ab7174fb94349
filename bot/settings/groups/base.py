"""What all groups of settings share."""

from pydantic import BaseModel, ConfigDict


class SettingsGroup(BaseModel):
    """The base of all groups: frozen, without unknown fields, with errors that never show a value."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        validate_default=True,
    )
