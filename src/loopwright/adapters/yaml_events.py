"""PyYAML behind one function: a YAML text as a stream of events, each with its line.

The only file that imports `yaml`, which takes time that every start of the command would pay: import it where it is
needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from loopwright.adapters.yaml_nodes import Event
from loopwright.errors import ConfigError
from loopwright.kernel.visible import visible


def events(text: str, file: str) -> Iterator[Event]:
    """Made as they are asked for, so that the reader stops a text that is too deep or too long in time."""
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        for event in yaml.parse(text, Loader=loader):
            yield from _known(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        says = visible(f"is not YAML: {error.problem}")
        raise ConfigError(file, "", says, line=mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: an escape beyond the last character
        raise ConfigError(file, "", visible(f"is not YAML: {error}")) from error


def _known(event: yaml.Event) -> Iterator[Event]:
    line = event.start_mark.line + 1 if event.start_mark else 1
    match event:
        case yaml.DocumentStartEvent():
            yield Event(kind="document", line=line)
        case yaml.AliasEvent():
            yield Event(kind="scalar", line=line, refused="an alias (*) is not allowed; repeat the value")
        case yaml.ScalarEvent():
            plain = event.implicit[0]
            yield Event(kind="scalar", line=line, text=event.value, plain=plain, refused=_decorated(event))
        case yaml.MappingStartEvent():
            yield Event(kind="mapping", line=line, refused=_decorated(event))
        case yaml.SequenceStartEvent():
            yield Event(kind="list", line=line, refused=_decorated(event))
        case yaml.CollectionEndEvent():
            yield Event(kind="end", line=line)
        case _:
            return


def _decorated(event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> str:
    if event.anchor is not None:
        return "an anchor (&) is not allowed; write the value out where it is needed"
    return "" if event.tag is None else "a tag (!) is not allowed; write a plain value"
