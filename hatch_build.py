"""Wheels with the engine's library inside; without one, wheels for any platform.

`./dev wheel` compiles the library and names its folder in NONSMOOTH_SHIPPED. It needs
nothing of Python at run time: one wheel serves all versions on a platform.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false
import os
import re
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):
    """Put the libraries into the package, and the platform into the wheel's name."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what was compiled, if anything was."""
        given = os.environ.get("NONSMOOTH_SHIPPED")
        if not given or version == "editable":
            return
        files = sorted(Path(given).glob("library-*.so"))
        if not files:
            raise FileNotFoundError(f"no library in {given}; run ./dev wheel")
        for path in files:
            place = f"nonsmooth/kernels/shipped/{path.name}"
            build_data["force_include"][str(path)] = place
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform(files)}"


def platform(files: list[Path]) -> str:
    """Return the platform tag: on Linux the oldest C library with all symbols."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not name.startswith("linux"):
        return name
    text = b"".join(path.read_bytes() for path in files)
    found = set(re.findall(rb"GLIBC_2\.(\d+)", text))
    newest = max((int(minor) for minor in found), default=17)
    return name.replace("linux", f"manylinux_2_{max(newest, 17)}")
