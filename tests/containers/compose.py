"""The services of `compose.yaml` as words to podman. Restarts, waiting for others and ports are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.containers.container import Container, Site


def started(
    site: Site, name: str, service: Mapping[str, Any], image: str, given: Mapping[str, str]
) -> Container:
    """Starts a service. `given`: the variables that compose takes from the caller's environment."""

    def filled(text: object) -> str:
        return re.sub(r"\$\{(\w+)[^}]*\}", lambda found: given[found[1]], str(text))

    words = [f"--env={key}={filled(value)}" for key, value in service["environment"].items()]
    for volume in service["volumes"]:
        source, _, inside = volume.partition(":")
        words.append(f"--volume={site.volume(source)}:{inside}")
    words += [f"--tmpfs={folder}" for folder in service["tmpfs"]]
    words += [f"--cap-drop={each}" for each in service["cap_drop"]]
    if "healthcheck" in service:
        words.append(f"--health-cmd={' '.join(service['healthcheck']['test'][1:])}")
    return site.container(name, image, *words, arguments=service.get("command", []))
