"""Copies of the source on the documentation site, and links to them from the API reference.

The site needs no network, so it links to highlighted copies of the files instead of a repository.
"""

import inspect
import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tools.pages import ROOT
from tools.site_parameters import found_at

SOURCES = ROOT / "src/dirichlet_bandits"
HEADING = re.compile(
    r'<h(?P<level>[2-6]) id="(?P<path>dirichlet_bandits\.[\w.]+)"(?P<rest>.*?)</h(?P=level)>', re.DOTALL
)
LINK = re.compile(r'href="source/([\w/]+)\.html#L-\d+"')
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 16px; font: 15px/1.5 system-ui, sans-serif; }}
pre {{ font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; margin: 0; }}
a {{ color: inherit; }}
pre a {{ text-decoration: none; opacity: 0.6; }}
:target {{ outline: 2px solid #e65100; }}
{light}
@media (prefers-color-scheme: dark) {{ body {{ background: #0d1117; color: #e6edf3; }}
{dark}
}}
</style>
</head>
<body>
<h1>{name}</h1>
<p><a href="{root}index.html">Documentation</a></p>
{code}
</body>
</html>
"""


def with_source_links(content: str) -> str:
    """Return the HTML of an API page with a link to the source in the heading of each name that has one."""

    def linked(heading: re.Match[str]) -> str:
        place = place_of(heading["path"])
        if place is None:
            return heading.group()
        level, (file, line) = heading["level"], place
        address = f"source/{file.removesuffix('.py')}.html#L-{line}"
        link = f' <a class="source" href="{address}" title="src/dirichlet_bandits/{file}, line {line}">source</a>'
        return f"{heading.group().removesuffix(f'</h{level}>')}{link}</h{level}>"

    return HEADING.sub(linked, content)


def place_of(path: str) -> tuple[str, int] | None:
    """Return the file and line where a name is defined; None if it has no source of its own, such as a number."""
    found = found_at(path)
    found = found.fget if isinstance(found, property) else getattr(found, "func", found)  # of a cached property
    if not (inspect.isclass(found) or inspect.isfunction(found)):
        return None
    file = Path(inspect.getsourcefile(found) or "").resolve()
    if not file.is_relative_to(SOURCES):
        return None
    return file.relative_to(SOURCES).as_posix(), inspect.getsourcelines(found)[1]


def write_sources(site: Path) -> None:
    """Write a copy of every file that a page of the site links to."""
    pages = "".join(page.read_text(encoding="utf-8") for page in site.glob("api_*.html"))
    light, dark = (HtmlFormatter(style=style).get_style_defs("pre") for style in ("default", "github-dark"))
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, nowrap=False)
    for name in sorted(set(LINK.findall(pages))):
        target = site / f"source/{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        code = highlight((SOURCES / f"{name}.py").read_text(encoding="utf-8"), PythonLexer(), formatter)
        root = "../" * (name.count("/") + 1)
        target.write_text(
            PAGE.format(name=f"{name}.py", light=light, dark=dark, root=root, code=code), encoding="utf-8"
        )
