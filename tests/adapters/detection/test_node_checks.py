import json
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.detection.node_checks import install_command, node_checks, read_package
from loopwright.adapters.detection.stacks import detect
from tests.adapters.detection.projects import first, look, ways


def package(**said: object) -> dict[str, str]:
    return {"package.json": json.dumps(said)}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"scripts": []}', '{"scripts": {"test": 1}}'])
def test_a_strange_package_json_gives_no_checks(tmp_path: Path, text: str) -> None:
    assert detect(look(tmp_path, {"package.json": text})).prospects == ()


def test_the_test_script_that_npm_writes_is_none(tmp_path: Path) -> None:
    seen = look(tmp_path, package(scripts={"test": 'echo "Error: no test specified" && exit 1'}))
    assert (first(seen), detect(seen).notes) == ({}, ("package.json has no script 'test'",))


@pytest.mark.parametrize(
    ("scripts", "command"),
    [
        ({"test": "jest"}, "npm test"),
        ({"test": "mocha", "pretest": "tsc"}, "npm test"),
        ({"test": "tape", "pretest": "npm run lint", "posttest": "audit"}, "npm test --ignore-scripts"),
        ({"test": "tap", "pretest": "npm run build"}, "npm test"),
    ],
)
def test_what_lints_around_the_tests_is_left_out_and_what_builds_for_them_is_not(
    tmp_path: Path, scripts: dict[str, str], command: str
) -> None:
    assert first(look(tmp_path, package(scripts=scripts)))["test"] == command


@pytest.mark.parametrize(
    ("files", "said", "manager", "install"),
    [
        ({}, {}, "npm", "npm install"),
        ({"package-lock.json": ""}, {}, "npm", "npm ci"),
        ({"pnpm-lock.yaml": ""}, {}, "pnpm", "pnpm install --frozen-lockfile"),
        ({"yarn.lock": ""}, {}, "yarn", "yarn install --frozen-lockfile"),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, {}, "yarn", "yarn install --immutable"),
        ({"yarn.lock": "# made by it\n\n__metadata:\n  version: 8\n"}, {}, "yarn", "yarn install --immutable"),
        ({"pnpm-lock.yaml": ""}, {"packageManager": "pnpm@9.1.0"}, "pnpm", "pnpm install --frozen-lockfile"),
        ({"yarn.lock": ""}, {"packageManager": "yarn@4.1.0"}, "yarn", "yarn install --immutable"),
        ({"yarn.lock": ""}, {"packageManager": "yarn@1.22.0"}, "yarn", "yarn install --frozen-lockfile"),
        ({"bun.lock": ""}, {}, "bun", "bun install --frozen-lockfile"),
        # A lock file that is not the manager's own locks nothing for it.
        ({"package-lock.json": ""}, {"packageManager": "pnpm@9.1.0"}, "pnpm", "pnpm install"),
        ({".yarnrc.yml": ""}, {"packageManager": "yarn@4.1.0"}, "yarn", "yarn install"),
    ],
)
def test_the_package_manager_is_the_one_whose_lock_file_is_there(
    tmp_path: Path, files: dict[str, str], said: dict[str, object], manager: str, install: str
) -> None:
    seen = look(tmp_path, {**files, **package(**said)})
    found = read_package(seen)
    assert found is not None
    assert (found.manager, " ".join(install_command(seen, found))) == (manager, install)


def test_a_checkout_gets_the_modules_of_all_workspaces_from_the_person(tmp_path: Path) -> None:
    files = {"node_modules/a/index.js": "", "packages/b/node_modules/c/node_modules/d/x.js": ""}
    seen = look(tmp_path, {**files, **package(scripts={"test": "jest"}, devDependencies={"jest": "1"})})
    (way,) = node_checks(seen).prospects[0].ways
    assert (way.copy, way.setup) == (("node_modules", "packages/b/node_modules"), ())


def test_without_modules_a_checkout_installs_what_is_locked(tmp_path: Path) -> None:
    said = package(scripts={"test": "jest"}, devDependencies={"jest": "1"})
    (way,) = node_checks(look(tmp_path, {**said, "package-lock.json": "{}"})).prospects[0].ways
    assert (way.copy, way.setup) == ((), (("npm", "ci"),))


def test_what_is_not_locked_is_the_person_s_to_install(tmp_path: Path) -> None:
    said = package(scripts={"test": "jest"}, devDependencies={"jest": "1"})
    (prospect,) = node_checks(look(tmp_path, said)).prospects
    assert (prospect.ways[0].setup, prospect.advice) == ((), "npm install")


@pytest.mark.parametrize(
    ("files", "scripts", "checks"),
    [
        ({}, {"lint": "eslint .", "build": "tsc"}, {"lint": "npm run lint", "build": "npm run build"}),
        ({}, {"lint": "x", "postlint": "y"}, {"lint": "npm run lint --ignore-scripts"}),
        ({"eslint.config.js": ""}, {}, {"lint": "node_modules/.bin/eslint ."}),
        ({".eslintrc": ""}, {}, {"lint": "node_modules/.bin/eslint ."}),
        ({"biome.json": ""}, {}, {"lint": "node_modules/.bin/biome ci ."}),
        ({"tsconfig.json": ""}, {}, {"typecheck": "node_modules/.bin/tsc --noEmit"}),
        ({"tsconfig.json": ""}, {"type-check": "tsc"}, {"typecheck": "npm run type-check"}),
    ],
)
def test_linters_are_scripts_or_configured(
    tmp_path: Path, files: dict[str, str], scripts: dict[str, str], checks: dict[str, str]
) -> None:
    assert first(look(tmp_path, {**files, **package(scripts=scripts)})) == checks


@pytest.mark.parametrize(
    ("said", "files", "advice"),
    [
        ({"devDependencies": {"jest": "29"}}, {"package-lock.json": ""}, "npm install -D eslint"),
        ({}, {"yarn.lock": ""}, "yarn add -D eslint"),
        ({"devDependencies": {"eslint": "9"}}, {"package-lock.json": ""}, "npm ci"),
        ({"devDependencies": {"jest": "29"}}, {"package-lock.json": "", "node_modules/.bin/eslint": ""}, "npm ci"),
        # An installation helps only where it brings something.
        ({"devDependencies": {"eslint": "9"}}, {"package-lock.json": "", "node_modules/eslint/index.js": ""}, ""),
        ({"devDependencies": {"eslint": "9"}}, {"yarn.lock": "", ".pnp.cjs": ""}, ""),
        ({"optionalDependencies": {"eslint": "9"}}, {"node_modules/other/index.js": ""}, ""),
        ({"workspaces": ["packages/*"]}, {"package-lock.json": ""}, "npm ci"),
    ],
)
def test_a_tool_in_no_list_of_dependencies_is_to_be_added(
    tmp_path: Path, said: dict[str, object], files: dict[str, str], advice: str
) -> None:
    package = json.dumps({"scripts": {"lint": "eslint src"}, **said})
    (lint,) = detect(look(tmp_path, {"package.json": package, **files})).prospects
    assert lint.advice == advice


@pytest.mark.parametrize(
    ("runner", "file", "line"),
    [
        ("jest", "jest.config.js", 'modulePathIgnorePatterns: ["<rootDir>/.loop/", "<rootDir>/.worktrees/"]'),
        ("vitest", "vite.config.ts", 'test: { exclude: [...configDefaults.exclude, ".loop/**", ".worktrees/**"] }'),
    ],
)
def test_a_runner_that_looks_into_every_folder_is_to_be_told_of_ours(
    tmp_path: Path, runner: str, file: str, line: str
) -> None:
    files = package(scripts={"test": runner}, devDependencies={runner: "1"})
    (note,) = detect(look(tmp_path, files)).notes
    assert note.endswith(f"your own {runner} finds its tests as well, unless you add: {line}")
    assert detect(look(tmp_path, {file: line})).notes == ()


@pytest.mark.parametrize(
    ("script", "version", "is_told"),
    [
        ("node --test", "v20.20.2\n", True),
        ("NODE_ENV=test node --no-warnings --test --test-reporter=spec && echo done", "v18.0.0", True),
        ("node --test", "", True),
        ("node --test", "v22.1.0", False),
        ("node --test test/", "v20.20.2", False),
        ("node --test-only lib/a.js", "v20.20.2", False),
    ],
)
def test_nodes_own_runner_is_to_be_told_where_the_tests_are(
    tmp_path: Path, script: str, version: str, *, is_told: bool
) -> None:
    seen = replace(look(tmp_path, package(scripts={"test": script})), ask=lambda _argv: version)
    assert any("`node --test test/`" in note for note in detect(seen).notes) == is_told


MS = {"test": "pnpm run test:node && pnpm run test:edge", "test:node": "jest --env node", "test:edge": "jest 'x"}


@pytest.mark.parametrize(
    ("scripts", "programs", "expected"),
    [
        (MS, (), ["pnpm test", "node_modules/.bin/jest --env node"]),
        (MS, ("pnpm",), ["pnpm test"]),
        ({"test": "pnpm run test"}, (), ["pnpm test"]),
        ({"test": "vitest run"}, (), ["pnpm test"]),
        ({"test": "pnpm build && jest"}, (), ["pnpm test", "node_modules/.bin/jest"]),
    ],
)
def test_where_the_manager_is_missing_the_runner_is_started_itself(
    tmp_path: Path, scripts: dict[str, str], programs: tuple[str, ...], expected: list[str]
) -> None:
    files = package(scripts=scripts, packageManager="pnpm@10.0.0") | {"node_modules/.bin/jest": ""}
    assert ways(node_checks(look(tmp_path, files, *programs)), "test") == expected
