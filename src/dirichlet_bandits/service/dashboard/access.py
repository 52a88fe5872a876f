"""Control access to the pages, and their colors: log in, log out, light or dark."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import segno
from fastapi import APIRouter, Depends, Form, Request
from fastapi.routing import APIRoute
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.errors import ArgumentError, ReplacedError, one_of
from dirichlet_bandits.service.dashboard.rendering import THEME, THEMES, page
from dirichlet_bandits.service.guard import COOKIE, host_of, is_loopback
from dirichlet_bandits.service.keys import (
    ENTRANCE,
    LINK_LIFETIME,
    MANAGE,
    READ,
    SESSION_LIFETIME,
    WRITE,
    check_key,
    link,
)
from dirichlet_bandits.service.open_studies import OpenStudies

_YEAR: Final = 365 * 86400
Text = Annotated[str, Form()]


class NotLoggedIn(Exception):  # noqa: N818 - a state, not a fault
    """The error of a request for a page without a valid key."""


class StudyPage(APIRoute):
    """A page that is made again with the study as it is stored now, if the open study has been replaced."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request; a first attempt on a study that was replaced has changed nothing."""
        answer = super().get_route_handler()

        async def answer_again(request: Request) -> Response:
            try:
                return await answer(request)
            except ReplacedError as error:
                if not await run_in_threadpool(request.app.state.studies.is_outdated, error):
                    raise
            return await answer(request)

        return answer_again


routes = APIRouter(include_in_schema=False, route_class=StudyPage)
"""The routes of all pages; each module of this package adds its own."""


def _seen(request: Request, needed: str) -> OpenStudies:
    if request.state.key is None:
        raise NotLoggedIn
    studies: OpenStudies = request.app.state.studies.seen_by(request.state.key, needed)
    return studies


def _for(needed: str) -> Any:
    async def seen(request: Request) -> OpenStudies:
        return _seen(request, needed)

    return Depends(seen)


def _for_study(needed: str) -> Any:
    async def seen(request: Request, identity: Annotated[str | None, Form()] = None) -> OpenStudies:
        return _seen(request, needed).expecting(identity)

    return Depends(seen)


Reading = Annotated[OpenStudies, _for(READ)]
Changing = Annotated[OpenStudies, _for_study(WRITE)]
"""For forms that change trials of a study: the one that the page showed, not another one that has its name by now."""

Managing = Annotated[OpenStudies, _for_study(MANAGE)]
"""The same for forms that change the study itself."""

ChangingAny = Annotated[OpenStudies, _for(WRITE)]
"""For forms that change trials and name the identity of the study themselves."""

Creating = Annotated[OpenStudies, _for(MANAGE)]
"""For forms that create a study."""


async def to_login(request: Request, error: Exception) -> Response:
    """Redirect a visitor who is not logged in to the login page."""
    return RedirectResponse("/login", 303)


@routes.get("/login")
async def login_page(request: Request) -> Response:
    """Show the form for a key."""
    return page(request, "login.html", error=None)


@routes.post("/login")
async def login(request: Request, key: Text) -> Response:
    """Keep a valid key in a cookie that no script and no other site can use."""
    keys = request.app.state.keys
    if keys is None:
        return RedirectResponse("/", 303)  # an open service needs no key
    if check_key(key.strip(), keys) is None:
        return page(request, "login.html", 401, error="This key is not known.")
    return keep_signed_in(request, key.strip())


def keep_signed_in(request: Request, secret: str, seconds: int | None = None) -> Response:
    """Keep a key or a session in a cookie, until the browser closes or for some time, and go to the first page."""
    answer, secure = RedirectResponse("/", 303), request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, max_age=seconds, httponly=True, samesite="strict", secure=secure)
    return answer


@routes.post("/logout")
async def logout(request: Request) -> Response:
    """Delete the key, and end the session if a link began one."""
    request.app.state.sessions.leave(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


@routes.post("/theme")
async def choose_theme(request: Request, theme: Text) -> Response:
    """Choose light, dark or the system's colors, keep the choice in a cookie, and return to the page before."""
    if theme not in THEMES:
        raise ArgumentError("theme", one_of(THEMES), theme)
    before = urlsplit(request.headers.get("referer", ""))
    query = f"?{before.query}" if before.query else ""
    # Only the path of the previous address is used, with one slash in front, so it cannot lead to another host.
    answer = RedirectResponse("/" + before.path.lstrip("/\\") + query, 303)
    answer.set_cookie(THEME, theme, max_age=_YEAR, samesite="strict", secure=request.url.scheme == "https")
    return answer


# Sign in with a link that works once, and make such a link for a phone


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
