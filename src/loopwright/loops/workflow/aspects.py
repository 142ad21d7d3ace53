"""The ten aspects that work may have, found by words, and which reviewers look because of them.

| aspect | words, of which the marked ones are stems |
|---|---|
| Data | data, database, schema, model, record, table, column, sql, query, storage, cache |
| API | api, endpoint, rest, graphql, http, route, request, response, webhook |
| UI | ui, page, form, button, screen, view, css, html, layout, modal, accessib… |
| Auth | auth, login, password, token, session, permission, role, oauth, jwt, authenti…, authoriz… |
| Performance | performance, fast, slow, latency, memory, throughput, speed, benchmark, optimi… |
| Error | error, exception, failure, crash, retry, timeout, fallback, bug, validat… |
| Testing | test, coverage, fixture, pytest, jest |
| Migration | migration, migrate, upgrade, rename, legacy, deprecat…, backfill |
| Integration | integration, integrate, import, export, sync, queue, external, third-party, plugin |
| Deployment | deploy, release, docker, kubernetes, pipeline, ci, rollout, configuration, environment |
"""

from __future__ import annotations

import re
from types import MappingProxyType

_WORDS = MappingProxyType(
    {
        "Data": r"data|databases?|schemas?|models?|records?|tables?|columns?|sql|quer(?:y|ies)|storage|caches?",
        "API": r"apis?|endpoints?|rest|graphql|http|routes?|requests?|responses?|webhooks?",
        "UI": r"ui|pages?|forms?|buttons?|screens?|views?|css|html|layouts?|modals?|accessib\w*",
        "Auth": r"auth|logins?|passwords?|tokens?|sessions?|permissions?|roles?|oauth2?|jwt|authenti\w*|authori[sz]\w*",
        "Performance": r"performance|fast(?:er)?|slow(?:er)?|latency|memory|throughput|speed|benchmarks?|optimi[sz]\w*",
        "Error": r"errors?|exceptions?|failures?|crash(?:es)?|retr(?:y|ies)|timeouts?|fallbacks?|bugs?|validat\w*",
        "Testing": r"tests?|tested|testing|coverage|fixtures?|pytest|jest",
        "Migration": r"migrat\w*|upgrades?|rename[sd]?|legacy|deprecat\w*|backfill\w*",
        "Integration": r"integrat\w*|imports?|exports?|sync|queues?|external|third[- ]part(?:y|ies)|plugins?",
        "Deployment": r"deploy\w*|releases?|docker|kubernetes|pipelines?|ci|rollouts?|config(?:uration)?s?|environment",
    }
)
ASPECTS = tuple(_WORDS)
_PATTERNS = {name: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for name, words in _WORDS.items()}
_ANY = re.compile("|".join(pattern.pattern for name, pattern in _PATTERNS.items() if name != "Testing"), re.IGNORECASE)


def aspects_of(text: str) -> tuple[str, ...]:
    """In the order of the table; a word is whole, so that `latest` is no test."""
    return tuple(name for name, pattern in _PATTERNS.items() if pattern.search(text))


def aspect_words(text: str) -> re.Match[str] | None:
    """The first words that name an area. That there are tests says nothing of where the work is."""
    return _ANY.search(text)
