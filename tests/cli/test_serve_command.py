"""``dirichlet-bandits serve`` and ``keys``: what they refuse, and what they print."""

import pytest
from typer.testing import CliRunner

from dirichlet_bandits.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        answer = CliRunner().invoke(app, list(words))
        assert answer.exit_code == code, answer.output
        return answer.output

    return call


def test_keys_come_and_go(run, tmp_path):
    first = run("keys", "add", "field app", "--scope", "write", "--keys", "k.txt").strip()
    second = run("keys", "add", "screen", "--keys", "k.txt").strip()
    assert first != second
    assert len(first) > 40
    assert run("keys", "list", "--keys", "k.txt") == "write\tfield app\nread\tscreen\n"
    limits = ("--study", "maize & co*", "--study", "a=b=read")
    run("keys", "add", "limited", "--scope", "write", *limits, "--keys", "k.txt")
    assert "maize & co*=write, a=b=read\tlimited\n" in run("keys", "list", "--keys", "k.txt")
    assert "'--study' must be" in run("keys", "add", "x", "--study", " ", "--keys", "k.txt", code=2)
    assert "has a key 'screen'" in run("keys", "add", "screen", "--keys", "k.txt", code=2)
    assert "'--scope' must be one of 'read', 'write', 'manage'" in run(
        "keys", "add", "x", "--scope", "all", "--keys", "k.txt", code=2
    )
    assert "printable" in run("keys", "add", "a\nb", "--keys", "k.txt", code=2)
    assert run("keys", "remove", "screen", "--keys", "k.txt") == "removed 'screen'\n"
    assert "no key 'screen'" in run("keys", "remove", "screen", "--keys", "k.txt", code=2)


@pytest.mark.parametrize("text", ["hello", "write abc name", f"all {'0' * 64} name", f"read {'0' * 64}", "\xff\xfe"])
def test_files_that_hold_no_keys_are_refused(run, tmp_path, text):
    (tmp_path / "k.txt").write_bytes(text.encode("latin-1"))
    words = ("serve", "--storage", "sqlite:///s.db", "--keys", "k.txt")
    assert "k.txt" in run(*words, code=2)
    assert not (tmp_path / "s.db").exists()


def test_it_does_not_start_unprotected(run, tmp_path):
    serve = ("serve", "--storage", "sqlite:///s.db")
    assert "or use --open" in run(*serve, code=2)
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        assert "--host" in run(*serve, "--open", "--host", host, code=2)
    assert "no file of keys" in run(*serve, "--keys", "nowhere.txt", code=2)
    (tmp_path / "empty.txt").write_text("# nobody\n")
    assert "at least one key" in run(*serve, "--keys", "empty.txt", code=2)
    run("keys", "add", "a", "--keys", "k.txt")
    assert "--open" in run(*serve, "--keys", "k.txt", "--open", code=2)
    assert not (tmp_path / "s.db").exists()


def test_a_missing_extra_is_named(run, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "fastapi" else found(name))
    said = run("serve", "--storage", "sqlite:///s.db", "--open", code=2)
    assert "needs the extra 'live': pip install" in said
    assert "(fastapi missing)" in said


def test_help_says_how_to_be_safe(run):
    shown = " ".join(run("serve", "--help").split())
    assert "The service needs a file of keys." in shown
