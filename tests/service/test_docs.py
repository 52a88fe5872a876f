"""The examples of docs/service.md run as they stand, but for the address and the key."""

import os
import re
import shutil
import subprocess

import pandas as pd
import pytest

import dirichlet_bandits as db
from tests.service.running import ROOT


def blocks(kind, service):
    text = (ROOT / "docs/service.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        re.sub(r"http://(localhost|127.0.0.1):8000", service.url, code).replace("db_...", service.write)
        for code in found
    ]


def test_from_python(service):
    (code,) = blocks("python", service)
    namespace = {"db": db}
    exec(code.replace('"maize"', '"maize from Python"'), namespace)
    assert namespace["study"].summary()["told"].sum() == 1
    namespace["service"].close()


def test_from_a_shell(service, tmp_path):
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("bash and curl are not installed")
    code = blocks("sh", service)[1]
    environment = {**os.environ, "KEY": service.write, "NO_PROXY": "*"}
    done = subprocess.run(["bash", "-ec", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '{"trials":[{"id":0,"arm":"' in done.stdout
    assert done.stdout.endswith(re.findall(r"^# (.*)", code, re.MULTILINE)[-1])
    assert pd.read_parquet(tmp_path / "log.parquet")["reward"].tolist() == [3210.0]


def test_the_page_of_the_api_names_every_route(service):
    with service.http() as client:
        page = client.get("/docs").text
        for path, methods in client.get("/openapi.json").json()["paths"].items():
            for method in methods:
                assert f"{method.upper()} {path}" in page
