from dirichlet_bandits.service.client import Service as Service
from dirichlet_bandits.service.client import connect as connect
from dirichlet_bandits.service.remote_study import RemoteStudy as RemoteStudy
