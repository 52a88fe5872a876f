"""The examples of docs/service.md run as they stand, but for the address and the key."""

import html
import os
import re
import shutil
import subprocess

import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.service.dashboard import examples
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


def test_the_page_of_the_api_has_every_route_and_examples(service):
    with service.http() as client:
        page = client.get("/docs").text
        paths = client.get("/openapi.json").json()["paths"]
    places = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert places == examples.CURL.keys() == examples.PYTHON.keys() | {"GET /api/health"}
    for words in (*places, *examples.CURL.values(), *examples.PYTHON.values(), examples.SHELL, examples.START):
        assert words in html.unescape(page)


def test_the_examples_of_that_page_run(service, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    start = examples.START.replace("http://127.0.0.1:8000", service.url).replace('"..."', repr(service.write))
    for code in (start, *examples.PYTHON.values()):
        exec(code.replace('"maize"', '"maize in examples"'), namespace)
    assert namespace["study"].summary()["voided"].sum() == 1
    namespace["service"].close()
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("bash and curl are not installed")
    shell = examples.SHELL.replace("http://127.0.0.1:8000", service.url).replace("KEY=...", f"KEY={service.write}")
    calls = (
        "\n".join([shell, *examples.CURL.values()]).replace("maize", "maize-in-a-shell").replace("-sS", "-sS --fail")
    )
    done = subprocess.run(["bash", "-ec", calls.replace("-sS", "-sS --fail")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with service.connect() as studies:
        assert studies.load_study("maize-in-a-shell").summary()["voided"].sum() == 1
