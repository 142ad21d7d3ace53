"""Languages of which only words are known: what of their tests they reach for, told by patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from loopwright.adapters.checks.reaching_python import asks
from loopwright.adapters.checks.reaching_signs import (
    ASKS_WHERE_IT_LIES,
    SAYS_WHAT_RUNNERS_SAY,
    SET_FOR_TESTS,
    is_said_by_runners,
)

Look = Callable[[str, str], Iterator[str]]  # of a path and its text

# Only a comment that begins its line is taken away. The other tokens are there to be stepped over: what looks like a
# comment inside a string is none.
_COMMENT = r"(?P<comment>^[ \t]*(?://[^\n]*|/\*.*?\*/))|//[^\n]*|/\*.*?\*/"
_QUOTED = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
_REGEX = r"(?<=[=(,:;!&|?\[{}])[ \t]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"
_TOKENS = {
    "script": re.compile(rf"{_COMMENT}|{_QUOTED}|{_REGEX}|(?P<template>`(?:\\.|[^`\\])*`)", re.MULTILINE | re.DOTALL),
    "rust": re.compile(
        rf"""{_COMMENT}|\br(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'""",
        re.MULTILINE | re.DOTALL,
    ),
    "go": re.compile(rf"{_COMMENT}|{_QUOTED}|`[^`]*`", re.MULTILINE | re.DOTALL),
    "shell": re.compile(r"(?P<comment>^[ \t]*#[^\n]*)", re.MULTILINE),
}


_SHOWN = 60  # characters of what was found
_SET = re.compile("|".join((*sorted(SET_FOR_TESTS), r"\bMAKELEVEL\b")))
_QUOTE = re.compile(rf"{_QUOTED}|`(?:\\.|[^`\\])*`", re.DOTALL)


def _without_comments(text: str, language: str) -> str:
    kept, done = [], 0
    for token in _TOKENS[language].finditer(text):
        if (token.groupdict().get("template") or "").count("${") > token[0].count("}"):
            break  # a template inside a template: where comments are is not known from here on
        if token["comment"] is not None:
            kept.append(text[done : token.start()])
            done = token.end()
    return "".join((*kept, text[done:]))


def _by_words(language: str, *signs: tuple[str, str]) -> Look:
    """Each sign is a pattern and what it means; where the meaning is empty, what was found says it."""
    compiled = [(re.compile(pattern, re.MULTILINE), meaning) for pattern, meaning in signs]

    def look(_path: str, text: str) -> Iterator[str]:
        bare = _without_comments(text, language)
        for pattern, meaning in compiled:
            yield from (meaning or asks(" ".join(found[0].split())[:_SHOWN]) for found in pattern.finditer(bare))
        yield from (asks(found[0]) for found in _SET.finditer(bare))
        if "/.loop/" in bare:
            yield ASKS_WHERE_IT_LIES
        lines = (line for word in _QUOTE.findall(bare) for line in word.strip("\"'`").split("\\n"))
        if any(is_said_by_runners(line) for line in lines):
            yield SAYS_WHAT_RUNNERS_SAY

    return look


_DECIDES = "decides itself how the run ends"
_CHANGES_LOADING = "changes how everybody loads modules"
_CHANGES_JUDGE = "changes what tests judge with"
_JS_RUNNERS = r"(?:node:test(?:/\w+)?|@jest/globals|jest|vitest|mocha|ava|tap|jasmine)"
_JS_STACK = (
    r"(?:\bstack\b[^;\n]{0,40}\bnew\s+Error\(|\bnew\s+Error\([^)]*\)\s*\.stack\b"
    r"|\bError\.prepareStackTrace\s*=(?!=))"
)
_JS_GLOBAL = r"\b(?:globalThis|global)"
_JS_NAMED = r"""['"`](?:jest|describe|expect|test|it|beforeEach|beforeAll|afterEach)['"`]"""
_JS_WORDS = _by_words(
    "script",
    (rf"""(?:require\(|from|import)\s*['"]{_JS_RUNNERS}['"]""", "loads a runner of tests"),
    (r"NODE_TEST_CONTEXT|JEST_WORKER_ID|\bVITEST\w*|\bMOCHA_\w+|\bINIT_CWD\b|\bMAKEFLAGS\b", ""),
    (r"\bnpm_(?:lifecycle_\w+|command|execpath|package_json|package_name)\b", ""),
    (r"""NODE_ENV\b['"\])\s]*[!=]==?\s*['"`]test|['"`]test['"`]\s*[!=]==?\s*process\.env\.NODE_ENV""", ""),
    (
        r"""['"`]test['"`]\s*\]\s*\.includes\(\s*process\.env\.NODE_ENV|switch\s*\([^)]*NODE_ENV\b[^}]{0,200}case\s*['"`]test""",
        "",
    ),
    (r"""['"`](?:JEST|VITEST|MOCHA|npm)_?['"`]""", ""),
    (rf"""{_JS_GLOBAL}\s*(?:\?\.)?\[\s*{_JS_NAMED}|{_JS_NAMED}\s+in\s+{_JS_GLOBAL}""", ""),
    (rf"""\b(?:Object|Reflect)\.\w+\(\s*{_JS_GLOBAL}\b[^;\n]{{0,60}}{_JS_NAMED}""", ""),
    (rf"""\{{[^{{}}=]{{0,200}}\b(?:jest|describe|expect|test|it)\b[^{{}}=]{{0,200}}\}}\s*=\s*{_JS_GLOBAL}\b""", ""),
    (rf"""{_JS_GLOBAL}\.(?:test|it)\s*=(?!=)|^\s*(?:expect|describe)\s*=(?!=)""", _CHANGES_JUDGE),
    (rf"""\b(?:Object|Reflect)\.definePropert\w+\(\s*{_JS_GLOBAL}\s*,\s*{_JS_NAMED}""", _CHANGES_JUDGE),
    (r"(?<![\w.])(?:assert|expect|test|it|describe|jest)(?:\.\w+)+\s*=(?!=)|\bexpect\.extend\(", _CHANGES_JUDGE),
    (r"Object\.(?:assign|definePropert\w+)\(\s*(?:assert|expect)\b", _CHANGES_JUDGE),
    (r"(?:\.stack\b|require\.main|module\.parent|argv\[1\])[^\n]{0,300}(?:test|jest|mocha)", ""),
    (r"(?:test|jest|mocha)[^\n]{0,300}(?:\.stack\b|require\.main|argv\[1\])", ""),
    (rf"{_JS_STACK}[^\0]{{0,600}}?['\"`/][\w./-]*(?:tests?|spec|jest|mocha)\b(?!\()", asks("by its callers")),
    (
        r"\bprocess\.(?:argv|execArgv)\.(?:some|find|join)\b[^\n]{0,300}\btest\b(?!\()",
        asks("by what its runner was started with"),
    ),
    (
        r"\bprocess\.execArgv\b[^\n]{0,300}test|/[^/\n]{0,80}\btest\b[^/\n]{0,80}/\w*\.test\([^)\n]{0,80}\bprocess\.(?:argv|execArgv)\b",
        asks("by what its runner was started with"),
    ),
    (r"\bmodule\s*\.\s*parent\s*\??\.\s*(?:filename|id|path)\b[^\0]{0,300}?test", asks("by who loads it")),
    # To load a file anew, its entry is deleted; all else looks at what others loaded.
    (r"(?<!delete )\brequire\s*\.\s*cache\b(?![^;]{0,200}\bdelete\s+require\.cache)", asks("by what is loaded")),
    (
        r"(?:typeof\s+|\b(?:globalThis|global)\??\.)(?:jest|describe|expect|vi|before(?:Each|All)|after(?:Each|All))\b",
        "",
    ),
    (r"\b(?:globalThis|global)\??\.(?:test|it|suite|specify)\b(?!\s*=[^=])", ""),
    (r"\bModule\._cache\b|\brequire\(\s*['\"](?:node:)?module['\"]\s*\)\._cache\b", asks("by what is loaded")),
    (r"\bAssertion\.(?:prototype\.\w+\s*=(?!=)|(?:overwrite|add)(?:Chainable)?(?:Method|Property)\()", _CHANGES_JUDGE),
    (r"\btry\s*\{\s*(?:void\s+)?(?:jest|describe|expect|test|it)\s*;|\bSymbol\.for\([^)\n]*jest", ""),
    (r"\basymmetricMatch\b|jest\.asymmetricMatcher", "has a value that matches whatever is expected"),
    (r"\bnew\s+(?:[\w$]+\.)?(?:Default)?Serializer\s*\(", "speaks as children speak to a runner (Serializer)"),
    (r"\brequire\.extensions\s*\[[^\]\n]*\]\s*=(?!=)", _CHANGES_LOADING),
    (r"\b[\w$]+\.(?:_load|_resolveFilename|_compile|prototype\.(?:require|_compile))\s*=(?!=)", _CHANGES_LOADING),
    (r"reallyExit|process\.on\(\s*['\"]exit['\"][^\n]{0,300}exit\(0", _DECIDES),
)
_JS_ENDS_WELL = re.compile(r"process\.exitCode\s*=\s*0")
# What a file does as a program of its own; who gives `module` another meaning may mean anything by it.
_JS_AS_PROGRAM = re.compile(r"\bif\s*\(\s*(?:require\.main\s*===?\s*module|import\.meta\.main)\s*\)\s*\{")
_JS_NO_PROGRAM = re.compile(r"(?<![.\w$])(?:module|require)\s*=(?![=>])|\bmain\s*=(?!=)")
_ASSERT_LOADED = r"""(?:require|import|getBuiltinModule)\(\s*['"](?:node:)?(?:assert(?:/strict)?|test)['"]\s*\)"""
_ASSERT_NAMED = re.compile(
    rf"""\b([\w$]+)\s*=\s*\(?(?:await\s+)?(?:process\.)?{_ASSERT_LOADED}|import\s+(?:\*\s*as\s+)?([\w$]+)\b[^;'"]*?from\s*['"](?:node:)?assert(?:/strict)?['"]"""
    r"""|import\s*\{[^}]*?\b(?:strict|default)\s+as\s+([\w$]+)[^}]*\}\s*from\s*['"](?:node:)?assert(?:/strict)?['"]"""
)


_JS_KINDS = r"(?:String|RegExp|Array|Number|Object|Map|Set|Boolean|Date|Promise|Buffer)\.prototype"
_JS_ASKED = (
    r"(?:includes|startsWith|endsWith|indexOf|match|test|exec|toString|toJSON|valueOf|equals|every|some|map|filter|join|slice"
    r"|trim|replace|split|then|get|has|hasOwnProperty)"
)
_JS_BUILT_IN = re.compile(
    rf"(?<![\w.$])((?:Object|JSON|Number|Math|Reflect)\.[a-z]\w*|{_JS_KINDS}\.{_JS_ASKED})\s*=(?![=>])"
)


# Words that are also names of a program's own: given a meaning in the file, they are not the runner's.
_JS_ASKED_FOR = re.compile(r"\btypeof\s*\(?\s*(test|it|suite|specify|before|after)\b(?!\s*[.\[(])")
_JS_MEANING = (
    r"(?<!declare )\b(?:const|let|var|function\*?|class)\s+(?:[{{\[][^}}\]]*\b)?{0}\b"
    r"|\bimport\b[^;'\"]*\b{0}\b|,\s*{0}\s*=(?!=)"
    r"|\b(?!(?:if|while|for|switch)\b)[\w$]+\s*\([^()]*\b{0}\b[^()]*\)\s*(?::[^{{\n]*)?\{{"
    r"|\([^()]*\b{0}\b[^()]*\)\s*(?::[^=\n]*)?=>|(?<![\w.$]){0}\s*=>"
)


def _javascript(path: str, text: str) -> Iterator[str]:
    yield from _JS_WORDS(path, text)
    bare = _without_comments(text, "script")
    if _JS_ENDS_WELL.search(_as_module(bare)):
        yield _DECIDES
    for name in sorted(set(_JS_ASKED_FOR.findall(bare))):
        if not re.search(_JS_MEANING.format(name), bare):
            yield asks(f"typeof {name}")
    names = {re.escape(name) for found in _ASSERT_NAMED.findall(bare) for name in found if name}
    called = "|".join(sorted(names)) or r"(?!)"
    judge = rf"(?:{_ASSERT_LOADED}|(?<![\w$.])(?:{called})(?![\w$]))"
    changed = (
        rf"{judge}\s*(?:\.\s*[\w$]+|\[[^\]\n]*\])(?:\s*\.\s*[\w$]+|\[[^\]\n]*\])*\s*(?:\|\||&&|\?\?)?=(?![=>])"
        rf"|\b(?:Object|Reflect)\.(?:assign|definePropert\w+|set\w*)\(\s*{judge}"
    )
    if re.search(changed, bare):
        yield _CHANGES_JUDGE
    if re.search(rf"\b(?:Object|Reflect)\.definePropert\w+\(\s*{_JS_KINDS}\s*,\s*['\"`]{_JS_ASKED}['\"`]", bare):
        yield "replaces what is built in for everybody"
    for found in _JS_BUILT_IN.finditer(bare):
        name = re.escape(found[1])
        # Who gives what is missing asks for it first.
        if not re.search(rf"(?:!\s*|typeof\s+){name}\b|{name}\s*(?:\|\||\?\?|[!=]=)", bare):
            yield f"replaces {found[1]} for everybody"


def _as_module(bare: str) -> str:
    """Without what only its own program runs."""
    begins = _JS_AS_PROGRAM.search(bare) if not _JS_NO_PROGRAM.search(bare) else None
    return bare.replace(_enclosed(bare, begins.end()), "", 1) if begins else bare


_RUST_WORDS = _by_words(
    "rust",
    (r"RUST_TEST_\w+|NEXTEST\w*", ""),
    (
        r"""\bthread::current\(\)[^;]{0,80}\.name\(\)[^;]{0,80}"(?:main|[^"]*test[^"]*)\"""",
        asks("by the name of its thread"),
    ),
    (r"""\benv::var(?:_os)?\(\s*"CARGO(?:_MANIFEST_\w+|_PKG_\w+|_CRATE_\w+)?"\s*\)""", ""),
    (r"""\benv::vars(?:_os)?\(\)[^;]*"(?:CARGO|RUST)""", ""),
    (r"""\bBacktrace::\w+\([^\0]{0,300}?"[^"\n]*\btest""", asks("by its callers")),
    (r"""\benv::args(?:_os)?\(\)[^\0]{0,300}?"[^"\n]*\bdeps\b""", asks("by the name of its program")),
    (r"""#\s*!?\[\s*cfg_attr\s*\([^\]]*\btest\b[^\]"]*\bpath\s*=""", "takes another file in tests"),
    (r"""(?:env::args|current_exe)[^;]*"[^"]*(?:deps|test)[^"]*\"""", asks("by the name of its program")),
)
_PREFERRED = re.compile(r"#\s*\[\s*cfg\s*\([^\]\"]*\btest\b[^\]\"]*\)\s*\]\s*pub(?:\([^)]*\))?\s+use\s[^;*]*;")
_EQUALS = re.compile(
    r"\bPartialEq\b[^{};]*\bfor\b[^{};]*\{\s*(?:#\[[^\]]*\]\s*)*fn\s+eq\s*\(\s*&self\s*,\s*(\w+)[^{]*\{"
)
_CONDITION = re.compile(r"\b(?P<asked>cfg\s*!\s*[(\[{])|#\s*!?\s*\[\s*cfg(?:_attr)?\s*\(")
_STATEMENT = re.compile(r"\)\s*\]\s*(?:(?:let|return|if|match|for|while|loop|break|continue)\b|(?:unsafe\s*)?\{)")
_CHANGES_NO_CODE = re.compile(
    r"\)\s*,\s*(?:no_std|no_main|(?:allow|warn|deny|forbid|expect|windows_subsystem)\b[^,]*)\s*$"
)


def _rust(path: str, text: str) -> Iterator[str]:
    """`#[cfg(test)]` adds what only tests need; without them, code must be what it is with them."""
    yield from _RUST_WORDS(path, text)
    bare = _without_comments(text, "rust")
    bodies = ((found[1], _enclosed(bare, found.end())) for found in _EQUALS.finditer(bare))
    if _PREFERRED.search(bare) and re.search(r"\bpub(?:\([^)]*\))?\s+use\s[^;]*\*", bare, re.MULTILINE):
        yield "takes another name in tests"
    # What cannot be equal, or is never compared, panics.
    if any(not re.search(rf"\b{name}\b|\bfalse\b|!\(", body) for name, body in bodies):
        yield "is equal to everything"
    for found in _CONDITION.finditer(bare):
        whole = _enclosed(bare, found.end())
        condition = re.sub(r'"[^"]*"', "", whole)
        denied = (_enclosed(condition, each.end()) for each in re.finditer(r"\bnot\s*\(", condition))
        if "cfg_attr" in found[0] and _CHANGES_NO_CODE.search(condition):
            continue
        if any(re.search(r"\btest\b", part) for part in ([condition] if found["asked"] else denied)):
            yield asks(" ".join(f"{found[0]}{condition})".split())[:_SHOWN])
        elif re.search(r"\btest\b", condition) and _STATEMENT.match(bare, found.end() + len(whole)):
            yield "takes another way in tests"


def _enclosed(text: str, start: int) -> str:
    """Up to the bracket that closes the one before `start`."""
    depth = 1
    for place in re.finditer(r"[(\[{]|[)\]}]", text[start : start + 2000]):
        depth += 1 if place[0] in "([{" else -1
        if not depth:
            return text[start : start + place.start()]
    return text[start : start + 2000]


_GO = _by_words(
    "go",
    (r"""^\s*(?:const|var)\s+(?:true|false|nil)\b""", _CHANGES_JUDGE),
    (r"""^\s*(?:import\b[^\n]{0,300}?|[\w.]+\s+)?"testing(?:/\w+)?\"""", "imports the runner of tests testing"),
    (r"""\bLookup\(\s*"test\.""", ""),
    (r"""\bflag\.Visit(?:All)?\([^\0]{0,200}?"test\b""", asks("by its flags")),
    (r"""os\.Args\[0\][^\n]{0,300}test|test[^\n]{0,300}os\.Args\[0\]|\bos\.Args\b[^}]{0,200}"[^"\n]*\.test\b""", ""),
    (r"""\bos\.Executable\(\)[^}]{0,200}"[^"\n]*\btest\b""", asks("by the name of its program")),
    (
        r"""\b(?:runtime\.(?:Callers?\w*|Stack)|debug\.Stack)\([^\0]{0,400}?"[^"\n]*(?:(?<![a-z])test\b|\btesting\.)""",
        asks("by its callers"),
    ),
)
_SHELL = _by_words(
    "shell",
    (r"\$\{?PPID\b", asks("by whoever started it")),
    (r"""^[ \t]*trap\s+['"][^'"\n]*\bexit\s+0[^'"\n]*['"]\s+(?:EXIT|0)\b""", _DECIDES),
    (
        r"^[ \t]*(?:function\s+)?(?:exit|diff|cmp|test|grep|false)\s*\(\)|\balias\s+(?:exit|diff|cmp|test)=",
        _CHANGES_JUDGE,
    ),
    (r"/proc/\S*(?:cmdline|environ)", ""),
)
_C = _by_words(
    "go",
    (r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(?:assert|ASSERT|CHECK|EXPECT|REQUIRE|TEST)\w*\b(?!_H)", _CHANGES_JUDGE),
    (r"^[ \t]*#[ \t]*define[ \t]+NDEBUG\b", _CHANGES_JUDGE),
)
_LOADS_RUNNER = "loads a runner of tests"
_PERL = _by_words(
    "shell",
    (r"\bHARNESS_\w+|\bPERL_TEST_\w+|\b(?:TEST|AUTOMATED|AUTHOR|RELEASE)_(?:ACTIVE|TESTING)\b|\bTEST2_\w+", ""),
    (r"^\s*(?:use|require)\s+(?:Test|Test2|TAP)::(?!Harness::Env)\w+", _LOADS_RUNNER),
    (r"\$INC\{\s*['\"]?(?:Test|Test2|TAP)/|%(?:Test|Test2|TAP)::|\b(?:Test|Test2)::\w+(?:::\w+)*->can\b", ""),
    (r"""(?:\$0|\$PROGRAM_NAME|\bcaller\b)[^;]{0,200}(?:\.t\b|\btests?\b)""", asks("by its callers")),
    (r"\bTest::(?:More|Builder|Simple)::\w+\s*=(?!=)|\*\{?['\"]?Test::(?:More|Builder|Simple)::", _CHANGES_JUDGE),
    (r"^\s*END\s*\{[^}]*\$\?\s*=\s*0", _DECIDES),
)
_RUBY = _by_words(
    "shell",
    (r"""^\s*require(?:_relative)?[\s(]+['"](?:minitest|rspec|test/unit|test-unit)\b""", _LOADS_RUNNER),
    (
        r"\bdefined\?[\s(]*\(?(?:::)?(?:RSpec|Minitest|MiniTest|Test::Unit)\b|\bconst_defined\?\(?\s*[:'\"]+(?:RSpec|Mini[Tt]est)",
        "",
    ),
    (
        r"\bRails\.env\.test\?|\b(?:RAILS|RACK|APP|HANAMI)_ENV\b['\"\])\s]*==\s*['\"]test|\bRSPEC_\w+|\bTESTOPTS\b|\bSPEC_OPTS\b",
        "",
    ),
    (
        r"""(?:\$0|\$PROGRAM_NAME|\bcaller(?:_locations)?\b|\$LOADED_FEATURES|\$")[^\n]{0,200}(?:test|spec)""",
        asks("by its callers"),
    ),
    (
        r"\b(?:Minitest|RSpec|Test::Unit)\b[^\n]{0,80}\b(?:class_eval|define_method|prepend|alias_method)\b",
        _CHANGES_JUDGE,
    ),
    (r"^\s*(?:module|class)\s+(?:Minitest|RSpec|Test::Unit)\b", _CHANGES_JUDGE),
    (r"\bat_exit\b[^\0]{0,120}?\bexit!?\s*\(?\s*(?:0|true)\b|\bexit!(?:\s*\(?\s*(?:0|true)\b|\s*$)", _DECIDES),
)
_PHP = _by_words(
    "go",
    (r"\bPHPUNIT_\w+|\b__PHPUNIT_\w+|\bPEST_\w+|\bPARATEST\b", ""),
    (r"^\s*use\s+\\?(?:PHPUnit|Pest)\\", _LOADS_RUNNER),
    (r"""\b(?:class|interface|function)_exists\(\s*(?:['"]\\*|\\)(?:PHPUnit|Pest)|\bdefined\(\s*['"]PHPUNIT""", ""),
    (r"""\b(?:APP|SYMFONY)_ENV\b['"\])\s]*===?\s*['"]test|\brunningUnitTests\(""", ""),
    (
        r"""(?:\bdebug_(?:print_)?backtrace\(|\bget_included_files\(|\bget_declared_classes\()[^\0]{0,300}?(?:[Tt]est|phpunit)""",
        asks("by its callers"),
    ),
    (r"""\bargv\b[^\n]{0,200}(?:phpunit|pest)\b""", asks("by what its runner was started with")),
    (r"\bregister_shutdown_function\([^\0]{0,200}?\bexit\s*\(\s*0", _DECIDES),
)
LOOKS_BY_WORDS: dict[str, Look] = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"), _javascript),
    ".rs": _rust,
    ".go": _GO,
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), _SHELL),
    **dict.fromkeys((".pl", ".pm"), _PERL),
    **dict.fromkeys((".rb", ".rake"), _RUBY),
    ".php": _PHP,
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), _C),
}

# Where what the tested code prints counts its tests, whoever prints it and leaves has counted them.
_LEAVES = "ends or replaces the process that tests it"
_GO_LEAVES = _by_words("go", (r"\b(?:syscall|unix|os)\.(?:Exit|Exec|Raw\w+)\b", _LEAVES))
_JS_LEAVES = _by_words("script", (r"\bprocess\s*\.\s*(?:exit\s*\(\s*(?![1-9])|exit\b(?!\s*\(|Code)|abort\b)", _LEAVES))


def _go_leaves(path: str, text: str) -> Iterator[str]:
    """A program ends itself; a library leaves that to whoever uses it."""
    return iter(()) if re.search(r"^package main\b", text, re.MULTILINE) else _GO_LEAVES(path, text)


def leaves(path: str, text: str) -> Iterator[str]:
    """Whoever only ends leaves tests out, and that is noticed: something must be printed in their place."""
    look = _LEAVING.get(PurePosixPath(path).suffix)
    if look and any(_PRINTED.search(word) for word in _QUOTE.findall(text)):
        yield from look(path, text)


_PRINTED = re.compile(r"(?:\b|(?<=\\[nrt]))(?:ok|OK|pass(?:ed|ing)?|PASS(?:ED)?|tests)\b")
_LEAVING: dict[str, Look] = {
    ".py": _by_words(
        "shell",
        (r"\b(?:os\s*\.\s*)?exec[lv]p?e?\s*\(|\bos\s*\.\s*exec[lv]p?e?\b", _LEAVES),
        (r"\bctypes\b[^\n]*\b_?exit\b", _LEAVES),
    ),
    ".rs": _by_words(
        "rust",
        (r"\bprocess::exit\s*\(\s*(?![1-9])|\buse\s+std::process::(?:exit|\{[^}]*\bexit\b)", _LEAVES),
        (r"\b_exit\s*\(|\blibc::exit\b", _LEAVES),
    ),
    ".go": _go_leaves,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), _JS_LEAVES),
}
