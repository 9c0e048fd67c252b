"""Who asks. Every read and write of a case takes one of these; there is no default (R21)."""

from dataclasses import dataclass

from casestore.errors import BadRequest
from casestore.models import PrincipalId


@dataclass(frozen=True, slots=True)
class Own:
    """The cases a principal asked for, in their tenant."""

    tenant: str
    principal: PrincipalId

    def __post_init__(self) -> None:
        """Raises `BadRequest` where a part is missing: nobody must not become everybody."""
        _refuse_a_hole(self.tenant)
        if type(self.principal) is not int:
            raise BadRequest("A scope of one's own needs a principal.")


@dataclass(frozen=True, slots=True)
class Tenant:
    """All cases of one tenant: an operator."""

    tenant: str

    def __post_init__(self) -> None:
        """Raises `BadRequest` without a tenant: no tenant must not become all of them."""
        _refuse_a_hole(self.tenant)


@dataclass(frozen=True, slots=True)
class System:
    """Every case: the engine, the scheduler, maintenance."""


Scope = Own | Tenant | System

# The one predicate; `c` is the case. Its parameters come from `parameters`.
IN_SCOPE = """(:scope_tenant IS NULL OR c.tenant = :scope_tenant)
    AND (:scope_principal IS NULL OR c.requester = :scope_principal)"""


def parameters(scope: Scope) -> dict[str, object]:
    """The values for `IN_SCOPE`."""
    match scope:
        case Own(tenant, principal):
            return {"scope_tenant": tenant, "scope_principal": principal}
        case Tenant(tenant):
            return {"scope_tenant": tenant, "scope_principal": None}
        case System():
            return {"scope_tenant": None, "scope_principal": None}


def _refuse_a_hole(tenant: object) -> None:
    if not isinstance(tenant, str) or not tenant:
        raise BadRequest("A scope needs a tenant; only the engine's has none.")
