"""Studies over HTTP: the service, its dashboard, and the client; thin, all decisions are made in ``live``."""

from dirichlet_bandits.service.client import RemoteStudy, Service, connect

__all__ = ["RemoteStudy", "Service", "connect"]
