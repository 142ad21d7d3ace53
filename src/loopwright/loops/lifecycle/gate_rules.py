"""What in a change calls for which gate: rules on paths and on words, each with the name that a person is shown."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.kernel.changing import replace
from loopwright.kernel.judges import Judge
from loopwright.kernel.risks import CONTAINERS, DOCUMENTATION, GateRule

ARCHITECTURE, SECURITY, DATABASE, EXTERNAL, DEPLOY = "architecture", "security", "database", "external", "deploy"
DELIVERABLES = "docs/systems/**/*.{md,json,yaml,yml,txt}"  # what skills leave behind speaks of everything
TESTS = ("tests/**", "**/*_test.*", "**/test_*.py", "**/*.test.*", "**/*.spec.*")

# By itself or as a part of a name: `api_key`, `apiKey`, `API_KEY`, and not within a longer word.
BEGINS = "(?:(?<![a-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
ENDS = "(?:(?![a-z])|(?-i:(?<=[a-z])(?=[A-Z])))"


def _names(*words: str) -> tuple[str, ...]:
    """A space stands for what may be between two parts of a name, and for nothing."""
    return tuple(f"{BEGINS}{word.replace(' ', '[ _-]?')}{ENDS}" for word in words)


def _below(*folders: str) -> tuple[str, ...]:
    return tuple(f"**/{folder}/**" for folder in folders)


_ARCHITECTURE = (
    GateRule(
        gate=ARCHITECTURE,
        name="infrastructure",
        paths=(
            *_below("infrastructure", "infra", "terraform", "ansible", "pulumi"),
            *("**/*.{tf,tfvars,bicep}", "**/serverless.{yml,yaml}", "**/cloudformation*.{yml,yaml,json}"),
            *("**/nginx*.conf", "**/procfile", ".github/workflows/**"),
        ),
        judges=(Judge.FORGE,),
    ),
    GateRule(
        gate=ARCHITECTURE,
        name="containers",
        paths=(
            *("**/dockerfile", "**/dockerfile.*", "**/*.dockerfile", "**/containerfile"),
            *CONTAINERS,
            *_below("charts"),
        ),
    ),
    GateRule(
        gate=ARCHITECTURE,
        name="configuration",
        paths=("{config,configs}/**", "**/{config,configs}/*.{yml,yaml,toml,json,ini,cfg,conf,xml,properties}"),
    ),
    GateRule(gate=ARCHITECTURE, name="dependencies", judges=(Judge.MANIFEST,)),
)

_SECURITY = (
    GateRule(
        gate=SECURITY,
        name="security files",
        paths=(
            *_below("{auth,authn,authz,oauth,oauth2,authentication,authorization}"),
            *_below("{security,crypto,cryptography,permissions,secrets}"),
            "**/{auth,authn,authz,oauth,oauth2,authentication,authorization}.*",
            "**/{security,crypto,cryptography,permissions,secrets,password,passwords,jwt}.*",
            "**/*{_,-}{auth,oauth,authentication,authorization,security,crypto}.*",
            "**/{auth,oauth,authentication,authorization,security,crypto}{_,-}*.*",
        ),
    ),
    GateRule(
        gate=SECURITY,
        name="keys and environments",
        paths=(
            "**/.env",
            "**/.env.*",
            "**/*.{pem,key,p12,pfx,jks,keystore}",
            "**/{id_rsa,id_ed25519,.netrc,.htpasswd}",
        ),
    ),
    GateRule(
        gate=SECURITY,
        name="access",
        words=_names(
            *("auth", "authn", "authz", "oauth", "authenticate[sd]?", "authentication", "authenticator"),
            *("authori[sz]e[sd]?", "authori[sz]ation", "login required", "permission classes", "csrf", "cors"),
            *("jwt", "saml", "openid", "oidc", "session cookies?", "token", "bearer"),
            "(?:access|refresh|auth|api|bearer|session|csrf|id|jwt) tokens",  # others are of language, not of access
        ),
    ),
    GateRule(
        gate=SECURITY,
        name="secrets",
        words=_names(
            *("passwords?", "passwd", "passphrases?", "secrets?", "credentials?", "private keys?", "api keys?"),
            *("secret keys?", "signing keys?", "encryption keys?"),
        ),
    ),
    GateRule(
        gate=SECURITY,
        name="cryptography",
        words=_names(
            *("security", "crypto", "cryptography", "encrypt(?:s|ed|ion)?", "decrypt(?:s|ed|ion)?", "cipher(?:text)?"),
            *("hashlib", "hmac", "md5", "sha1", "sha256", "sha384", "sha512", "bcrypt", "scrypt", "argon2(?:id)?"),
            *("pbkdf2", "aes", "rsa", "ecdsa", "ed25519", "x509"),
        ),
    ),
    GateRule(
        gate=SECURITY,
        name="personal data",
        words=_names(
            *("ssns?", "social security", "passport (?:no|number)s?", "tax ids?", "national ids?", "dates? of birth"),
            *("credit cards?", "card numbers?", "cvv", "ibans?", "email address(?:es)?", "phone numbers?"),
            *("home address(?:es)?", "personal data", "medical records?", "pii"),
        ),
    ),
)

_DATABASE = (
    GateRule(
        gate=DATABASE,
        name="migrations",
        paths=(*_below("migrations", "migration", "migrate", "alembic", "flyway", "liquibase"), "**/alembic.ini"),
    ),
    GateRule(
        gate=DATABASE,
        name="schema",
        paths=("**/*.{sql,ddl,prisma,dbml}", "**/schema.{rb,py,ts,js,graphql}", "**/structure.sql", *_below("prisma")),
    ),
    GateRule(
        gate=DATABASE,
        name="models and entities",
        paths=(
            "**/{models,entities}.{py,rb,ts,js,go,rs,java,kt,cs,php}",
            *_below("models", "entities"),
            "**/*.entity.{ts,js}",
            "**/*entity.{java,kt,cs}",
        ),
    ),
    GateRule(
        gate=DATABASE,
        name="schema in code",
        words=(
            r"\b(?:create|alter|drop|truncate)\s+(?:temp(?:orary)?\s+)?(?:table|schema|database)\s+(?!of\b)[\w\"`'\[]",
            r"\b(?:create|drop)\s+(?:unique\s+)?(?:index|view|trigger)\s+(?!of\b)[\w\"`'\[]+\s+(?:on|as|before|after)\b",
            # Of a migration: a table that is drawn on a screen has columns too.
            r"(?:\bop\.|\bqueryInterface\.|^\s*)(?:add|drop|remove|alter|change|rename)_?columns?(?:\(|\s+:)",
            r"(?:\bop\.|\bknex\.schema\.|\bqueryInterface\.|^\s*)(?:create|drop|rename)_?table(?:\(|\s+:)",
            r"\bmigrations\.(?:CreateModel|DeleteModel|AddField|RemoveField|AlterField|RenameField|RunSQL|RunPython)\b",
            r"\b__tablename__\b|\bmapped_column\(|\bmodels\.Model\b|\bdeclarative_base\(",
        ),
    ),
)

_SERVICES = (
    "stripe|twilio|sendgrid|mailgun|slack_sdk|openai|anthropic|sentry_sdk|algoliasearch|paypalrestsdk|braintree|plaid"
)
_EXTERNAL = (
    GateRule(
        gate=EXTERNAL,
        name="integrations",
        paths=(
            *_below("{integration,integrations,external,webhook,webhooks}"),
            *_below("{api-client,api-clients,api_client,api_clients,apiclient}"),
            "**/{webhook,webhooks,integrations,api-client,api_client}.*",
            "**/*{_,-}{webhook,webhooks,api_client,api-client}.*",
        ),
    ),
    GateRule(
        gate=EXTERNAL,
        name="calls over the network",
        words=(
            r"(?<![\w.])requests\.(?:get|post|put|patch|delete|head|options|request|session)\b",
            r"^\s*(?:import\s[^#]*|from\s+)\brequests\b",
            r"\bfrom\s+urllib\s+import\b.*\brequest\b|\bfrom\s+http\s+import\b.*\bclient\b",
            r"\brequire\(\s*['\"](?:node:)?(?:https?|net|tls)['\"]|\bfrom\s+['\"](?:node:)?(?:https?|net|tls)['\"]",
            r"^\s*import\s[^#]*\bsocket\b|(?<![\w.])socket\.(?:socket|create_connection)\(|\basyncio\.open_connection\(",
            r"\bfrom\s+socket\s+import\b|\b(?:xmlrpc|ftplib|smtplib|poplib|imaplib|telnetlib|pycurl)\b",
            r"['\"](?:[\w./]*/)?(?:curl|wget)['\"]|^\s*(?:curl|wget)\s+\S",
            # With an option, an address or a variable: in a sentence other words follow.
            r"(?<![\w.-])(?:curl|wget)\s+(?:[-'\"$`{%<]|[\w-]+[.:/]\S)",
            r"\b(?:httpx|aiohttp|urllib3|reqwest|axios|okhttp\w*|httparty|undici)\b",
            r"\burllib\.request\b|\burlopen\(|\bhttp\.client\b|\bhttplib\b|\bNet::HTTP\b|\bFaraday\.",
            r"\bfetch\(\s*[`'\"]https?:|\bXMLHttpRequest\b|\bnew\s+(?:WebSocket|EventSource)\(",
            r"\bhttp\.(?:Get|Post|PostForm|Head|NewRequest(?:WithContext)?)\(|\bhttp\.Client\b",
            r"\b(?:HttpClient|RestTemplate|WebClient|Guzzle\w*|curl_init|curl_easy_init)\b",
            r"\bgrpc\.(?:\w+_channel|dial|newclient)\(|\bparamiko\b",
        ),
    ),
    GateRule(
        gate=EXTERNAL,
        name="calls of a browser",
        words=(
            r"(?<![\w.$])(?<!function )(?:(?:window|self|global|globalThis)\.)?(?-i:fetch)\s*(?:\?\.)?\(",
            r"=\s*(?:(?:window|self|global|globalThis)\.)?(?-i:fetch)\s*;?\s*$|\bsendBeacon\b",
        ),
        within=("**/*.{js,jsx,mjs,cjs,ts,tsx,mts,cts,mdx,vue,svelte,astro,html,htm}",),
    ),
    GateRule(
        gate=EXTERNAL,
        name="services of others",
        words=(
            r"(?<![\w.])(?:boto3|botocore|aws-sdk|@aws-sdk/\w+|google\.cloud|@google-cloud/\w+|azure\.\w+)\b",
            rf"(?:^\s*(?:import|from)\s+|\b(?:import|from|require)[\s(]*['\"])(?:{_SERVICES})\b",
            rf"(?<![\w.#-])(?:{_SERVICES})\.\w+",
        ),
    ),
)

BUILT_IN = (*_ARCHITECTURE, *_SECURITY, *_DATABASE, *_EXTERNAL)


def rules(own: Iterable[tuple[str, tuple[str, ...]]] = (), tests: tuple[str, ...] = TESTS) -> tuple[GateRule, ...]:
    """Those that are built in, and a person's own: each a gate and its patterns, which mean documentation too."""
    built_in = (
        replace(rule, apart=(DELIVERABLES, *DOCUMENTATION, *(tests if _is_not_for_tests(rule) else ())))
        for rule in BUILT_IN
    )
    theirs = (
        GateRule(gate=gate, name=f"[gates.{gate}] paths", paths=paths, apart=(DELIVERABLES,))
        for gate, paths in own
        if paths
    )
    return (*built_in, *theirs)


def _is_not_for_tests(rule: GateRule) -> bool:
    """A test that speaks of a password is no risk, and `tests/integration` integrates nothing."""
    return rule.gate == EXTERNAL or (rule.gate == SECURITY and bool(rule.words))
