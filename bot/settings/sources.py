"""Where settings come from, the first that has one deciding: the caller, the environment, secret files, the file."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, InitSettingsSource, SettingsConfigDict

from bot.errors import SettingsError
from bot.settings.names import PREFIX, Name, dotted, is_secret, look_up, named_by, nearest, variable
from bot.settings.sections import Settings

FILE = "_FILE"
OF_OURS = frozenset({"CASEBOUND_LOG"})
"""Variables that are no settings."""

# In a namespace with a service called casebound, Kubernetes sets these for every container.
OF_KUBERNETES = re.compile(r"CASEBOUND_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?)")


class Gathered(Settings, BaseSettings):
    """The settings as the sources together give them."""

    model_config = SettingsConfigDict(case_sensitive=True)

    def __init__(self, sources: "tuple[Source, ...]") -> None:
        """Raises pydantic's `ValidationError`, which `explain` puts into words."""
        BaseSettings.__init__(self, _build_sources=(sources, {}))


class Table(InitSettingsSource):
    """Settings that are a table already: what a caller passes, or what a file holds."""

    def __init__(self, table: Mapping[str, Any], file: Path | None = None) -> None:
        super().__init__(Gathered, dict(table))
        self._file = file

    def place(self, name: Name) -> str:
        """Where a setting was read, for an error."""
        return dotted(name) if self._file is None else f"{self._file}: {dotted(name)}"

    def spell(self, name: Name) -> str:
        """How another setting would be written there."""
        return dotted(name)


class Variables(EnvSettingsSource):
    """Settings by the names of environment variables. A list may also be written with commas."""

    def __init__(self, variables: Mapping[str, str], suffix: str = "") -> None:
        super().__init__(Gathered, env_prefix=PREFIX.lower(), env_nested_delimiter="__")
        # A table's variable before those inside it, which otherwise it would replace.
        self.env_vars = {name.lower(): variables[name] for name in sorted(variables, key=len)}
        self._suffix = suffix

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: str) -> object:
        """JSON, or the parts between commas. Broken JSON stays text, to be refused under its variable's name."""
        if value.lstrip()[:1] not in ("", "[", "{"):
            return value.split(",")
        try:
            return json.loads(value)
        except ValueError:
            return value

    def place(self, name: Name) -> str:
        """Where a setting was read, for an error: the variable of its own, or that of a table around it."""
        names = [variable(name[:length]) for length in range(len(name), 0, -1)]
        found = next(one for one in names if one.lower() in self.env_vars)
        return found + self._suffix if found == names[0] else f"{found}: {dotted(name)}"

    def spell(self, name: Name) -> str:
        """How another setting would be written there."""
        return variable(name)


Source = Table | Variables


def sources(file: Path | None, overrides: Mapping[str, Any]) -> tuple[Source, ...]:
    """All sources, the first that has a setting deciding it: the caller, the environment, secret files, the file.

    Raises `SettingsError` for a file that cannot be read and for a variable that names no setting.
    """
    plain, secret = from_environment(os.environ)
    return Table(overrides), Variables(plain), Variables(secret, FILE), Table(from_file(file), file)


def from_file(file: Path | None) -> dict[str, Any]:
    """The table that a TOML file holds; an empty one without a file. Raises `SettingsError`."""
    if file is None:
        return {}
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{file}: it cannot be read ({_why(error)}); correct its name or its rights") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file}: it is not UTF-8 text; save it as such") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the end")
        raise SettingsError(f"{file}: it is not TOML: {why}") from None


def from_environment(environ: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What our variables hold, and what the files hold that our `_FILE` variables name. Raises `SettingsError`."""
    plain: dict[str, str] = {}
    secret: dict[str, str] = {}
    in_kubernetes = "KUBERNETES_SERVICE_HOST" in environ
    for name, text in environ.items():
        if not name.startswith(PREFIX) or name in OF_OURS or (in_kubernetes and OF_KUBERNETES.fullmatch(name)):
            continue
        short = name.removesuffix(FILE)
        any_name = short != name and is_secret(named_by(short))  # of a table, where X_FILE could be a key too
        if look_up(named_by(name)) is not None and not any_name:
            plain[name] = text
        elif short == name or look_up(named_by(short)) is None:
            raise SettingsError(_unknown(name))
        elif not is_secret(named_by(short)):
            raise SettingsError(f"{name}: only a secret is read from a file of its own; set {short} instead")
        else:
            secret[short] = _secret(name, text)
    return plain, secret


def _secret(name: str, file: str) -> str:
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise SettingsError(f"{name}: {file} cannot be read ({_why(error)}); correct its name or its rights") from None
    except ValueError:
        raise SettingsError(f"{name}: {file} is not UTF-8 text; put only the secret in it") from None


def _unknown(name: str) -> str:
    short = name.removesuffix(FILE)
    near = nearest(named_by(short), sections=False)
    if near is None:
        return f"{name} names no setting; unset it, or see docs/settings.md for those there are"
    suffix = FILE if short != name and is_secret(near) else ""
    return f"{name} names no setting; did you mean {variable(near)}{suffix}?"


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
