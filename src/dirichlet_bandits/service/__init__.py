"""Serve studies over HTTP: the service, its dashboard and the client; all decisions are made in ``live``."""

from dirichlet_bandits.lazy import public_names

__getattr__, __dir__ = public_names(__name__)
