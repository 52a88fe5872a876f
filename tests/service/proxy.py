"""A real nginx before a service."""

import shutil
import subprocess
import time

import httpx
import pytest

from tests.bounds import SECONDS
from tests.service.running import free_port

CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  log_format status $status;
  access_log {folder}/access.log status;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      {closed}
      proxy_pass http://127.0.0.1:{behind};
      proxy_set_header Host $http_host;
      proxy_read_timeout {slowest}s;
    }}
  }}
}}
"""


class Proxy:
    """nginx, for a service that listens at a port."""

    def __init__(self, folder, behind):
        self.program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
        if self.program is None:
            pytest.skip("nginx is not installed (Debian: nginx)")
        self.folder, self.behind = folder, behind
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self, closed=False, slowest=60):
        """Start, or start again with other settings; ``closed`` for maintenance: 503, whoever asks."""
        self.stop()
        words = {"folder": self.folder, "port": self.port, "behind": self.behind, "slowest": slowest}
        config = self.folder / "nginx.conf"
        config.write_text(CONFIG.format(closed="return 503;" if closed else "", **words))
        (self.folder / "access.log").unlink(missing_ok=True)
        complaints = self.folder / "error.log"
        self.process = subprocess.Popen([self.program, "-p", self.folder, "-c", config, "-e", complaints])
        while True:
            assert self.process.poll() is None, complaints.read_text()
            try:
                httpx.get(self.url + "/favicon.ico", timeout=60)
                return
            except httpx.TransportError:
                time.sleep(0.02)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(SECONDS)

    def await_answer(self, status):
        """Wait until it has answered an API call with this status since it started."""
        seen = ""
        while f"{status}\n" not in seen.partition("\n")[2]:  # the first line is our own question
            assert self.process.poll() is None
            time.sleep(0.01)
            seen = (self.folder / "access.log").read_text()
