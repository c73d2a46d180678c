"""What holds for every module of the package and every file of the repository."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "mnemic"
MODULES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}

LONGEST = 350
LONGER: dict[str, int] = {}
NETWORK = {
    "socket", "ssl", "http", "urllib", "ftplib", "smtplib", "imaplib", "poplib", "xmlrpc", "socketserver",
    "requests", "httpx", "aiohttp", "websockets", "grpc", "pydantic_ai", "openai", "anthropic", "huggingface_hub",
    "opentelemetry",
}  # fmt: skip
# In halves, so that this file does not name them itself.
HOSTS = [
    "".join(halves)
    for halves in (
        ("py", "pi.org"), ("pypi", ".python.org"), ("pythonhosted", ".org"), ("npm", "js.org"), ("npm", "js.com"),
        ("yarn", "pkg.com"), ("deb.", "debian.org"), ("crates", ".io"), ("proxy.golang", ".org"), ("ana", "conda.org"),
        ("ruby", "gems.org"), ("gh", "cr.io"), ("docker", ".io"), ("hugging", "face.co"), ("hf", ".co/"),
        ("model", "scope.cn"),
    )
]  # fmt: skip


def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module: str) -> set[str]:
    """The top-level packages that a module imports anywhere, ``import_module("…")`` included."""
    found: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "import_module", "__import__", "from_extra", "from_package",
        ):  # fmt: skip
            found |= {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    # What takes addresses apart reaches none.
    return {name.partition(".")[0] for name in found - {"urllib.parse"}}


def called(module: str) -> set[str]:
    """Names that a module calls as plain functions."""
    return {
        node.func.id
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_at_most_350_lines(module):
    lines = MODULES[module].read_text(encoding="utf-8").count("\n")
    assert lines <= LONGER.get(module, LONGEST)
    assert module not in LONGER or lines > LONGEST, f"{module} fits again: take it off the list"


def test_no_exception_stands_for_a_module_that_is_gone():
    assert set(LONGER) <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_neither_prints_nor_runs_data(module):
    assert called(module) & {"print", "eval", "exec", "compile", "input", "breakpoint"} == set()
    assert imported(module) & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"} == set()


@pytest.mark.parametrize("module", MODULES)
def test_only_the_configuration_reads_the_environment(module):
    text = MODULES[module].read_text(encoding="utf-8")
    reads = any(name in text for name in ("os.environ", "getenv", "environb"))
    assert reads == (module == "config.py")


@pytest.mark.parametrize("module", MODULES)
def test_sql_lives_in_the_store(module):
    sql = imported(module) & {"sqlite3", "sqlalchemy", "alembic", "psycopg"}
    if not module.startswith("store/"):
        # The doctor looks at SQLite's version.
        assert sql == ({"sqlite3"} if module == "doctor.py" else set())


def test_the_doctor_asks_sqlite_for_its_version_alone():
    used = {
        node.attr
        for node in ast.walk(tree("doctor.py"))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sqlite3"
    }
    assert used == {"sqlite_version_info"}


# Fetches benchmark data when a person runs the command that says so.
DOWNLOAD = "bench/datasets/download.py"

# Give their frameworks memory, and ask nobody through them.
ADAPTED = {"adapters/anthropic.py": {"anthropic"}, "adapters/pydantic_ai.py": {"pydantic_ai"}}
# Makes spans for whoever set up an SDK; what sends them is the SDK's exporter.
ADAPTED |= {"telemetry.py": {"opentelemetry"}}


@pytest.mark.parametrize("module", MODULES)
def test_only_models_and_the_download_command_speak_to_a_network(module):
    if not module.startswith("models/") and module != DOWNLOAD:
        assert imported(module) & NETWORK == ADAPTED.get(module, set())


def test_no_file_of_the_repository_names_a_package_registry_or_a_hub():
    named = [f"{path}: {host}" for path, text in texts() for host in HOSTS if host in text]
    assert named == []


def texts() -> Iterator[tuple[str, str]]:
    """Every text file that is in the repository, or would be after the next commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: nothing says which files are the repository's")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in listed.split("\0"):
        path = ROOT / name
        if name and path.is_file():
            yield name, path.read_bytes().decode("utf-8", "replace").lower()
