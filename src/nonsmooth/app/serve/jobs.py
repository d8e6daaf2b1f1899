"""What a client asks for: a request checked, and the model it stands for.

Nothing here trusts its input. A request is plain data with known fields; a file is a
relative path that stays inside the served folder; models are read without running
code.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from nonsmooth import gallery, io
from nonsmooth.errors import ModelError, nearest
from nonsmooth.files import replacing
from nonsmooth.gallery import Parameter
from nonsmooth.model import Model
from nonsmooth.solve.options import Baumgarte, Options
from nonsmooth.study.settings import fields, with_fields
from nonsmooth.study.systems import SIGN, SIGN_WITHIN
from nonsmooth.views.scene import Parameter as Used

SUFFIXES = (".yaml", ".yml", ".json")
FORMATS = ("yaml", "json")
# Folders below the served one, files listed, and entries looked at to find them.
MAX_DEPTH, MAX_FILES, MAX_ENTRIES = 4, 500, 20_000
# Fields shown of a model file; more would not fit any form.
MAX_FIELDS = 400
# Messages repeat what was given, which may be long.
MAX_MESSAGE = 1000
# Of a parameter, and of a file to be written, in letters.
MAX_NAME, MAX_FILE_NAME = 200, 100
# Errors told of one model.
MAX_ERRORS = 50
# Bodies of a model, and by how much a count may exceed its slider: larger systems are
# for the command line, where they can be interrupted while they are built.
MAX_BODIES, BEYOND = 2000, 25

SOURCES = ("system", "file", "text")
KNOWN = (*SOURCES, "format", "name", "parameters", "until", "options")
OPTIONS = (
    "method",
    "rtol",
    "atol",
    "step",
    "max_step",
    "scheme",
    "branch",
    "baumgarte",
    "assemble",
)


class Refused(Exception):
    """A request that is not carried out; status as in HTTP, text for the user."""

    def __init__(self, status: int, message: str, name: str | None = None) -> None:
        super().__init__(shortened(message))
        self.status = status
        self.name = name  # of the field at fault, if it is known

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str, str | None]]:
        """Return how to make it again, in another process."""
        return Refused, (self.status, str(self), self.name)


def shortened(message: str) -> str:
    """Return a message of a bearable length, in one line."""
    text = " ".join(message.split())
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 4]} ..."


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run that was asked for, or a model to be checked."""

    source: Literal["system", "file", "text"]
    name: str  # of the system or file; of a text a name to show
    text: str = ""
    format: Literal["yaml", "json"] = "yaml"
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    until: float | None = None  # s
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    saved: Path | None = None  # the run itself, if a study has kept it

    def asked(self) -> dict[str, Any]:
        """Return the request as plain data, without the text of a model."""
        return {
            self.source: self.name if self.source != "text" else "",
            "name": self.name,
            "parameters": dict(self.parameters),
            "until": self.until,
            "options": dict(self.options),
        }

    def solver(self) -> dict[str, Any]:
        """Return the options as `simulate` takes them."""
        options = dict(self.options)
        pair = options.pop("baumgarte", None)
        if pair is not None:
            options["stabilisation"] = Baumgarte(alpha=pair[0], beta=pair[1])
        return options


# ---- reading a request ---------------------------------------------------------


def decoded(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body."""
    try:
        data = json.loads(
            body.decode("utf-8"),
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError:
        raise Refused(400, "the request is not UTF-8") from None
    except RecursionError:
        raise Refused(400, "the request is nested too deeply") from None
    except ValueError as error:
        raise Refused(400, f"the request is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Refused(400, "the request must be a JSON object")
    return cast("dict[str, Any]", data)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def job(data: Mapping[str, Any], folder: Path) -> Job:
    """Check a request; return what it asks for.

    Raises
    ------
    Refused
        A field is unknown, missing or not what it should be.
    """
    for name in data:
        if name not in KNOWN:
            raise Refused(422, f"no field '{name}'; {nearest(name, KNOWN)}")
    sources = [name for name in SOURCES if name in data]
    if len(sources) != 1:
        raise Refused(422, "give exactly one of system, file and text")
    source = cast("Literal['system', 'file', 'text']", sources[0])
    given = _text(data, source)
    format = data.get("format", "yaml")
    if format not in FORMATS:
        raise Refused(422, f"format = {format!r}; give yaml or json", "format")
    if source != "text" and "format" in data:
        raise Refused(422, "format: only of a text", "format")
    if source == "file":
        resolved(folder, given)
    shown = _text(data, "name") if "name" in data else "pasted text"
    parameters = _mapping(data, "parameters")
    _check_parameters(source, given, parameters)
    found = Job(
        source=source,
        name=shown if source == "text" else given,
        text=given if source == "text" else "",
        format=format,
        parameters=parameters,
        until=_until(data),
        options=_options(_mapping(data, "options")),
    )
    try:
        Options(**{k: v for k, v in found.solver().items() if k != "assemble"})
    except ModelError as error:
        raise Refused(422, str(error), culprit(str(error), OPTIONS)) from None
    return found


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data[name]
    if not isinstance(value, str):
        raise Refused(422, f"{name}: give text", name)
    return value


def _mapping(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise Refused(422, f"{name}: give an object of names and values", name)
    return cast("dict[str, Any]", value)


def _until(data: Mapping[str, Any]) -> float | None:
    value = data.get("until")
    if value is None:
        return None
    number = _number(value)
    if number is None or number <= 0.0:
        raise Refused(422, f"until = {value!r}; must be a time > 0 s", "until")
    return number


def _number(value: Any) -> float | None:
    """Return a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; null stands for the default."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in OPTIONS:
            raise Refused(422, f"options: no '{name}'; {nearest(name, OPTIONS)}", name)
        if value is None:
            continue
        if name == "assemble":
            if not isinstance(value, bool):
                raise Refused(422, f"assemble = {value!r}; give true or false", name)
            found[name] = value
        elif name == "baumgarte":
            found[name] = _pair(value)
        elif name in ("method", "scheme", "branch"):
            if not isinstance(value, str):
                raise Refused(422, f"{name} = {value!r}; give text", name)
            found[name] = value
        else:
            number = _number(value)
            if number is None:
                raise Refused(422, f"{name} = {value!r}; give a number", name)
            found[name] = number
    return found


def _pair(value: Any) -> tuple[float, float]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    numbers = [number for number in map(_number, items) if number is not None]
    if len(items) != 2 or len(numbers) != 2:
        raise Refused(422, "baumgarte: give two numbers, alpha and beta", "baumgarte")
    return numbers[0], numbers[1]


def _check_parameters(source: str, given: str, parameters: Mapping[str, Any]) -> None:
    """Refuse systems and parameters there are not, and values of a wrong type."""
    for name, value in parameters.items():
        if len(name) > MAX_NAME:
            raise Refused(422, f"parameters: a name has {len(name)} letters")
        if isinstance(value, list | dict):
            raise Refused(422, f"{name}: give a number, text, true or false", name)
        if source != "system" and "." not in name:
            raise Refused(
                422,
                f"no parameter '{name}'; of a model give element and field, as in "
                "crank.mass",
                name,
            )
    if source == "system":
        own = {k: v for k, v in parameters.items() if "." not in k}
        try:
            _check_counts(given, gallery.values(given, **own))
        except ModelError as error:
            raise Refused(422, str(error), culprit(str(error), own)) from None


def _check_counts(system: str, values: Mapping[str, Any]) -> None:
    """Refuse systems so large that building them would hold up the server."""
    for item in gallery.parameters(system):
        if item.type == "int" and item.high is not None:
            most, value = BEYOND * item.high, values.get(item.name, item.default)
            if value is not None and value > most:
                raise ModelError(
                    f"{system}: {item.name} = {value}; here at most {most:g}, more "
                    "with `nonsmooth run`"
                )


def culprit(message: str, names: Iterable[str]) -> str | None:
    """Return the first of the names that a message finds fault with, or None."""
    known = set(names)
    # The search takes the square of the longest word.
    message = shortened(message)
    # "body 'arm': mass = -1.0; must be > 0 kg"
    for found in re.finditer(r"'([\w\-]+)': (\w+) = ", message):
        if f"{found[1]}.{found[2]}" in known:
            return f"{found[1]}.{found[2]}"
    for found in re.finditer(r"'?([\w.\-]+)'?(?= = |:|; )", message):
        if found[1] in known:
            return found[1]
    return None


# ---- files ---------------------------------------------------------------------


def resolved(
    folder: Path, name: str, suffixes: tuple[str, ...] = SUFFIXES, what: str = "model"
) -> Path:
    """Return the file that a relative name stands for, inside the folder.

    Raises
    ------
    Refused
        It leads out of the folder (also by a link), is not a model file, or there is
        no such file.
    """
    check_name(name, suffixes, what)
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
    except (OSError, RuntimeError):  # missing, too long, a loop of links
        raise Refused(404, f"no file '{name}'", "file") from None
    if not path.is_relative_to(root) or path.suffix.lower() not in suffixes:
        raise Refused(403, "file: it lies outside the folder", "file")
    if not path.is_file():
        raise Refused(404, f"no file '{name}'", "file")
    return path


def check_name(
    name: str, suffixes: tuple[str, ...] = SUFFIXES, what: str = "model"
) -> None:
    """Refuse names that are not relative, odd, or of other files."""
    parts = name.split("/")
    is_odd = any(ord(c) < 32 or c in "\\:\x7f" for c in name) or not _is_text(name)
    if is_odd or any(part.startswith(".") or not part for part in parts):
        raise Refused(403, "file: give a relative path inside the folder", "file")
    if not name.lower().endswith(suffixes):
        ends = ", ".join(suffixes)
        raise Refused(403, f"file: a {what} file ends in {ends}", "file")


def _is_text(name: str) -> bool:
    """Return whether a name has no halves of surrogate pairs."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def files(folder: Path) -> list[str]:
    """Return the model files in a folder, relative, those nearest first."""
    found: list[str] = []
    for path in walk(folder):
        name = path.relative_to(folder).as_posix()
        try:
            target = resolved(folder, name)
            with target.open("rb") as file:
                if SIGN.search(file.read(SIGN_WITHIN)):
                    found.append(name)
        except (Refused, OSError):
            continue
        if len(found) >= MAX_FILES:
            break
    return sorted(found, key=lambda name: (name.count("/"), name))


def walk(folder: Path, suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[Path]:
    """Yield files with a model's suffix, folder by folder; links are not entered."""
    level, n_entry = [folder], 0
    for _ in range(MAX_DEPTH):
        deeper: list[Path] = []
        for place in level:
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                n_entry += 1
                if n_entry > MAX_ENTRIES:
                    return
                if entry.name.startswith(".") or entry.name == "node_modules":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    deeper.append(Path(entry.path))
                elif entry.name.lower().endswith(suffixes):
                    yield Path(entry.path)
        level = deeper


# ---- models --------------------------------------------------------------------


def build(asked: Job, folder: Path) -> Model:
    """Return the model that was asked for.

    Raises
    ------
    ModelError
        It is not valid.
    Refused
        Its file is not there any more.
    """
    own = {k: v for k, v in asked.parameters.items() if "." not in k}
    if asked.source == "system":
        model = gallery.build(asked.name, **own)
    else:
        model = _read(asked, folder)
    if len(model.bodies) > MAX_BODIES:
        raise ModelError(
            f"the model has {len(model.bodies)} bodies; here at most {MAX_BODIES}, "
            "more with `nonsmooth run`"
        )
    return with_fields(model, {k: v for k, v in asked.parameters.items() if "." in k})


def _read(asked: Job, folder: Path) -> Model:
    if asked.source == "text":
        # A text that is edited may be that of a file, with meshes beside it.
        beside = (folder / asked.name).parent
        inside = beside.resolve().is_relative_to(folder.resolve())
        try:
            return io.loads(
                asked.text,
                asked.format,
                gallery=_from_gallery,
                folder=beside if inside else folder,
            )
        except ModelError as error:
            raise _worded(error, lambda words: f"{asked.name}: {words}") from None
    path = resolved(folder, asked.name)
    try:
        return io.load(path, gallery=_from_gallery)
    except ModelError as error:
        # The client knows the file by its name in the folder.
        raise _worded(error, lambda w: w.replace(str(path), asked.name)) from None
    except OSError as error:
        raise Refused(404, f"file '{asked.name}': {error.strerror}", "file") from None


def _worded(error: ModelError, words: Callable[[str], str]) -> ModelError:
    """Return an error, and those that were found with it, in other words."""
    found = ModelError(words(str(error)))
    found.others = tuple(map(words, error.others))
    return found


def sentences(error: ModelError) -> list[str]:
    """Return what an error says, and those that were found with it."""
    return [shortened(text) for text in (str(error), *error.others)][:MAX_ERRORS]


def text_of(asked: Job, folder: Path) -> dict[str, Any]:
    """Return a model as the text of a file: that of its file as it is."""
    if asked.source == "file" and not asked.parameters:
        path = resolved(folder, asked.name)
        try:
            stamp, text = stamp_of(path), path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(422, f"file '{asked.name}': {error}", "file") from None
        format = "json" if path.suffix.lower() == ".json" else "yaml"
        return {"name": asked.name, "text": text, "format": format, "stamp": stamp}
    text = io.dumps(build(asked, folder))
    name = f"{Path(asked.name).stem}.yaml"
    return {"name": name, "text": text, "format": "yaml", "stamp": None}


def stamp_of(path: Path) -> str | None:
    """Return what tells whether a file has changed; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return f"{found.st_mtime_ns}-{found.st_size}"


def save(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write a model file: {file, text, stamp}; the stamp is that it was read with."""
    if set(data) != {"file", "text", "stamp"}:
        raise Refused(422, "give file, text and stamp")
    name, text = _text(data, "file").strip(), _text(data, "text")
    if not _is_text(text):
        raise Refused(422, "text: not valid Unicode", "text")
    path = _target(folder, name)
    if stamp_of(path) != data["stamp"]:
        why = "is there already" if data["stamp"] is None else "has changed meanwhile"
        raise Refused(409, f"the file '{name}' {why}; give another name", "file")
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise Refused(422, f"file '{name}': {error.strerror}", "file") from None
    return {"file": name, "stamp": stamp_of(path)}


def _target(folder: Path, name: str) -> Path:
    """Return where a file of a relative name is, or would be, inside the folder."""
    head, _, last = name.rpartition("/")
    check_name(name)
    if len(last) > MAX_FILE_NAME:
        raise Refused(422, f"file: at most {MAX_FILE_NAME} letters", "file")
    try:
        root = folder.resolve(strict=True)
        place = (root / head).resolve(strict=True)
    except (OSError, RuntimeError):
        raise Refused(404, f"no folder '{head}'", "file") from None
    path = place / last
    if not place.is_relative_to(root) or path.is_symlink():
        raise Refused(403, "file: it lies outside the folder", "file")
    if path.exists() and not path.is_file():
        raise Refused(403, f"'{name}' is no file", "file")
    return path


def _from_gallery(name: str, parameters: dict[str, Any]) -> Model:
    _check_counts(name, gallery.values(name, **parameters))
    return gallery.build(name, **parameters)


def used(asked: Job) -> list[Used]:
    """Return the parameters of a run with the values it used, for its report."""
    rows: list[Used] = []
    if asked.source == "system":
        own = {k: v for k, v in asked.parameters.items() if "." not in k}
        values = gallery.values(asked.name, **own)
        for item in gallery.parameters(asked.name):
            row = Used(
                name=item.name,
                value=values[item.name],
                unit=item.unit,
                meaning=item.meaning,
            )
            rows.append(row)
    rows += [
        Used(name=key, value=value, meaning="changed in the model")
        for key, value in asked.parameters.items()
        if "." in key
    ]
    return rows


def described(parameters: Iterable[Parameter]) -> list[dict[str, Any]]:
    """Return parameters as plain data."""
    return [
        {
            "name": item.name,
            "type": "choice" if item.choices else item.type,
            "default": item.default,
            "unit": item.unit,
            "meaning": item.meaning,
            "low": item.low,
            "high": item.high,
            "choices": list(item.choices),
        }
        for item in parameters
    ]


def fields_of(model: Model) -> list[dict[str, Any]]:
    """Return the numbers and choices of a model's elements as plain data."""
    return described(fields(model))[:MAX_FIELDS]
