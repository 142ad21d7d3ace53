"""What calls for which gate, row by row, beside what only looks alike; and ordinary changes that call for none."""

import pytest

from loopwright.kernel.model import Change
from loopwright.kernel.risks import AddedText, Risk, risks_in
from loopwright.loops.lifecycle.gate_rules import BUILT_IN, rules

CODE, SCRIPT = "src/shop/cart.py", "web/src/cart.ts"


def found(path: str, *lines: str, own: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> tuple[Risk, ...]:
    change = Change(path=path, how="changed", blob="b", mode="100644")
    return risks_in((change,), (AddedText(path=path, lines=tuple(enumerate(lines, start=1))),), rules(own))


def gates(path: str, *lines: str) -> dict[str, str]:
    """Each gate with the first rule that calls for it."""
    return {risk.gate: risk.rule for risk in reversed(found(path, *lines))}


PATHS = {
    ("architecture", "infrastructure"): (
        *("infra/vpc.yaml", "ops/terraform/main.py", "modules/db.tf", "prod.tfvars", "serverless.yml", "nginx.conf"),
        *(".gitlab-ci.yml", ".github/workflows/ci.yml", "Procfile", "infrastructure/stack.ts"),
    ),
    ("architecture", "containers"): (
        *("Dockerfile", "api/Dockerfile.prod", "web.dockerfile", "docker-compose.yml", "compose.override.yaml"),
        *("deploy/k8s/app.yaml", "charts/shop/values.yaml", "helm/Chart.yaml", "base/kustomization.yaml"),
        *("docs/docker-compose.yml", "docs/k8s/prod.yaml", "docs/howto/helm/values.json"),
    ),
    ("architecture", "configuration"): ("config/app.py", "configs/prod.yaml", "src/shop/config/logging.yaml"),
    ("architecture", "dependencies"): (
        *("pyproject.toml", "requirements-dev.txt", "web/package.json", "go.mod", "crates/a/Cargo.toml", "Gemfile"),
        *("pom.xml", "app/build.gradle.kts", "composer.json", "setup.cfg"),
    ),
    ("security", "security files"): (
        *(
            "src/auth/views.py",
            "app/security.py",
            "lib/crypto/aes.c",
            "src/oauth2.ts",
            "api/jwt.go",
            "src/user_auth.py",
        ),
        *("src/Auth-Provider.tsx", "app/permissions/rules.py", "src/passwords.py", "tests/auth/test_login.py"),
    ),
    ("security", "keys and environments"): (".env", "api/.env.production", "certs/server.pem", "id_rsa", "a/b.p12"),
    ("database", "migrations"): (
        *("migrations/0001.py", "shop/migrations/0002_add.py", "db/migrate/2024_users.rb", "alembic/env.py"),
        *("alembic.ini", "src/main/resources/db/migration/V1.xml"),
    ),
    ("database", "schema"): ("db/init.SQL", "prisma/schema.prisma", "db/schema.rb", "src/schema.graphql"),
    ("database", "models and entities"): (
        *("shop/models.py", "app/models/user.rb", "src/entities/Order.ts", "src/user.entity.ts", "x/UserEntity.java"),
    ),
    ("external", "integrations"): (
        *("src/integrations/crm.py", "external/feed.py", "app/webhooks/stripe.py", "src/api-client/index.ts"),
        *("src/webhook.py", "lib/api_client.rb", "src/github_webhook.go"),
    ),
}
UNLIKE_PATHS = (
    *(
        "src/infrared.py",
        "src/formats.py",
        "src/dockerfiles.py",
        "src/composer.py",
        "src/helmet.ts",
        "src/requirements.py",
    ),
    *("src/shop/config/loader.py", "src/config.py", "uv.lock", "package-lock.json"),
    *(
        "src/author.py",
        "src/authors/list.py",
        "src/encoding.py",
        "src/environment.py",
        "src/keyboard.ts",
        "src/tokenizer.py",
    ),
    *(
        "src/model.py",
        "src/immigration.py",
        "src/sequel.py",
        "src/schematic.py",
        "src/modelling/a.py",
        "src/identity.py",
    ),
    *("src/integral.py", "src/externals.py", "src/hooks.py", "src/apiary.py", "src/client.py", "src/internal/a.py"),
    *("tests/integration/test_cart.py", "tests/external/test_feed.py"),
    *("docs/auth/howto.md", "SECURITY.md", "docs/systems/s-1/DEPLOY.md", "migrations/README.md", "docs/config/a.yaml"),
    *("docs/k8s/README.md", "docs/openapi.json", "docs/charts/sales.json"),
)
WORDS = {
    ("security", "access"): (
        *(
            "def auth(user):",
            "authToken = header",
            "if not user.is_authenticated: authenticate(user)",
            "@login_required",
        ),
        *("from x import OAuth2Session", "ACCESS_TOKEN = read()", "refresh_tokens.clear()", "token = issue(user)"),
        *("const jwt = sign(user)", "csrf_exempt = csrf", "Authorization: Bearer x", "authorise(user)"),
    ),
    ("security", "secrets"): (
        *("password: str", "apiKey = 1", "API_KEY = 2", "x-api-key: y", "private_key = load()", "client_secret=1"),
        *("credentials = None", "-----BEGIN RSA PRIVATE KEY-----"),
    ),
    ("security", "cryptography"): (
        *(
            "import hashlib",
            "digest = sha256(data)",
            "bcrypt.hash(x)",
            "md5sum = md5(x)",
            "encrypt(data)",
            "hmac.new(k)",
        ),
        *("import crypto from 'node:crypto'", "cipher = AES.new(k)"),
    ),
    ("security", "personal data"): (
        *("ssn = row['ssn']", "user.date_of_birth", "creditCard: string", "emailAddresses = []", "email_address: str"),
        *("phone_number = x", "iban: str"),
    ),
    ("database", "schema in code"): (
        *(
            "CREATE TABLE users (",
            "cur.execute('alter table users add x')",
            "DROP TABLE IF EXISTS a",
            "TRUNCATE TABLE a",
        ),
        *("create unique index a_b on a (b)", "op.add_column('users', c)", "add_column :users, :age, :integer"),
        *("op.create_table('a')", "migrations.AddField(", "    __tablename__ = 'users'", "class A(models.Model):"),
        "await queryInterface.addColumn('a', 'b')",
    ),
    ("external", "calls over the network"): (
        *("r = requests.get(url)", "import requests", "import httpx", "async with aiohttp.ClientSession() as s:"),
        *("urllib.request.urlopen(u)", "await fetch('https://x.y/z')", "axios.post(u)", "resp, err := http.Get(u)"),
        *("let c = reqwest::Client::new();", "Net::HTTP.get(uri)", "new WebSocket(u)", "smtplib.SMTP(h)"),
        "private HttpClient client;",
        *("from urllib import error, request", "from http import client", "import os, requests", "s = socket.socket()"),
        *(
            "const h = require('https')",
            "import net from 'node:net'",
            "subprocess.run(['curl', u])",
            "import \uff48ttpx",
        ),
        *("from socket import create_connection", "import ftplib, telnetlib", "from xmlrpc.client import ServerProxy"),
        *("from smtplib import SMTP", "c = http.client.HTTPConnection(h)", "await asyncio.open_connection(h, 80)"),
        *("os.system('curl https://x.y')", "curl $URL | sh", "RUN wget -q x.y/z", "subprocess.run(f'curl {u}', x)"),
        *("subprocess.run(['/usr/bin/wget', u])", "Popen('cd a && curl ' + u)", "\tcurl host", "x=$(curl x.y)"),
    ),
    ("external", "calls of a browser"): (
        *("const r = await fetch(url)", "return window.fetch (url);", "  fetch(`${base}/x`)", "const get = fetch;"),
        *("x(globalThis.fetch(u))", "navigator.sendBeacon(u)", "fetch?.(u)"),
    ),
    ("external", "services of others"): (
        *("import boto3", "stripe.Charge.create(x)", "from twilio.rest import Client", "const s = require('stripe')"),
        *("import { S3 } from '@aws-sdk/client-s3'", "import openai", "from google.cloud import storage"),
    ),
}
FILES = {("external", "calls of a browser"): SCRIPT}  # others: in all code
UNLIKE_WORDS = (
    *("author = 'me'", "authored_by = author", "tokenize(text)", "Tokenizer()", "max_tokens = 5", "secretary = 1"),
    *(
        "TOKENIZERS = []",
        "the authority",
        "passwordless",
        "compass = word",
        "hash(x)",
        "shape = sha",
        "keyboard",
        "rehash()",
    ),
    *("monkey_api_keyed = 1", "encryptor", "assn = 1", "email.send()", "name = address"),
    *(
        "# create table of contents",
        "table.add_column('Name')",
        "drop_tables_of_data",
        "row.alter()",
        "create_tablet()",
    ),
    *("models = []", "tablename = 1", "view = create()", "schema = json"),
    *(
        "self.requests.get(key)",
        "pending_requests.get(1)",
        "fetch(cache)",
        "prefetch('x')",
        "app.get('/')",
        "striped = 1",
    ),
    *("# from requests of users", "row.stripe.color", "http_status = 200", "httpxx", "use stripe pattern", "git fetch"),
    *(".stripe.wide {", "channel = grpc_like()"),
    *("websocket_like = 1", "# a socket in the wall", "plug = socket", "from shop.socket import plug", "curly = 1"),
    *("raise Missing('curl is not installed')", "hair.curl(x)", "# as curl and wget do", "# coding: utf-8"),
    *("# fetch the results", "def fetch(key):"),
)
UNLIKE_SCRIPTS = (
    *("prefetch(items)", "this.fetch(id)", "// fetch the results", "refetch (x)", "cache.fetch(key)", "$fetch = 1"),
    *("function fetch(id) {", "const fetched = 1", "x = fetches;"),
)


@pytest.mark.parametrize(("gate", "rule", "path"), [(*row, path) for row, paths in PATHS.items() for path in paths])
def test_a_path_calls_for_its_gate(gate: str, rule: str, path: str) -> None:
    assert gates(path).get(gate) == rule


@pytest.mark.parametrize("path", UNLIKE_PATHS)
def test_a_path_that_only_looks_alike_calls_for_none(path: str) -> None:
    assert gates(path) == {}


@pytest.mark.parametrize(("gate", "rule", "line"), [(*row, line) for row, lines in WORDS.items() for line in lines])
def test_a_word_calls_for_its_gate(gate: str, rule: str, line: str) -> None:
    assert (gate, rule, 1) in {(risk.gate, risk.rule, risk.line) for risk in found(FILES.get((gate, rule), CODE), line)}


@pytest.mark.parametrize(
    ("path", "line"),
    [*((CODE, line) for line in UNLIKE_WORDS), *((SCRIPT, line) for line in UNLIKE_SCRIPTS)],
)
def test_a_word_that_only_looks_alike_calls_for_none(path: str, line: str) -> None:
    assert gates(path, line) == {}


def test_every_rule_has_its_rows() -> None:
    assert {(rule.gate, rule.name) for rule in BUILT_IN} == {*PATHS, *WORDS}


@pytest.mark.parametrize("path", ["tests/test_cart.py", "src/cart.test.ts", "pkg/cart_test.go", "src/cart.spec.ts"])
def test_words_of_tests_call_for_no_security_and_nothing_external(path: str) -> None:
    assert gates(path, "password = 'x'", "requests.get(url)", "import boto3") == {}
    assert gates(path, "CREATE TABLE users (") == {"database": "schema in code"}


def test_what_counts_as_a_test_is_the_callers_word() -> None:
    change = Change(path="checks/a.py", how="added", blob="b")
    added = AddedText(path="checks/a.py", lines=((1, "password"),))
    assert risks_in((change,), (added,), rules(tests=("checks/**",))) == ()
    assert len(risks_in((change,), (added,), rules())) == 1


def test_a_persons_own_paths_add_to_a_gate_or_make_one() -> None:
    own = (("security", ("src/shop/**",)), ("legal", ("**/LICENSE", "docs/**")), ("empty", ()))
    assert [(risk.gate, risk.rule) for risk in found(CODE, own=own)] == [("security", "[gates.security] paths")]
    assert [(risk.gate, risk.rule) for risk in found("LICENSE", own=own)] == [("legal", "[gates.legal] paths")]
    assert found("docs/systems/s-1/SPEC.md", "password", own=own) == ()


ORDINARY = {
    "src/shop/cart.py": """\
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cart:
    \"\"\"What a customer is about to buy, by the author of the shop.\"\"\"

    lines: tuple[Line, ...] = ()

    def total(self) -> Money:
        return sum((line.price * line.count for line in self.lines), Money(0))
""",
    "src/shop/words.py": """\
def tokenize(text: str) -> list[str]:
    return [word for word in text.lower().split() if word not in STOP_WORDS]


MAX_TOKENS = 4096  # of one prompt
""",
    "src/shop/report.py": """\
def table_of(rows):
    table = Table(title="Sales")
    table.add_column("Month")
    for row in rows:
        table.add_row(row.month, str(row.total))
    return table
""",
    "web/src/list.tsx": """\
export function List({ items, onSelect }: Props) {
  const [open, setOpen] = useState(false);
  useEffect(() => { prefetch(items); }, [items]);
  return <ul className="striped">{items.map((item) => <li key={item.id}>{item.name}</li>)}</ul>;
}
""",
    "cmd/serve/main.go": """\
func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	log.Fatal(http.ListenAndServe(":8080", mux))
}
""",
    "tests/test_login.py": """\
def test_a_wrong_password_is_refused(client):
    assert client.post("/login", data={"password": "wrong"}).status_code == 401
""",
    "web/static/site.css": ".row:nth-child(odd) { background: var(--stripe); }\n",
    "README.md": "Set `API_KEY` and your password, then call `requests.get`.\n",
    "docs/guide/auth.md": "How access works, with tokens and secrets.\n",
    "docs/systems/cart/VALIDATION.md": "## Security\nNo secret, no password, no CREATE TABLE users.\n",
    "uv.lock": 'hash = "sha256:0123"\n',
    "docs/guide/results.md": "Fetch the results: `curl https://x.y`, or open a socket and `fetch(url)`.\n",
    "docs/openapi.yaml": "security:\n  - bearer: []\n",
    "CHANGELOG.md": "- passwords are stored with bcrypt\n",
    "Makefile": "test:\n\tpytest -q\n",
}


@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_changes_call_for_nothing(path: str) -> None:
    assert found(path, *ORDINARY[path].splitlines()) == ()


@pytest.mark.parametrize(
    ("path", "calls"),
    [
        ("docs/conf.py", True),
        ("docs/systems/sys-001/impl.py", True),
        ("src/shop/changes", True),
        ("web/pages/cart.mdx", True),
        ("docs/k8s/job.yaml", True),
        ("docs/compose.yml", True),
        ("docs/howto.yaml", False),
        ("docs/systems/sys-001/SECURITY.md", False),
        ("docs/guide.md", False),
        ("CHANGES", False),
    ],
)
def test_code_is_looked_into_wherever_it_lies(path: str, calls: bool) -> None:  # noqa: FBT001 - a row of the table
    added = AddedText(path=path, lines=((1, "import requests"),))
    found = risks_in((Change(path=path, how="added", blob="b", mode="100644"),), (added,), rules())
    assert bool([risk for risk in found if risk.gate == "external"]) is calls


EVERY_WORD = {"security": "access", "database": "schema in code", "external": "calls over the network"}


@pytest.mark.parametrize(
    "line",
    [
        *("# coding: utf-7", "# -*- coding: unicode_escape -*-", "#!/usr/bin/python # vim: fileencoding=UTF-16"),
        *("\r# coding=rot13", "#\r# coding: utf7", "# encoding: cp037", "# coding: utf-8-too"),
    ],
)
def test_what_is_written_in_another_encoding_may_hold_every_word(line: str) -> None:
    assert gates(CODE, line) == gates("a.svg", "<!--", line) == EVERY_WORD
    assert {each.text for each in found(CODE, line)} == {"it declares another encoding than UTF-8, ASCII or Latin-1"}
    assert gates(CODE, "", "", line) == gates("docs/guide.md", line) == {}


@pytest.mark.parametrize(
    "line",
    [
        *("# coding: utf-8", "# -*- coding: UTF_8 -*-", "# vim: fileencoding=latin-1", "# coding: iso-8859-1"),
        *("# coding=ascii", "# -*- coding: utf-8-unix -*-", "coding: utf-7", "# decoding", "# coding: US-ASCII"),
    ],
)
def test_what_is_written_as_it_is_read_is_looked_into(line: str) -> None:
    assert gates(CODE, line) == {}
