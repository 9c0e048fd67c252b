"""Who asks. Every read and write of a case takes one of these; there is no default (R21)."""

from dataclasses import dataclass

from casestore.models import PrincipalId


@dataclass(frozen=True, slots=True)
class Own:
    """The cases a principal asked for, in their tenant."""

    tenant: str
    principal: PrincipalId


@dataclass(frozen=True, slots=True)
class Tenant:
    """All cases of one tenant: an operator."""

    tenant: str


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
