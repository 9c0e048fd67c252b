"""Reading the settings, once, at the start."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from bot.errors import SettingsError
from bot.settings.sections import Settings

DEFAULT_FILE = Path("casebound.toml")


def load(path: Path | None = None, **overrides: Mapping[str, object]) -> Settings:
    """The settings from `overrides`, the environment, secret files and the TOML file, the first deciding each key.

    `path` names the file, which then has to exist; without it `casebound.toml` is read where the service is
    started, if there is one. `overrides` are sections, as in `load(service={"port": 9000})`; a None in one means
    "not given". Raises `SettingsError`: one line that names the key, where it was set and what to do.
    """
    # Here, because it takes a third as long again to import as everything else this package needs.
    from bot.settings.explain import explain
    from bot.settings.sources import Gathered, sources

    given = {
        section: {key: value for key, value in table.items() if value is not None}
        for section, table in overrides.items()
    }
    file = DEFAULT_FILE if path is None and DEFAULT_FILE.exists() else path
    found = sources(file, given)
    try:
        gathered = Gathered(found)
    except ValidationError as error:
        raise SettingsError(explain(error, found)) from None
    return Settings(**{name: getattr(gathered, name) for name in Settings.model_fields})
