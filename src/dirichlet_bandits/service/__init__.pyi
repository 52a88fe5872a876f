from dirichlet_bandits.service.client import Service as Service
from dirichlet_bandits.service.client import connect as connect
