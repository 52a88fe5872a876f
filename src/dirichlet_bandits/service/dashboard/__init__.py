"""Pages for people: cards of studies, a study with its charts and forms, its trials, and the API reference."""

from dirichlet_bandits.service.dashboard import (
    access,
    creating,
    entering,
    examples,
    forms,
    home,
    importing,
    managing,
    planning,
    series,
    study,
    trials,
)

NotLoggedIn = access.NotLoggedIn
to_login = access.to_login
_MODULES = (access, entering, home, planning, creating, study, series, trials, forms, importing, managing, examples)
routers = [module.routes for module in _MODULES]
