"""What the documentation site adds to the pages in docs/ while MkDocs builds it (``hooks`` in mkdocs.yml).

- Files of the root, such as CHANGELOG.md, become pages; those of the API and the command line are made from the code.
- ```` ```math ```` blocks and ``$`...`$``, the notation that forges show too, become MathML: no script, no network.
- Every tutorial begins with a link to download it as a notebook.
- Names in the API reference link to copies of their source.
- Every figure has a dark variant, and the color scheme of the page chooses between the two.
- A page that is named, such as `docs/live.md`, becomes a link to it.
"""

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from tools.dark_figures import dark
from tools.notebooks import TUTORIALS, written
from tools.site_commands import command_line, policies
from tools.site_reference import reference_pages
from tools.site_source import with_source_links, write_sources

FROM_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"^```math\n(?P<block>.*?)^```$|\$`(?P<inline>[^`]+)`\$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(
    r'<img alt="(?P<alt>[^"]*)" src="(?P<folder>[./]*figures/)(?P<name>[\w/]+\.png)"(?P<rest>[^>]*?) */?>'
)
NAMED = re.compile(r"(?<![\[`\w])`(?:docs/)?(?P<page>[A-Za-z_]+\.md)`(?!\])")


def on_files(files: Files, *, config: Any) -> Files:
    """The pages that are no files of docs/."""
    root = Path(config.config_file_path).parent
    for source, page in FROM_ROOT.items():
        text = (root / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    made = {"api_cli.md": command_line(), "api_table.md": policies(), **reference_pages(root / "src")}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    for page in TUTORIALS:
        files.append(File.generated(config, notebook_of(Path(page).name), content=written(page)))
    figures = root / "docs/figures"
    for picture in figures.rglob("*.png"):
        name = f"figures/dark/{picture.relative_to(figures).as_posix()}"
        files.append(File.generated(config, name, content=dark(picture.read_bytes())))
    return files


def notebook_of(page: str) -> str:
    """The path of a tutorial's notebook on the site."""
    return f"notebooks/{Path(page).stem}.ipynb"


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Formulas, then names of pages; what stands in other fences is left alone."""
    if f"docs/{page.file.src_uri}" in TUTORIALS:
        file = notebook_of(page.file.src_uri)
        link = f'[Download this page as a notebook]({file}){{ download="{Path(file).name}" }}'
        markdown = re.sub(r"(\A# .*\n)", lambda title: f"{title[1]}\n{link}\n", markdown, count=1)
    markdown, titles = FORMULA.sub(mathml, markdown), titles_of(config.nav)
    pieces, end = [], 0
    for fence in FENCE.finditer(markdown):
        pieces += [linked(markdown[end : fence.start()], page, titles), fence.group()]
        end = fence.end()
    return "".join([*pieces, linked(markdown[end:], page, titles)])


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Links to the source on the pages of the API, and both variants of each figure."""
    html = with_source_links(html) if page.file.src_uri.startswith("api_") else html
    return PICTURE.sub(
        r'<img alt="\g<alt>" src="\g<folder>\g<name>#only-light"\g<rest> loading="lazy" />'
        r'<img alt="\g<alt>" src="\g<folder>dark/\g<name>#only-dark"\g<rest> loading="lazy" />',
        html,
    )


def on_post_build(*, config: Any) -> None:
    """The files that these links lead to."""
    write_sources(Path(config.site_dir))


def mathml(formula: re.Match[str]) -> str:
    """A formula as MathML on one line, with nothing that Markdown could take for its own."""
    if formula["block"] is not None:
        return f'<div class="formula">{plain(convert(formula["block"].strip(), display="block"))}</div>'
    return plain(convert(formula["inline"]))


def plain(markup: str) -> str:
    """The characters between tags as entities, so that ``*`` and ``_`` stay what they are."""
    return re.sub(r">([^<]+)<", lambda text: f">{entities(html.unescape(text[1]))}<", markup)


def entities(text: str) -> str:
    """Every character that is no letter or digit by its number."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)


def linked(text: str, page: Any, titles: dict[str, str]) -> str:
    """`docs/live.md` becomes a link with the title of that page, if it is another page of the site."""

    def link(named: re.Match[str]) -> str:
        name = FROM_ROOT.get(named["page"], named["page"])
        if name not in titles or name == page.file.src_uri:
            return named.group()
        return f"[{titles[name]}]({name})"

    return NAMED.sub(link, text)


def titles_of(nav: Any) -> dict[str, str]:
    """The title of each page, as the navigation has it: a list of ``{title: page}`` and ``{title: list}``."""
    titles: dict[str, str] = {}
    for entry in nav:
        for title, below in entry.items():
            titles |= {below: title} if isinstance(below, str) else titles_of(below)
    return titles
