"""What every route of REST begins with: the key, and the tenant's memory that it opens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from mnemic.service.access import Access
from mnemic.service.tenant_memory import TenantMemory

_bearer = HTTPBearer(auto_error=False, description="An API key: `mnemic keys create`", scheme_name="API key")


def admitted(request: Request, _: Annotated[object, Security(_bearer)]) -> Access:
    """What the request's key opens. Raises AccessDenied."""
    access: Access = request.app.state.door.admit(request)
    request.state.access = access
    return access


async def opened(request: Request, access: Annotated[Access, Depends(admitted)]) -> TenantMemory:
    """The part of the memory that the request's key opens; in no thread of its own, for it waits for nothing."""
    return access.memory(request.app.state.memory)


Admitted = Annotated[Access, Depends(admitted)]
Opened = Annotated[TenantMemory, Depends(opened)]
