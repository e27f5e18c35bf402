"""A stand-in for Docker and Podman. The fixture ``engine`` puts it on PATH; see tests/engines.py.

python fake_docker.py FOLDER PROGRAM COMMAND...

Keeps images and answers in FOLDER/state.json, and appends each call to FOLDER/calls.jsonl.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
STATE = FOLDER / "state.json"
state = json.loads(STATE.read_text())
images = state["images"]
words = sys.argv[3:]


def options(name: str) -> list[str]:
    """Returns the values of an option, which is written ``--name=value``."""
    return [word.removeprefix(f"--{name}=") for word in words if word.startswith(f"--{name}=")]


def pairs(name: str) -> dict[str, str]:
    """Returns the values of an option for names and values, such as ``--label=name=value``."""
    return dict(option.split("=", 1) for option in options(name))


def keep(changed: list[dict[str, object]]) -> None:
    STATE.write_text(json.dumps(state | {"images": changed}))


def build() -> None:
    print(*state["printed"], sep="\n")
    if state["code"]:
        sys.exit(state["code"])
    name = words[words.index("--tag") + 1]
    earlier = next((image["id"] for image in images if name in image["names"]), f"id of {name}")
    built = {"id": state["next_ids"].get(name, earlier), "names": [name], "labels": pairs("label")}
    for image in images:
        image["names"] = [other for other in image["names"] if other != name]
        if image["id"] == built["id"]:
            built["names"] += image["names"]
    keep([*(image for image in images if image["id"] != built["id"]), built])


def inspect(wanted: str, name: str) -> None:
    image = next((image for image in images if name in (image["id"], *image["names"])), None)
    if image is None:
        sys.exit(f"no such image: {name}")
    answers = {
        "{{.Id}}": image["id"],
        "{{len .RepoTags}}": len(image["names"]),
        "{{json .Config.Labels}}": json.dumps(image["labels"]),
        "{{json .RootFS.Layers}}": json.dumps(["a layer"]),
    }
    print(answers[wanted])


def run() -> None:
    """Writes a run, unless the image does not work on the dataset."""
    dataset = pairs("env")["TOUCHE_DATASET"]
    print("a line of the container", flush=True)
    if dataset not in state["works_on"]:
        sys.stderr.write(f"no {dataset}\n")
        sys.exit(2)
    (output,) = (mount for mount in options("mount") if mount.endswith(",target=/output"))
    folder = output.removeprefix("type=bind,source=").removesuffix(",target=/output")
    Path(folder, "run.txt").write_text("1 Q0 a 1 1.0 tag\n")


with (FOLDER / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(sys.argv[2:]) + "\n")
match words:
    case ["build", *_]:
        build()
    case ["image", "inspect", "--format", wanted, name]:
        inspect(wanted, name)
    case ["image", "rm", name]:
        keep([image for image in images if name not in (image["id"], *image["names"])])
    case ["pull", _]:
        print(*state["printed"], sep="\n")
        sys.exit(state["code"])
    case ["run", *_]:
        run()
    case ["save", _]:
        sys.stdout.buffer.write((FOLDER / "saved.tar").read_bytes())
    case ["ps", *_]:
        labels = state["containers"]
        print(*(name for name in labels if f"label={labels[name]}" in options("filter")), sep="\n")
    case ["info"] | ["image", "prune", *_] | ["images", *_] | ["rm", *_] | ["inspect", *_]:
        pass
    case _:
        sys.exit(f"tests/fake_docker.py does not know: {words}")
