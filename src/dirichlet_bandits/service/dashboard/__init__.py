"""Pages for people: cards of studies, a study with its charts and forms, its trials, and the API reference."""

from dirichlet_bandits.service.dashboard import creating, examples, series  # noqa: F401  # routes
from dirichlet_bandits.service.dashboard.access import NotLoggedIn as NotLoggedIn
from dirichlet_bandits.service.dashboard.access import routes as routes
from dirichlet_bandits.service.dashboard.access import to_login as to_login
