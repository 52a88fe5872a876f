"""Pages for people: cards of studies, a study with its charts and forms, its trials, and the API reference."""

from dirichlet_bandits.service.dashboard import access, forms, home, managing, reference, series, study, trials

NotLoggedIn = access.NotLoggedIn
to_login = access.to_login
routers = [module.routes for module in (access, home, study, series, trials, forms, managing, reference)]
