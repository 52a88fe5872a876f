"""Pages for people: cards of studies, a study with its charts and forms, its trials, and the API reference."""

from dirichlet_bandits.service.dashboard import access, creating, examples, importing, planning, series  # their routes

NotLoggedIn = access.NotLoggedIn
to_login = access.to_login
routes = access.routes

__all__ = ["NotLoggedIn", "creating", "examples", "importing", "planning", "routes", "series", "to_login"]
