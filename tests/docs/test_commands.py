"""Every command line of the documentation has commands and options that exist."""

import re
import shlex

import pytest
import typer.main

from featsieve.cli.app import app
from tests.docs.pages import ROOT, blocks_of, pages

SETTING = re.compile(r"^(\w+=\S+\s+)+")  # variables in front of a command


def command_lines():
    """Return every command line that starts with featsieve, and where it stands."""
    found = []
    for page in pages():
        for block in blocks_of(page):
            for line in block.commands if block.language == "sh" else []:
                line = re.split(r"\s*[|>]", SETTING.sub("", line))[0]
                line = line.removeprefix(".venv/bin/")
                if line.split()[0] == "featsieve":
                    found.append((f"{page.relative_to(ROOT)}: {line}", line))
    return dict(found)


def parse(line):
    """Raise what click raises of a command line that it cannot read; run nothing."""
    command, words = typer.main.get_command(app), shlex.split(line)[1:]
    context = command.context_class(command, info_name="featsieve")
    while True:
        values, rest, _ = command.make_parser(context).parse_args(args=words)
        if not hasattr(command, "resolve_command") or values.get("version") or "--help" in words:
            return
        _, command, words = command.resolve_command(context, rest)
        context = command.context_class(command, info_name=command.name, parent=context)


LINES = command_lines()


@pytest.mark.parametrize("where", LINES)
def test_a_command_line_can_be_read(where):
    parse(LINES[where])
