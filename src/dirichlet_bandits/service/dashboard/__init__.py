"""The pages for people: studies as cards, a study with its pictures and forms, its trials, the API described."""

from dirichlet_bandits.service.dashboard import access, forms, home, reference, series, study, trials

NotLoggedIn = access.NotLoggedIn
to_login = access.to_login
routers = [module.routes for module in (access, home, study, series, trials, forms, reference)]
