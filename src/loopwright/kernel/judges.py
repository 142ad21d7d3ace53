"""Files that judge by their name alone: what a tool finds by itself once it lies in the tree. The one list of names."""

from __future__ import annotations

import fnmatch
import re
from enum import StrEnum
from functools import lru_cache


class Judge(StrEnum):
    """Why a name judges, in words that complete "this file …"."""

    RUNNER = "says how checks run"
    OPENED = "runs on a person's machine when the folder is opened or a commit is made"
    FORGE = "is run by a forge"
    MANIFEST = "decides what is installed"
    LOCK = "fixes which versions are installed"
    BUILD = "says how things are built"
    COMPILED = "is compiled code, which nobody can read"
    PLANTED = "is found and run by an interpreter or a package manager by itself"
    HIDDEN = "is a hidden file, which tools read by themselves"


INSTALLING = (Judge.MANIFEST, Judge.LOCK)

# Patterns of file names, in whatever folder they lie; all in lower case, for file systems that do not tell it apart.
_NAMES: tuple[tuple[Judge, tuple[str, ...]], ...] = (
    (
        Judge.RUNNER,
        (
            *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml"),
            *(".coveragerc", "mypy.ini", ".mypy.ini", ".flake8", "ruff.toml", ".ruff.toml", "noxfile.py", "loop.toml"),
            *("pylintrc", ".pylintrc", "pylintrc.toml", "pyrightconfig.json", "unittest.cfg", "nose.cfg", ".noserc"),
            *("nose2.cfg", "behave.ini", ".behaverc", ".pre-commit-config.y*ml", "clippy.toml", ".clippy.toml"),
            *("codecov.y*ml", ".codecov.y*ml", ".golangci.*", ".nycrc*", ".c8rc*", ".taprc", ".mocharc*", "mocha.opts"),
            *("jest.config*", "jest.setup*", "jest-setup*", "setup-jest*", "setupjest*", "jest.preset*", "jest.json"),
            *("jest-*.json", "setuptests.*", "setup-tests.*", "test-setup.*", "setupfilesafterenv.*"),
            *("vitest.*", "vite.config*", "karma.conf*", "playwright.config*", "cypress.*", "wdio.conf*"),
            *("nightwatch.conf*", "protractor.conf*", "ava.config*", "jasmine.json", "testem.*", ".testcaferc*"),
            *(".eslintrc*", ".eslintignore", "eslint.config*", "tslint.json", "biome.json*", "phpunit*.xml*"),
            *(
                "phpstan.neon*",
                "psalm.xml*",
                ".rspec",
                "spec_helper.rb",
                "rails_helper.rb",
                "test_helper.rb",
                "test_helper.exs",
            ),
            *("testng.xml", "junit-platform.properties", "xunit.runner.json", "*.runsettings", "nextest.toml"),
            *("sonar-project.properties", "deny.toml", "rustfmt.toml", ".rustfmt.toml"),
        ),
    ),
    (Judge.OPENED, (".envrc", ".mcp.json", "lefthook.y*ml", ".lefthook*", ".lintstagedrc*", "lint-staged.config*")),
    (
        Judge.FORGE,
        (
            *(".gitlab-ci.y*ml", ".travis.y*ml", "azure-pipelines*.y*ml", "bitbucket-pipelines.y*ml", "jenkinsfile*"),
            *("appveyor.y*ml", ".appveyor.y*ml", ".cirrus.y*ml", ".drone.y*ml", "cloudbuild.y*ml", "buildspec.y*ml"),
        ),
    ),
    (
        Judge.LOCK,
        (
            *("*.lock", "*-lock.json", "*-lock.yaml", "*.lock.json", "*.lockb", "*.lockfile", "go.sum", "go.work.sum"),
            *("npm-shrinkwrap.json", "package.resolved", "pylock*.toml"),
        ),
    ),
    (
        Judge.MANIFEST,
        (
            *("pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements*.in", "constraints*.txt"),
            *(
                "*[-_]requirements.txt",
                "pipfile",
                "environment.y*ml",
                "environment-*.y*ml",
                "pip.conf",
                "uv.toml",
                "poetry.toml",
            ),
            *("pdm.toml", "hatch.toml", "pixi.toml", "package.json", "package.yaml", "package.json5", "cargo.toml"),
            *("go.mod", "go.work", "gemfile", "*.gemspec", "composer.json", "pom.xml", "build.gradle*"),
            *("settings.gradle*", "gradle.properties", "libs.versions.toml", "*.csproj", "*.fsproj", "*.vbproj"),
            *("*.sln", "*.slnx", "directory.*.props", "directory.*.targets", "nuget.config", "mix.exs"),
            *("deps.edn", "project.clj", "build.sbt", "package.swift", "podfile", "pubspec.yaml", "rebar.config"),
            *("dune-project", "*.opam", "stack.yaml", "*.cabal", "cabal.project", "conanfile.*", "vcpkg.json"),
            *(".python-version", ".nvmrc", ".node-version", ".tool-versions", ".ruby-version", "rust-toolchain*"),
            *(".npmrc", ".yarnrc*", ".pnpmfile.*", "pnpm-workspace.yaml", "deno.json*", "jsr.json", "bunfig.toml"),
            *("bower.json", "binding.gyp", "lerna.json", "rush.json", "mise.toml", ".mise.toml", "devbox.json"),
        ),
    ),
    (
        Judge.BUILD,
        (
            *("makefile", "makefile.[!p]*", "gnumakefile", "bsdmakefile", "*.mk", "*.mak", "*.make", "cmakelists.txt"),
            *("*.cmake", "cmakepresets.json", "cmakeuserpresets.json", "configure", "configure.ac", "configure.in"),
            *("meson.build", "meson_options.txt", "meson.options", "sconstruct", "sconscript", "wscript", "build.rs"),
            *("build.zig", "build.zig.zon", "build.xml", "justfile", ".justfile", "*.just", "taskfile.y*ml"),
            *("taskfile.dist.y*ml", "rakefile", "*.rake", "gulpfile.*", "gruntfile.*", "*.config.[cm]js"),
            *("*.config.[cm]ts", "*.config.js", "*.config.ts", "*.config.json", ".babelrc*", ".swcrc*"),
            *("tsconfig*.json", "jsconfig*.json", "metro.config*", "dockerfile*", "*.dockerfile", "containerfile*"),
            *("docker-compose*.y*ml", "compose.y*ml", "compose.*.y*ml", "vagrantfile", "procfile", "tiltfile"),
            *("earthfile", "flake.nix", "default.nix", "shell.nix", "workspace", "workspace.bazel", "module.bazel"),
            *("build.bazel", "*.bzl", "nx.json", "turbo.json", "manifest.in", "hatch_build.py", "angular.json"),
            *("project.json", "phing.xml", "gradlew*", "mvnw*", "*.gradle", "*.gradle.kts"),
        ),
    ),
    (
        Judge.COMPILED,
        (
            *("*.py[cod]", "*.so", "*.so.*", "*.dll", "*.dylib", "*.class", "*.jar", "*.war", "*.wasm", "*.node"),
            *("*.o", "*.obj", "*.a", "*.lib", "*.exe", "*.egg", "*.whl", "*.phar", "*.beam", "*.ko", "*.bc"),
            *("*.rlib", "*.rmeta", "*.gem", "*.nupkg", "*.dex", "*.jsc", "*.hi", "*.cm[aiox]", "*.cmxs"),
            *("*.pkl", "*.pickle", "*.dill"),  # loading them runs what they say
        ),
    ),
    (
        Judge.PLANTED,
        (
            *("sitecustomize.*", "usercustomize.*", "*.pth", "*._pth", "*.egg-link", "pyvenv.cfg", "entry_points.txt"),
            *("__editable__*", ".pnp.*"),
        ),
    ),
)

# At the top of the tree they steer; deeper down these are names like any other.
_AT_THE_TOP: tuple[tuple[Judge, tuple[str, ...]], ...] = (
    (Judge.RUNNER, ("run*test*", "runtests", "testrunner.*", "test_runner.*", "test-runner.*")),
    (Judge.MANIFEST, ("global.json",)),
    (Judge.BUILD, ("tasks.py", "fabfile.py", "dodo.py", "pavement.py", "manage.py", "build", "build.py", "make.*")),
    (Judge.PLANTED, ("__init__.py", "__main__.py", "index.node")),
)

_FOLDERS: tuple[tuple[Judge, tuple[str, ...]], ...] = (
    (Judge.RUNNER, ("__mocks__", ".cargo", ".config")),
    (Judge.OPENED, (".vscode", ".idea", ".devcontainer", ".claude", ".husky", ".githooks", "githooks", "git-hooks")),
    (Judge.FORGE, (".circleci", ".buildkite", ".ci", ".gitlab", ".woodpecker", ".teamcity", ".tekton")),
    (Judge.MANIFEST, ("requirements",)),
    (
        Judge.PLANTED,
        (
            *("*.dist-info", "*.egg-info", "*.egg", "__pycache__", "__pypackages__", "site-packages", "node_modules"),
            *("sitecustomize", "usercustomize", ".venv", "venv", ".tox", ".nox", ".yarn", "bower_components"),
        ),
    ),
)
_FOLDERS_AT_THE_TOP: tuple[tuple[Judge, tuple[str, ...]], ...] = (
    (Judge.FORGE, (".github/workflows", ".github/actions")),
    (Judge.PLANTED, ("vendor",)),
)
_HOOK = re.compile(r"(?:^|/)hooks/(?:pre|post|commit|prepare|applypatch|update|push)[a-z-]*(?:\.\w+)?$")
_SHOWN = frozenset(
    {
        *(".gitignore", ".editorconfig", ".mailmap", ".gitkeep", ".keep", ".git-blame-ignore-revs"),
        *(".all-contributorsrc", ".well-known", ".zenodo.json"),
    }
)


def _compiled(groups: tuple[tuple[Judge, tuple[str, ...]], ...]) -> tuple[tuple[Judge, re.Pattern[str]], ...]:
    return tuple((judge, re.compile("|".join(map(fnmatch.translate, patterns)))) for judge, patterns in groups)


_BY_NAME, _BY_TOP_NAME = _compiled(_NAMES), _compiled(_AT_THE_TOP)
_BY_FOLDER = _compiled(_FOLDERS)


@lru_cache(maxsize=1 << 16)  # several steps of a verification ask for every path of the tree
def judge_by_name(path: str) -> Judge | None:
    """Why this path is never an agent's to change freely; None where its name says nothing."""
    *folders, name = path.lower().split("/")
    found = _first(_BY_NAME, name) or (None if folders else _first(_BY_TOP_NAME, name))
    for folder in folders:
        found = found or _first(_BY_FOLDER, folder)
    return found or _by_place(path.lower(), (*folders, name))


def _by_place(path: str, parts: tuple[str, ...]) -> Judge | None:
    for judge, folders in _FOLDERS_AT_THE_TOP:
        if any(path.startswith(f"{folder}/") for folder in folders):
            return judge
    if _HOOK.search(path):
        return Judge.OPENED
    return Judge.HIDDEN if any(part.startswith(".") and part not in _SHOWN for part in parts) else None


def _first(groups: tuple[tuple[Judge, re.Pattern[str]], ...], name: str) -> Judge | None:
    return next((judge for judge, pattern in groups if pattern.match(name)), None)


def is_installing(path: str) -> bool:
    """Whether set-up reads it to decide what to install."""
    return judge_by_name(path) in INSTALLING


_TEXTS = re.compile(
    r"""\.(?:md|mdx|markdown|rst|adoc|asciidoc|org|textile|tex|bib|po|pot|png|jpe?g|gif|svg|webp|ico|bmp|pdf|drawio
        |puml|mmd|cff|ipynb|[1-9])$
      | (?:^|/)(?:docs?|documentation|man|manual|changes|changelog\.d|newsfragments|news\.d|release-?notes|rfcs?|adr
        |artwork|screenshots|website|site)/
      | (?:^|/)mkdocs\.ya?ml$
    """,
    re.VERBOSE,
)
_TEXT_NAMES = re.compile(
    r"""(?:^|/)(?:readme|changes|changelog|history|news|release(?:[-_ ]?notes)?|releasing|upgrading|licen[cs]es?
        |unlicense|copying|copyright|notice|patents|authors|contributors|contributing|maintainers|credits|thanks
        |acknowledge?ments|codeowners|code_of_conduct|conduct|security|governance|todo|faq|roadmap|citation)
        (?:[-_.][^/]*)?$
    """,
    re.VERBOSE,
)
_EXAMPLES = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?|bench(?:es|suite)?|asv_bench|perf|fuzz|notebooks?|tutorials?)/"
)
_SOURCES = re.compile(
    r"""\.(?:py[xiw]?|pxd|[cm]?[jt]sx?|vue|svelte|astro|rs|go|java|kts?|scala|groovy|clj[cs]?|rb|php|cs|fs|vb|swift|m|mm
        |c|cc|cpp|cxx|h|hh|hpp|hxx|inl|cu|f|f90|f95|s|asm|zig|nim|d|ml|mli|hs|erl|hrl|ex|exs|elm|dart|lua|pl|pm|t|tcl
        |r|jl|sh|bash|zsh|fish|ps1|bat|awk|sql|proto|thrift|graphql|gql|wat|v|sv|vhdl?|lisp|el|scm|rkt|cr|sol|coffee
        |css|scss|sass|less|html?|j2|jinja2?|tmpl|hbs|ejs|pug)$
    """,
    re.VERBOSE,
)


def is_text(path: str) -> bool:
    """For people to read: no check runs it."""
    bare = path.lower()
    if bare.rpartition("/")[2] in _SHOWN or _TEXTS.search(bare):
        return True
    return _TEXT_NAMES.search(bare) is not None and not is_source(bare)


def is_example(path: str) -> bool:
    """Examples and measurements: code that shows, beside the product."""
    return _EXAMPLES.search(path.lower()) is not None


def is_source(path: str) -> bool:
    return _SOURCES.search(path.lower()) is not None
