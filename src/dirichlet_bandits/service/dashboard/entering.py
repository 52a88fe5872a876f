"""Sign in with a link that works once, and make such a link for a phone."""

import segno
from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.service.dashboard.access import Reading, Text, keep_signed_in
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.guard import host_of, is_loopback
from dirichlet_bandits.service.sessions import ENTRANCE, LINK_LIFETIME, SESSION_LIFETIME, link

routes = APIRouter(include_in_schema=False)


@routes.get(ENTRANCE)
async def entrance(request: Request) -> Response:
    """Show the page of a link, whose script sends the code, so that a preview of the link does not use it up."""
    return page(request, "enter.html", error=None)


@routes.post(ENTRANCE)
async def enter(request: Request, code: Text) -> Response:
    """Exchange the code of a link for a session."""
    session = request.app.state.sessions.enter(code.strip())
    if session is None:
        return page(request, "enter.html", 401, error="This link was used before or has expired. Ask for another one.")
    return keep_signed_in(request, session, SESSION_LIFETIME)


@routes.get("/phone")
async def phone_page(request: Request, studies: Reading) -> Response:
    """Offer a link for another device."""
    return _phone(request)


@routes.post("/phone")
async def invite(request: Request, studies: Reading) -> Response:
    """Make a link for another device, with the rights of the present key."""
    if request.app.state.keys is None:
        return RedirectResponse("/phone", 303)
    address = link(_here(request), request.app.state.sessions.invite(request.state.key))
    return _phone(request, address=address, picture=Markup(qr_svg(address)))


def _phone(request: Request, address: str | None = None, picture: Markup | None = None) -> Response:
    local = is_loopback(host_of(_here(request)))
    lifetimes = {"minutes": round(LINK_LIFETIME / 60), "days": SESSION_LIFETIME // 86400}
    return page(request, "phone.html", address=address, picture=picture, local=local, **lifetimes)


def _here(request: Request) -> str:
    return request.app.state.address or str(request.base_url)


def qr_svg(text: str) -> str:
    """Return a QR code as SVG, dark on light in both themes, as readers need it."""
    return segno.make(text, micro=False).svg_inline(border=4, dark="#000", light="#fff", svgclass="qr", omitsize=True)
