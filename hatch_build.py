"""Build a platform wheel if compiled code was prepared for it (``tools/platform_wheel.py``), and a pure one if not."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCode(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("DIRICHLET_BANDITS_COMPILED")
        if folder and self.target_name == "wheel":
            build_data.update(pure_python=False, infer_tag=True)
            build_data["force_include"][folder] = "dirichlet_bandits/compiled"
