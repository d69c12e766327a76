"""A pod of a rendered Deployment, run by podman as a kubelet would: its environment, user, files, probes and ends.

An emptyDir is a folder, a Secret the files of one, behind `..data` and owned by the pod's group. Scheduling, resources
and network policies are not tried.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.containers.container import Container, Site, podman

Secrets = Mapping[str, Mapping[str, str]]
"""Name → key → what is secret."""

POD_IP = "127.0.0.1"


def started(site: Site, pod: Mapping[str, Any], image: str, folder: Path, secrets: Secrets) -> Container:
    """Starts the pod's container; its volumes are below `folder`."""
    (spec,) = pod["containers"]
    context, group = spec["securityContext"], pod["securityContext"]["fsGroup"]
    assert context == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {
        each["name"]: _volume(each, folder / spec["name"] / each["name"], secrets, group)
        for each in pod["volumes"]
    }
    words = [
        f"--group-add={group}",
        *(f"--env={key}={value}" for key, value in _environment(spec, secrets).items()),
    ]
    for mount in spec["volumeMounts"]:
        read_only = ":ro" if mount.get("readOnly") else ""
        words.append(f"--volume={volumes[mount['name']]}:{mount['mountPath']}{read_only}")
    return site.container(spec["name"], image, *words, arguments=spec["args"])


def _environment(spec: Mapping[str, Any], secrets: Secrets) -> dict[str, str]:
    found = {}
    for each in spec["env"]:
        source = each.get("valueFrom", {})
        if "secretKeyRef" in source:
            found[each["name"]] = secrets[source["secretKeyRef"]["name"]][source["secretKeyRef"]["key"]]
        else:
            found[each["name"]] = POD_IP if "fieldRef" in source else each["value"]
    return found


def _volume(volume: Mapping[str, Any], folder: Path, secrets: Secrets, group: int) -> Path:
    folder.mkdir(parents=True)
    if "emptyDir" not in volume:
        data = folder / "..2026"
        data.mkdir()
        for key, name in _items(volume, secrets).items():
            (data / key).write_text(name, "utf-8")
            (data / key).chmod(0o440)
            os.chown(data / key, 0, group)
            (folder / key).symlink_to(f"..data/{key}")
        (folder / "..data").symlink_to(data.name)
    os.chown(folder, 0, group)
    folder.chmod(0o2775)
    return folder


def _items(volume: Mapping[str, Any], secrets: Secrets) -> dict[str, str]:
    if "secret" in volume:
        return dict(secrets[volume["secret"]["secretName"]])
    sources = [each["secret"] for each in volume["projected"]["sources"]]
    return {item["path"]: secrets[each["name"]][item["key"]] for each in sources for item in each["items"]}


def passes(container: Container, spec: Mapping[str, Any], probe: str) -> bool:
    """Whether a probe of the container passes now."""
    said = spec[probe]
    command = said["exec"]["command"] if "exec" in said else _get(spec, said)
    return podman("exec", container.name, *command, check=False).returncode == 0


def _get(spec: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    ports = {each["name"]: each["containerPort"] for each in spec["ports"]}
    if "tcpSocket" in said:
        address = (POD_IP, ports[said["tcpSocket"]["port"]])
        return ["python", "-I", "-c", f"import socket; socket.create_connection({address}, 5)"]
    get = said["httpGet"]
    url = f"{get.get('scheme', 'HTTP').lower()}://{POD_IP}:{ports[get['port']]}{get['path']}"
    # A kubelet does not verify certificates.
    opened = f"urllib.request.urlopen('{url}', timeout=5, context=ssl._create_unverified_context())"
    return ["python", "-I", "-c", f"import ssl, urllib.request; {opened}"]
