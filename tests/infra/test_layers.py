"""Packing: the same bytes from the same tree, bytecode that Lambda will use, and nothing of this machine inside."""

import base64
import hashlib
import importlib.util
import marshal
import shutil
import sys
import zipfile
from pathlib import Path
from types import CodeType

import pytest

from infra.topology import TOPOLOGY
from layers.archive import Archive, measure, pack
from layers.build import LARGEST as LARGEST_LAYERS
from layers.build import build_layer, check_together
from layers.bytecode import compiler
from layers.dependencies.build import build_dependencies
from layers.errors import BytecodeError, DependenciesError, PackagingError, TaskRootError, TooLarge
from layers.product.build import CERTIFICATES, build_product
from layers.target import THIS_MACHINE
from layers.task_root import LARGEST, build_task_root
from layers.wheels import build_wheels
from tests.conftest import Dose

_ROOT = Path(__file__).resolve().parents[2]
_needs_lambdas_python = pytest.mark.skipif(
    sys.version_info[:2] != (3, 13), reason="bytecode is made, and can be read, by Lambda's version of Python only"
)


_needs_uv = pytest.mark.skipif(
    shutil.which("uv") is None and not (_ROOT / ".uv").is_dir(), reason="finding uv would need a registry here"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small repository with one door and a package."""
    root = tmp_path / "checkout"
    for name in ("functions/greet/handler.py", "shared/hindsight_aws/greeting.py"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("def handler(event, context):\n    return {'hello': event}\n", encoding="utf-8")
    return root


def test_an_archive_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    for folder, names in (("one", ["b.txt", "a.txt"]), ("two", ["a.txt", "b.txt"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text(name, encoding="utf-8")
    (tmp_path / "two" / "a.txt").chmod(0o755)

    one = pack(tmp_path / "one", tmp_path / "one.zip")
    two = pack(tmp_path / "two", tmp_path / "two.zip")

    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.unzipped == 10
    assert one.sizes().startswith("0.0 kB, ")
    assert measure(two.path) == two


def test_two_builds_of_the_product_are_byte_for_byte_alike(tmp_path: Path) -> None:
    shutil.copytree(
        _ROOT / "shared", tmp_path / "checkout" / "shared", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )

    first = build_product(tmp_path / "checkout", tmp_path / "first")
    second = build_product(tmp_path / "checkout", tmp_path / "second")

    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.unzipped < 10_000_000


def test_the_product_layer_holds_sources_sql_and_certificates_and_no_leftovers(tmp_path: Path, checkout: Path) -> None:
    package = checkout / "shared" / "hindsight_aws"
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "old.cpython-311.pyc").write_bytes(b"stale")
    (package / ".mypy_cache").mkdir()
    (package / ".mypy_cache" / "cache.db").write_bytes(b"a checker's")
    (package / "query.sql").write_text("SELECT 1\n", encoding="utf-8")

    names = _names(build_product(checkout, tmp_path / "built").path)

    assert {"python/hindsight_aws/greeting.py", "python/hindsight_aws/query.sql", CERTIFICATES} <= names
    assert not any("old" in name or ".mypy_cache" in name for name in names)


@_needs_lambdas_python
def test_bytecode_is_valid_without_looking_at_its_source_and_names_the_mounted_file(
    tmp_path: Path, checkout: Path
) -> None:
    archive = build_task_root(checkout, "functions/greet", tmp_path / "built").path

    with zipfile.ZipFile(archive) as packed:
        compiled = packed.read("__pycache__/handler.cpython-313.pyc")

    code = marshal.loads(compiled[16:])  # noqa: S302 - bytecode that the line above has just built
    assert isinstance(code, CodeType)
    assert compiled[:4] == importlib.util.MAGIC_NUMBER
    assert int.from_bytes(compiled[4:8], "little") == 0b01
    assert code.co_filename == "/var/task/handler.py"


def test_a_source_that_does_not_compile_is_not_packed(tmp_path: Path, checkout: Path) -> None:
    if compiler() is None:
        pytest.skip("no Python of Lambda's version on this machine")
    (checkout / "functions" / "greet" / "broken.py").write_text("def\n", encoding="utf-8")

    with pytest.raises(BytecodeError, match=r"broken\.py"):
        build_task_root(checkout, "functions/greet", tmp_path / "built")


def test_a_function_without_a_folder_is_named(tmp_path: Path, checkout: Path) -> None:
    with pytest.raises(TaskRootError, match="functions/wave"):
        build_task_root(checkout, "functions/wave", tmp_path / "built")


def test_a_door_that_grew_fat_is_refused(tmp_path: Path, checkout: Path) -> None:
    noise = "".join(hashlib.sha256(bytes([n % 256, n // 256])).hexdigest() for n in range(2 * LARGEST // 32))
    (checkout / "functions" / "greet" / "model.txt").write_text(noise, encoding="utf-8")

    with pytest.raises(TaskRootError, match=str(LARGEST)):
        build_task_root(checkout, "functions/greet", tmp_path / "built")


def test_every_certificate_is_a_root_of_the_database_service(tmp_path: Path) -> None:
    lines = (_ROOT / "layers" / "product" / CERTIFICATES).read_text(encoding="ascii").splitlines()

    titles = [line for line in lines if line.startswith("#")]

    assert len(titles) == lines.count("-----BEGIN CERTIFICATE-----") == len(set(titles))
    assert all(title.endswith(" Root CA RSA2048 G1") for title in titles)


@_needs_uv
def test_dependencies_come_from_the_lock_by_hash_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheelhouse: Path
) -> None:
    lock = _lock(tmp_path, wheelhouse, "waver-1.0-py3-none-any.whl")
    monkeypatch.setenv("UV_OFFLINE", "1")

    first = build_dependencies(_ROOT, tmp_path / "one", [lock])
    second = build_dependencies(_ROOT, tmp_path / "two", [lock])
    monkeypatch.setenv("UV_NO_INDEX", "1")
    shutil.rmtree(wheelhouse)
    again = build_dependencies(_ROOT, tmp_path / "one", [lock])

    names = _names(first.path)
    assert first.path.read_bytes() == second.path.read_bytes()
    assert again == first
    assert "python/waver.py" in names
    assert "python/waver-1.0.dist-info/METADATA" in names
    assert not any(name.endswith(("RECORD", "INSTALLER")) or "/tests/" in name for name in names)


@_needs_uv
def test_each_layer_holds_its_own_locks_wheels_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheelhouse: Path
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    lock = _lock(tmp_path, wheelhouse, "waver-1.0-py3-none-any.whl")
    nothing = tmp_path / "nothing.lock"
    nothing.write_text("", encoding="utf-8")

    readers = build_wheels(_ROOT, tmp_path / "built", "converter", [lock])
    others = build_wheels(_ROOT, tmp_path / "built", "dependencies", [nothing])

    assert "python/waver.py" in _names(readers.path)
    assert _names(others.path) == set()


def test_only_the_convert_function_carries_the_readers_of_files() -> None:
    carriers = {function.name for function in TOPOLOGY.functions if "converter" in function.layers}

    assert carriers == {"convert"}


@_needs_uv
@pytest.mark.timeout(300)
def test_the_real_layers_share_next_to_nothing_and_fit_a_function_together(dose: Dose, tmp_path: Path) -> None:
    if dose == "small":
        pytest.skip("fetches some 60 MB of wheels")

    dependencies, converter = build_layer("dependencies", _ROOT, tmp_path), build_layer("converter", _ROOT, tmp_path)
    again = [build_layer(name, _ROOT, tmp_path / "again").path for name in ("dependencies", "converter")]

    names = [_names(layer.path) for layer in (dependencies, converter)]
    tops = [{name.split("/")[1] for name in found} for found in names]
    shared = {name for name in tops[0] & tops[1] if not name.endswith(".dist-info")}
    machines = {name.partition("-linux-gnu.so")[0].rpartition("-")[2] for name in names[0] if "-linux-gnu.so" in name}
    assert [path.read_bytes() for path in again] == [dependencies.path.read_bytes(), converter.path.read_bytes()]
    assert shared <= {"six.py", "typing_extensions.py", "__pycache__"}
    assert {"pypdf", "openpyxl", "pptx", "mammoth"} <= tops[1] - tops[0]
    assert "jwt" not in tops[0] | tops[1]
    assert "cryptography" not in tops[0]
    assert machines == {"aarch64"}
    assert dependencies.unzipped <= LARGEST_LAYERS["dependencies"]
    assert check_together("convert", [dependencies, converter, build_product(_ROOT, tmp_path)]) < 200_000_000


@_needs_uv
def test_what_is_built_for_this_machine_never_passes_for_lambdas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheelhouse: Path
) -> None:
    lock = _lock(tmp_path, wheelhouse, "waver-1.0-py3-none-any.whl")
    monkeypatch.setenv("UV_OFFLINE", "1")

    theirs = build_dependencies(_ROOT, tmp_path / "built", [lock])
    ours = build_dependencies(_ROOT, tmp_path / "built", [lock], THIS_MACHINE)

    assert ours.path != theirs.path
    assert _names(ours.path) == _names(theirs.path)


def test_a_layer_that_outgrew_its_bound_is_not_packed(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LARGEST_LAYERS, "product", 1_000)

    with pytest.raises(TooLarge, match="product"):
        build_layer("product", checkout, tmp_path / "built")


def test_what_a_function_carries_altogether_is_bounded(tmp_path: Path) -> None:
    parts = [Archive(tmp_path / name, zipped=1, unzipped=120_000_000) for name in ("a", "b")]

    assert check_together("convert", parts) == 240_000_000
    with pytest.raises(TooLarge, match="convert"):
        check_together("convert", [*parts, *parts])


def test_a_layer_that_nothing_builds_is_named(tmp_path: Path) -> None:
    with pytest.raises(PackagingError, match="'readers'"):
        build_layer("readers", _ROOT, tmp_path)


@_needs_uv
def test_a_wheel_with_another_hash_is_refused(tmp_path: Path, wheelhouse: Path) -> None:
    lock = _lock(tmp_path, wheelhouse, "waver-1.0-py3-none-any.whl")
    wrong = lock.read_text(encoding="utf-8").replace("sha256:", "sha256:0000", 1)
    lock.write_text(wrong[: wrong.index("0000") + 64] + "\n", encoding="utf-8")

    with pytest.raises(DependenciesError, match="waver"):
        build_dependencies(_ROOT, tmp_path / "built", [lock])


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one made-up wheel, the only place uv may install from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    contents = {
        "waver.py": b"def wave() -> str:\n    return 'hello'\n",
        "tests/test_waver.py": b"import waver\n",
        "waver-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: waver\nVersion: 1.0\n",
        "waver-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={_digest(body)},{len(body)}\n" for name, body in contents.items())
    with zipfile.ZipFile(folder / "waver-1.0-py3-none-any.whl", "w") as wheel:
        for name, body in contents.items():
            wheel.writestr(zipfile.ZipInfo(name), body)
        wheel.writestr(zipfile.ZipInfo("waver-1.0.dist-info/RECORD"), record + "waver-1.0.dist-info/RECORD,,\n")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def _lock(tmp_path: Path, wheelhouse: Path, wheel: str) -> Path:
    digest = hashlib.sha256((wheelhouse / wheel).read_bytes()).hexdigest()
    lock = tmp_path / "small.lock"
    lock.write_text(f"waver==1.0 \\\n    --hash=sha256:{digest}\n", encoding="utf-8")
    return lock


def _digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()


def _names(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as packed:
        return set(packed.namelist())
