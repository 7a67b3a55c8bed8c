"""Links of URDF files as bodies of a MuJoCo model, read without its own reader, which fuses links and turns inertias
wrongly (github.com/google-deepmind/mujoco, issues 2982 and 3559).

The mass of a part is a matrix (4, 4) of its second moments, the sum of dm (x, 1) (x, 1)^T: those of parts that move
together add up, and a motion T makes T A T^T of it.
"""
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from liestep.errors import InputError, unknown
from liestep.files.textfiles import read_text
from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.sheet import MOMENTS_TOLERANCE
from liestep.mechanics.formulations.multibody.assembly import GROUND, complement
from liestep.mechanics.formulations.multibody.tree import Tree

KINDS = {"revolute": ("hinge",), "continuous": ("hinge",), "prismatic": ("slide",), "floating": ("free",),
         "planar": ("slide", "slide", "hinge"), "fixed": ()}  # in a plane: along two axes of it and about its normal
SHAPES = {"sphere": (2, {"radius": 1}), "capsule": (3, {"radius": 1, "length": 1}),  # MuJoCo's number; sizes
          "cylinder": (5, {"radius": 1, "length": 1}), "box": (6, {"size": 3})}
FLAT, SMALL = 1e-9, 1e-15  # moments that are none, relative to the largest of the same body, and of any


class Hinge(NamedTuple):
    """A joint of a body, of any kind, in the axes of the body as it is placed."""

    name: str
    kind: str
    axis: np.ndarray
    point: np.ndarray


@dataclass(eq=False)
class Part:
    """A link that moves with those fixed to it: its frame in that of its parent (None: the ground)."""

    name: str
    parent: "Part | None"
    frame: np.ndarray
    joints: list[Hinge]
    moments: np.ndarray = field(default_factory=lambda: np.zeros((4, 4)))

    def kinds(self) -> list[str]:
        return [joint.kind for joint in self.joints]

    def masses(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, its centre (3,), and the second moments about that (3, 3)."""
        mass = float(self.moments[3, 3])
        centre = self.moments[:3, 3]/(mass or 1.0)
        return mass, centre, self.moments[:3, :3] - mass*np.outer(centre, centre)


class Robot(NamedTuple):
    """The model without masses and damping; sentences on what is left out; of each body by name its mass, centre of
    mass and inertia about it; the damping of joints by name."""

    spec: Any
    left_out: list[str]
    bodies: dict[str, tuple[float, np.ndarray, np.ndarray]]
    damping: dict[str, float]


def inertia(moments: np.ndarray) -> np.ndarray:
    """The inertia matrix of second moments."""
    found: np.ndarray = np.trace(moments)*np.eye(3) - moments
    return found


def numbers(element: Element | None, name: str, size: int, default: float | None = None) -> np.ndarray:
    """Those of an attribute, or the default."""
    text = None if element is None else element.get(name)
    if text is None and default is not None:
        return np.full(size, default)
    with suppress(ValueError):
        found = np.array((text or "").split(), dtype=float).reshape(size)
        if np.isfinite(found).all():
            return found
    raise InputError(f"{name} of <{'inertial' if element is None else element.tag}> is {text!r}; it must be {size} finite"
                     f" number{'s'*(size > 1)}")


def frame(element: Element) -> np.ndarray:
    """The motion (4, 4) of <origin>: roll, pitch and yaw about fixed axes, and the place."""
    origin = element.find("origin")
    (cx, cy, cz), (sx, sy, sz) = (of(numbers(origin, "rpy", 3, 0.0)) for of in (np.cos, np.sin))
    found = np.eye(4)
    found[:3, :3] = [[cz*cy, cz*sy*sx - sz*cx, cz*sy*cx + sz*sx], [sz*cy, sz*sy*sx + cz*cx, sz*sy*cx - cz*sx],
                     [-sy, cy*sx, cy*cx]]
    found[:3, 3] = numbers(origin, "xyz", 3, 0.0)
    return found


def moments(link: Element) -> np.ndarray:
    """Those of a link in its frame; zero without <inertial>."""
    inertial, found = link.find("inertial"), np.zeros((4, 4))
    if inertial is None:
        return found
    where, given = frame(inertial), inertial.find("inertia")
    turning = np.zeros((3, 3))
    for (j, k), name in {(0, 0): "ixx", (0, 1): "ixy", (0, 2): "ixz", (1, 1): "iyy", (1, 2): "iyz", (2, 2): "izz"}.items():
        turning[j, k] = turning[k, j] = numbers(given, name, 1, None if given is not None and j == k else 0.0)[0]
    found[:3, :3], found[3, 3] = 0.5*np.trace(turning)*np.eye(3) - turning, numbers(inertial.find("mass"), "value", 1)[0]
    if found[3, 3] < 0.0:
        raise InputError(f"the mass of link {link.get('name')} must not be negative")
    return where @ found @ where.T


def named(root: Element, what: str) -> dict[str, Element]:
    """Links or joints of a robot by name. Raises InputError: one without a name, or two of one name."""
    found: dict[str, Element] = {}
    for element in root.findall(what):
        name = element.get("name", "")
        if not name or name in found:
            raise InputError(f"two {what}s have the name {name}" if name else f"a <{what}> has no name")
        found[name] = element
    return found


def ordered(root: Element) -> list[tuple[str, Element, str, Element | None]]:
    """Links with names, each after the one it hangs on, and its joint (the first link: none).
    Raises InputError: links and joints are no tree."""
    links = named(root, "link")
    below: dict[str, list[tuple[str, Element]]] = {}
    above: dict[str, tuple[str, Element]] = {}
    for name, joint in named(root, "joint").items():
        ends = [getattr(joint.find(end), "attrib", {}).get("link", "") for end in ("parent", "child")]
        for what, end in zip(("parent", "child"), ends, strict=True):
            if end not in links:
                raise InputError(f"the {what} of joint {name}: {unknown('link', end, links)}")
        if ends[1] in above:
            raise InputError(f"link {ends[1]} hangs on two joints, {above[ends[1]][1].get('name')} and {name}: a URDF"
                             " has no loops")
        above[ends[1]] = ends[0], joint
        below.setdefault(ends[0], []).append((ends[1], joint))
    roots = [name for name in links if name not in above]
    if len(roots) > 1 or not links:
        raise InputError(f"{len(roots)} links hang on no joint ({', '.join(roots[:5])}): a URDF has one")
    found, left = [], [(name, links[name], "", None) for name in roots]
    while left:
        found.append(left.pop())
        left.extend((child, links[child], found[-1][0], joint) for child, joint in below.get(found[-1][0], [])[::-1])
    if len(found) < len(links):
        seen = {name for name, *_ in found}
        raise InputError(f"the links {', '.join([name for name in links if name not in seen][:5])} hang on each other:"
                         " a URDF has no loops")
    return found


def moving(joint: Element) -> list[Hinge]:
    """The joints of its child, in the child's axes. Raises InputError: no type of a joint, or no axis."""
    name, kind = joint.get("name", ""), joint.get("type", "")
    if kind not in KINDS:
        raise InputError(f"joint {name}: {unknown('type', kind, KINDS)}")
    along = numbers(joint.find("axis"), "xyz", 3, 0.0) if joint.find("axis") is not None else np.eye(3)[0]
    length = float(np.linalg.norm(along))
    if KINDS[kind] not in ((), ("free",)) and not 0.0 < length < np.inf:
        raise InputError(f"the axis of joint {name} must have a length")
    axis = along/(length or 1.0)
    if kind == "planar":
        return [Hinge(f"{name}_{k}", what, u, np.zeros(3)) for k, what, u in zip(
            "xyz", KINDS[kind], (*complement(axis), axis), strict=True)]
    return [Hinge(name, what, axis, np.zeros(3)) for what in KINDS[kind]]


def parts_of(root: Element, free_base: bool) -> tuple[list[Part], list[tuple[Element, Part | None, np.ndarray]]]:
    """Parts that move, each after its parent; and of all links the part that they belong to, and their frame in it."""
    parts: list[Part] = []
    links: list[tuple[Element, Part | None, np.ndarray]] = []
    known: dict[str, tuple[Part | None, np.ndarray]] = {"": (None, np.eye(4))}
    for name, link, above, joint in ordered(root):
        part, at = known[above]
        joints = moving(joint) if joint is not None else [Hinge("", "free", np.zeros(3), np.zeros(3))]*free_base
        at = at if joint is None else at @ frame(joint)
        if joints:
            if part is not None and joints[0].kind == "free":
                raise InputError(f"joint {joints[0].name} is floating; allowed is that on the ground")
            part = Part(name, part, at, joints)
            parts.append(part)
            at = np.eye(4)
        if part is not None:
            part.moments += at @ moments(link) @ at.T
        known[name] = part, at
        links.append((link, part, at))
    return parts, links


def joined(parts: list[Part], links: list[tuple[Element, Part | None, np.ndarray]]) -> None:
    """Give the joints of a part without mass to the only one on it, where one body can have the joints of both."""
    for part in parts[::-1]:
        on = [other for other in parts if other.parent is part]
        if part.moments.any() or len(on) != 1:
            continue
        other, back = on[0], np.linalg.inv(on[0].frame)
        before = [joint._replace(axis=back[:3, :3] @ joint.axis, point=(back @ [*joint.point, 1.0])[:3])
                  for joint in part.joints]
        both = _through_one_point([*before, *other.joints])
        with suppress(InputError):
            Tree((part.name,), (GROUND,), np.zeros((1, 3)), np.eye(3)[None], [
                (joint.name, 0, joint.kind, joint.axis, joint.point, 0.0) for joint in both], ())
            links[:] = [(link, other, other_at) if own is part else (link, own, other_at)
                        for link, own, at in links for other_at in [back @ at if own is part else at]]
            other.joints, other.frame, other.parent = both, part.frame @ other.frame, part.parent
            parts.remove(part)


def _through_one_point(joints: list[Hinge]) -> list[Hinge]:
    """Joints whose hinges have the point in common that is nearest to their axes, where it is on them."""
    hinges = [joint for joint in joints if joint.kind == "hinge"]
    across = [np.eye(3) - np.outer(joint.axis, joint.axis) for joint in hinges]
    if len(hinges) < 2:
        return joints
    at = np.linalg.lstsq(np.concatenate(across), np.concatenate([
        side @ joint.point for side, joint in zip(across, hinges, strict=True)]), rcond=None)[0]
    off = max(float(np.abs(side @ (at - joint.point)).max()) for side, joint in zip(across, hinges, strict=True))
    size = max(float(np.abs(joint.point).max()) for joint in hinges)
    return [joint._replace(point=at) if joint.kind == "hinge" and off <= FLAT*size else joint for joint in joints]


def shared(giver: Part, joints: list[Hinge], at: np.ndarray) -> np.ndarray:
    """A quarter of the most that a part can give of what moves alike on both sides of joints: mass in the point of
    hinges, a line of it along a single one, any turning along slides. `at`: from the frame of the joints to its own."""
    mass, centre, spread = giver.masses()
    found, kinds = np.zeros((4, 4)), {joint.kind for joint in joints}
    if kinds == {"slide"}:
        found[:3, :3] = spread
    elif kinds == {"hinge"} and mass > 0.0:
        known = np.linalg.pinv(spread, rcond=FLAT, hermitian=True)

        def most(v: np.ndarray, rest: float) -> float:
            inside = np.linalg.norm(spread @ known @ v - v) <= FLAT*np.linalg.norm(v)
            return float(1.0/(v @ known @ v + rest)) if inside else 0.0

        place, axis = at @ [*joints[0].point, 1.0], at[:3, :3] @ joints[0].axis
        found += most(place[:3] - centre, 1.0/mass)*np.outer(place, place)
        if len(joints) == 1:
            found[:3, :3] += most(axis, 0.0)*np.outer(axis, axis)
    return 0.25*found


def lent(parts: list[Part]) -> None:
    """Give parts that have no mass, or no inertia about an axis, some from those beside them (and from the ground) that
    moves alike on both sides of the joint between: motions stay as they are. Raises InputError: there is none."""
    largest, total = (sum(float(size(part.moments)) for part in parts) for size in (
        lambda all: np.trace(all[:3, :3]), lambda all: all[3, 3]))

    def poor(part: Part) -> bool:
        mass, _, spread = part.masses()
        found = np.linalg.eigvalsh(inertia(spread))
        return not (mass > 0.0 and found[0] > max(FLAT*found[2], SMALL*largest))

    for part in parts:
        mass, centre, spread = part.masses()
        if np.trace(spread) <= SMALL*largest:
            part.moments[:3, :3] = mass*np.outer(centre, centre)
        elif np.linalg.eigvalsh(spread)[0] < -MOMENTS_TOLERANCE*np.trace(spread):
            found = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(inertia(spread)))
            raise InputError(f"link {part.name}, with those fixed to it, has the moments of inertia {found}, which no"
                             " body has: each must be positive, and at most the sum of the others")
    left, before = [part for part in parts if poor(part)], -1
    while left and len(left) != before:
        before = len(left)
        for part in left[::-1]:
            for other in [other for other in parts if other.parent is part and not poor(other)]:
                found = shared(other, other.joints, np.eye(4))
                other.moments -= found
                part.moments += other.frame @ found @ other.frame.T
            if part.parent is None:
                axis = part.joints[0].axis
                part.moments[:3, :3] += largest*np.outer(axis, axis)*(part.kinds() == ["hinge"])
                part.moments[3, 3] += total*(part.moments[3, 3] == 0.0 and part.kinds() == ["hinge"])
            elif not poor(part.parent):
                found, back = shared(part.parent, part.joints, part.frame), np.linalg.inv(part.frame)
                part.parent.moments -= found
                part.moments += back @ found @ back.T
        left = [part for part in parts if poor(part)]
    if left:
        raise InputError(f"link {left[0].name}, with those fixed to it, has no mass or no inertia about an axis, and"
                         " takes none from what it is joined to")


def lost(name: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on what a joint of a mechanism does not have, with the numbers, where one is not zero."""
    for what, values in facts.items():
        if np.any(values):
            yield f"Joint {name} loses its {what} ({', '.join(f'{value:.6g}' for value in np.ravel(values))})."


def read(path: Path, free_base: bool) -> Robot:
    """The robot of a file. Raises InputError: what is not a tree of links, or has no masses."""
    import mujoco

    root = ElementTree.fromstring(read_text(path))
    parts, links = parts_of(root, free_base)
    joined(parts, links)
    lent(parts)
    spec, left_out = mujoco.MjSpec(), []
    spec.compiler.degree = False
    made: dict[Part | None, Any] = {None: spec.worldbody}
    for part in parts:
        made[part] = made[part.parent].add_body(
            name=part.name + "_"*(part.name == "world"), pos=part.frame[:3, 3], quat=of_matrix(part.frame[:3, :3]), mass=1.0, inertia=np.ones(3),
            ipos=np.zeros(3), explicitinertial=True)
        for joint in part.joints:
            made[part].add_joint(name=joint.name, type=getattr(mujoco.mjtJoint, f"mjJNT_{joint.kind.upper()}"),
                                 axis=joint.axis, pos=joint.point)
    for link, owner, at in links:
        for shape in link.findall("collision") or link.findall("visual"):
            left_out += _drawn(spec, made[owner], link.get("name", ""), shape, at, path.parent)
    damping: dict[str, float] = {}
    for name, joint in named(root, "joint").items():
        limit, dynamics = joint.find("limit"), joint.find("dynamics")
        damping[name] = float(numbers(dynamics, "damping", 1, 0.0)[0])
        between = [*numbers(limit, "lower", 1, 0.0), *numbers(limit, "upper", 1, 0.0)]
        left_out += lost(name, {"limits": between if joint.get("type") in ("revolute", "prismatic") else (),
                                "dry friction": numbers(dynamics, "friction", 1, 0.0)})
    bodies = {made[part].name: (mass, centre, inertia(spread)) for part in parts for mass, centre, spread in [part.masses()]}
    return Robot(spec, left_out, bodies, damping)


def _drawn(spec: Any, body: Any, name: str, shape: Element, at: np.ndarray, folder: Path) -> Iterator[str]:
    """Add a shape to a body; a sentence on a mesh that is not to be had."""
    at = at @ frame(shape)
    place = {"pos": at[:3, 3], "quat": of_matrix(at[:3, :3])}
    for what in shape.findall("geometry/*"):
        if what.tag in SHAPES:
            number, sizes = SHAPES[what.tag]
            size = np.concatenate([numbers(what, key, count) for key, count in sizes.items()])*(
                1.0 if number == 2 else [1.0, 0.5] if number < 6 else 0.5)
            body.add_geom(type=number, size=[*size, 0.0, 0.0][:3], **place)
        elif what.tag == "mesh":
            ends = Path(what.get("filename", "").partition("://")[2] or what.get("filename", "")).parts
            files = (folder.joinpath(*ends[k:]).resolve() for k in range(len(ends)))
            file = next((file for file in files if file.is_file() and file.is_relative_to(folder)), None)
            if file is None or file.suffix.lower() not in (".stl", ".obj"):
                yield f"The mesh {Path(*ends).stem} of link {name} is left out: no STL or OBJ in the folder of the file."
            else:
                mesh = f"mesh_{len(spec.meshes)}"
                spec.add_mesh(name=mesh, file=str(file), scale=numbers(what, "scale", 3, 1.0))
                body.add_geom(type=7, meshname=mesh, **place)
