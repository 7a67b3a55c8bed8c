"""sbom.json: the packages of requirements.lock that are installed here, with versions, hashes and licences, as a bill
of materials (CycloneDX 1.5). Refused where a licence is unknown, or not among those that may be used beside the MIT
licence of this package. `python3 make.py sbom` calls it in the environment."""
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
PROFILE = "http://cyclonedx.org/schema/bom-1.5.schema.json"
# that do not extend to a program which imports the package; of several licences one is enough
ALLOWED = ("0BSD", "Apache", "BSD", "CC0", "HPND", "ISC", "LGPL", "MIT", "MPL", "Mozilla", "PSF",
           "Python Software Foundation", "Unlicense", "Zlib")
CLASSIFIER = "License :: "


def licence(found: Distribution) -> str:
    """As the package says: an SPDX expression, its classifiers, its field, or the first line of its licence's text; ""
    if it says nothing."""
    said = found.metadata.get_all("Classifier", [])
    texts = [each for each in found.files or () if re.match(r"(LICEN[CS]E|COPYING)", each.name)]
    return (found.metadata.get("License-Expression")
            or " OR ".join(each.rpartition(" :: ")[2] for each in said if each.startswith(CLASSIFIER))
            or (found.metadata.get("License") or "").strip().partition("\n")[0]
            or next((line.strip() for each in texts for line in each.read_text("utf-8").splitlines() if line.strip()),
                    ""))


def components() -> list[dict[str, Any]]:
    """One for each entry of the lock that is installed here in that version."""
    found = []
    for entry in (TOP/"requirements.lock").read_text("utf-8").replace("\\\n", " ").splitlines():
        first, *hashes = entry.split("--hash=sha256:")
        name, version = first.partition(";")[0].strip().split("==")
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # for other systems or versions of Python
            continue
        if installed.version == version:
            found.append({"type": "library", "bom-ref": f"pkg:pypi/{name}@{version}", "name": name, "version": version,
                          "purl": f"pkg:pypi/{name}@{version}",
                          "hashes": [{"alg": "SHA-256", "content": each.strip()} for each in hashes],
                          "licenses": [{"license": {"name": licence(installed)}}]})
    return found


def main(target: Path | None = None) -> int:
    target = target or TOP/"sbom.json"
    listed = components()
    for each in listed:
        said = each["licenses"][0]["license"]["name"]
        if not all(re.search(rf"\b({'|'.join(ALLOWED)})\b", part) for part in said.split(" AND ")):
            sys.exit(f"sbom: {each['name']} {each['version']} has the licence {said!r}, none of those that are"
                     f" allowed: {', '.join(ALLOWED)}")
        print(f"{each['name']} {each['version']}: {said}")
    project = distribution("liestep")
    own = {"type": "application", "bom-ref": "liestep", "name": "liestep", "version": project.version,
           "licenses": [{"license": {"id": "MIT"}}]}
    text = json.dumps({"$schema": PROFILE, "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
                       "metadata": {"component": own}, "components": listed}, indent=1)
    target.write_text(f"{text}\n", encoding="utf-8")
    print(f"{target.name}: {len(listed)} packages, all with a licence that is allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
