"""Take out each rule of scripts/mutants.toml in a copy of the tree: the test that it names must fail.

All rules of a crate are in one build: a function that has rules begins, for each of them, with a copy of
itself without that rule, which runs where BENTPIPE_MUTANT is the rule's number. Arguments are parts of the
rules' words or files; without any, all are tried. A rule without a test is tried by all tests of its crate,
and those that fail are listed; one that says why it `survives` is not tried.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "target" / "mutants"
PARTS = ("Cargo.toml", "Cargo.lock", "crates", "scenarios", "bpf", "docs")

SWITCH = """
pub(crate) mod mutants {
    static ON: std::sync::LazyLock<Option<u32>> =
        std::sync::LazyLock::new(|| std::env::var("BENTPIPE_MUTANT").ok()?.parse().ok());
    pub(crate) fn on(number: u32) -> bool {
        *ON == Some(number)
    }
}
"""

QUIET = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^\n]{1,8}?|[^\\'\n])'""", re.DOTALL
)
"""Comments and literals, in which braces mean nothing."""

PATIENCE_S = 120
"""A test that takes longer without a rule than this has noticed."""


@dataclass(frozen=True)
class Rule:
    """A rule, and the change that takes it out."""

    number: int
    file: str
    words: str
    before: str
    after: str
    test: str | None
    survives: str | None

    @property
    def crate(self) -> str:
        """The crate that its file is of."""
        return self.file.split("/")[1]


@dataclass(frozen=True)
class Test:
    """A test of the copy: the program that has it, its name there, and the folder of its crate."""

    program: str
    name: str
    crate: str


def listed() -> list[Rule]:
    """Read the rules."""
    files = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text())
    rules: list[Rule] = []
    for file, told in files.items():
        for one in told["rules"]:
            change = one["rule"], one["from"], one["to"]
            rules.append(Rule(len(rules), file, *change, one.get("test"), one.get("survives")))
    return rules


def bodies(text: str) -> list[tuple[int, int]]:
    """Give from which brace to which the functions of a Rust file go."""
    quiet = QUIET.sub(lambda found: " " * len(found[0]), text)
    found = []
    for begins in re.finditer(r"\bfn\s+\w+", quiet):
        at, depth = begins.end(), 0
        while quiet[at] not in "{;" or depth:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(quiet[at], 0)
            at += 1
        if quiet[at] == ";":
            continue
        start, depth = at, 1
        while depth:
            at += 1
            depth += {"{": 1, "}": -1}.get(quiet[at], 0)
        found.append((start, at))
    return found


def shared(one: str, other: str) -> int:
    """Give how long a beginning two texts share."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def switched(text: str, rules: list[Rule]) -> tuple[str, list[str]]:
    """Give a file with a switch for each rule, and what is wrong with the rules."""
    bad: list[str] = []
    variants: dict[tuple[int, int], list[str]] = defaultdict(list)
    functions = bodies(text)
    for rule in rules:
        times = text.count(rule.before)
        # What stays may reach beyond the function.
        alike = shared(rule.before, rule.after)
        before, after = rule.before[alike:], rule.after[alike:]
        alike_behind = shared(before[::-1], after[::-1])
        before, after = before[: len(before) - alike_behind], after[: len(after) - alike_behind]
        at = text.find(rule.before) + alike
        inside = [(start, end) for start, end in functions if start < at and at + len(before) <= end]
        if times != 1 or not inside:
            where = f"{times} times in {rule.file}" if times != 1 else f"in no function of {rule.file}"
            bad.append(f"{rule.words}: its text stands {where}")
            continue
        start, end = max(inside)
        changed = text[start:at] + after + text[at + len(before) : end + 1]
        variants[start, end].append(f"if crate::mutants::on({rule.number}) {{ return {changed}; }}")
    for (start, _), copies in sorted(variants.items(), reverse=True):
        text = text[: start + 1] + "".join(copies) + text[start + 1 :]
    return text, bad


def copied(rules: list[Rule]) -> list[str]:
    """Make the copy with its switches; give what is wrong with the rules."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, COPY / part)
    bad = []
    for file in {rule.file for rule in rules}:
        path = COPY / file
        text, wrong = switched(path.read_text(), [rule for rule in rules if rule.file == file])
        path.write_text(text)
        bad += wrong
    for crate in {rule.crate for rule in rules}:
        library = COPY / "crates" / crate / "src" / "lib.rs"
        library.write_text(f"#![allow(warnings)]\n{library.read_text()}{SWITCH}")
    return bad


def built(crates: list[str]) -> list[Test]:
    """Build the tests of these crates, and list them."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(ROOT / "target" / "mutants-built"),
        "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
    }
    packages = [word for crate in crates for word in ("-p", f"bentpipe-{crate}")]
    command = ["cargo", "test", "--no-run", "--lib", "--tests", "--message-format=json-render-diagnostics"]
    ran = subprocess.run(
        [*command, *packages], cwd=COPY, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode:
        sys.exit("the copy does not build: a rule without which it cannot be compiled is none")
    tests = []
    for line in ran.stdout.splitlines():
        message = json.loads(line)
        program = message.get("executable")
        if not program:
            continue
        crate = str(Path(message["manifest_path"]).parent)
        names = subprocess.run(
            [program, "--list", "--format", "terse"], cwd=crate, capture_output=True, text=True, check=True
        ).stdout
        tests += [
            Test(program, name.removesuffix(": test"), crate)
            for name in names.splitlines()
            if name.endswith(": test")
        ]
    return tests


def passing(test: Test, names: list[str], environment: dict[str, str]) -> set[str]:
    """Give those of the tests of these names, of one program, that pass."""
    command = [test.program, "--exact", "--test-threads", "1", *names]
    # As cargo has it: golden files are found by it.
    environment = {**environment, "CARGO_MANIFEST_DIR": test.crate}
    try:
        ran = subprocess.run(
            command,
            cwd=test.crate,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        output, whole = ran.stdout, ran.returncode in (0, 101)
    except subprocess.TimeoutExpired as late:
        output, whole = (late.stdout or b"").decode(), False
    passed = set(re.findall(r"^test (\S+) (?:- should panic )?\.\.\. ok$", output, re.MULTILINE))
    rest = [name for name in names if name not in passed]
    if whole or len(names) == 1 or not rest:
        return passed
    # The program ended within one of them, or time did.
    for some in (rest[:1], rest[1:]):
        passed |= passing(test, some, environment) if some else set()
    return passed


def failing(tests: list[Test], number: int | None) -> set[str]:
    """Give those of the tests that fail without the rule of this number."""
    environment = {**os.environ, "BENTPIPE_MUTANT": "" if number is None else str(number)}
    programs: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        programs[test.program].append(test)
    failed: set[str] = set()
    for theirs in programs.values():
        names = [test.name for test in theirs]
        failed |= set(names) - passing(theirs[0], names, environment)
    return {name.rpartition("::")[2] for name in failed}


def main() -> None:
    """Try the rules, and name those that no test noticed."""
    wanted = [rule for rule in listed() if all(word in f"{rule.words} {rule.file}" for word in sys.argv[1:])]
    if not wanted:
        sys.exit(f"no rule of scripts/mutants.toml has the words {' '.join(sys.argv[1:])!r}")
    bad = copied(wanted)
    if bad:
        sys.exit("\n".join(bad))
    tests = built(sorted({rule.crate for rule in wanted}))
    by_name = defaultdict(list)
    for test in tests:
        by_name[test.name.rpartition("::")[2]].append(test)
    named = [test for rule in wanted if rule.test for test in by_name[rule.test]]
    if broken := failing(named, None):
        sys.exit(f"these tests fail with every rule: {', '.join(sorted(broken))}")

    def tried(rule: Rule) -> str:
        if rule.survives:
            return f"may survive: {rule.survives}"
        if rule.test is None:
            theirs = [test for test in tests if test.crate.endswith(f"/{rule.crate}")]
            return f"noticed by {', '.join(sorted(failing(theirs, rule.number))) or 'NO TEST'}"
        if not by_name[rule.test]:
            return f"NO TEST is called {rule.test}"
        return "noticed" if failing(by_name[rule.test], rule.number) else f"NOT NOTICED by {rule.test}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rule, words in zip(wanted, pool.map(tried, wanted), strict=True):
            print(f"{rule.file.removeprefix('crates/')}: {rule.words}: {words}", flush=True)
            if words != "noticed" and not rule.survives:
                bad.append(f"{rule.words}: {words}")
    kept = sum(rule.survives is not None for rule in wanted)
    noticed = len(wanted) - len(bad) - kept
    print(f"{len(wanted)} rules: {noticed} noticed by the tests named for them, {kept} may survive")
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
