"""What every table of the file has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One table of the file. It cannot be changed, takes no key it does not know, and shows no value in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
