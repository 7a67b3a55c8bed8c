"""Links of URDF files as bodies of a MuJoCo model, without MuJoCo's reader, which fuses links and turns inertias
wrongly (its issues 2982 and 3559).

Masses are matrices (4, 4) of second moments, sums of dm (x, 1) (x, 1)^T: those of what moves together add up, and a
motion T makes T A T^T of them. In other axes the inertia is trace(S) - S, with S (3, 3) about the centre of mass."""
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from liestep.errors import InputError, unknown
from liestep.files.textfiles import read_text
from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.sheet import MOMENTS_TOLERANCE
from liestep.mechanics.formulations.multibody.assembly import GROUND, complement
from liestep.mechanics.formulations.multibody.tree import ZERO, Tree, TreeJoint

KINDS = {"revolute": ("hinge",), "continuous": ("hinge",), "prismatic": ("slide",), "floating": ("free",), "fixed": (),
         "planar": ("slide", "slide", "hinge")}  # in a plane along two axes and about the normal
SHAPES = {"sphere": (2, {"radius": 1}), "capsule": (3, {"radius": 1, "length": 1}),  # MuJoCo's number; sizes
          "cylinder": (5, {"radius": 1, "length": 1}), "box": (6, {"size": 3})}
MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
FLAT, SMALL = 1e-9, 1e-15  # moments that are none, relative to the largest of the same body, and to those of all


@dataclass(eq=False)
class MovingLink:
    """A link that moves and those fixed to it, with its frame in that of its parent (None: the ground)."""

    name: str
    parent: "MovingLink | None"
    frame: np.ndarray
    joints: list[TreeJoint]
    moments: np.ndarray = field(default_factory=lambda: np.zeros((4, 4)))

    def masses(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, its centre (3,), and the second moments about that (3, 3)."""
        mass = float(self.moments[3, 3])
        centre = self.moments[:3, 3]/(mass or 1.0)
        return mass, centre, self.moments[:3, :3] - mass*np.outer(centre, centre)

    def poor(self, largest: float) -> bool:
        """Whether it has no mass, or no inertia about an axis."""
        moments = np.linalg.eigvalsh(inertia(self.masses()[2]))
        return not (self.moments[3, 3] > 0.0 and moments[0] > max(FLAT*moments[2], SMALL*largest))


Links = list[tuple[Element, MovingLink | None, np.ndarray]]  # with the part that a link belongs to, and its frame in it


def inertia(moments: np.ndarray) -> np.ndarray:
    return np.trace(moments)*np.eye(3) - moments


def numbers(element: Element | None, name: str, size: int = 1, default: float | None = None) -> np.ndarray:
    """Those of an attribute, or the default. Raises InputError: others, or none."""
    text = None if element is None else element.get(name)
    if text is None and default is not None:
        return np.full(size, default)
    with suppress(ValueError):
        numbers = np.array((text or "").split(), dtype=float).reshape(size)
        if np.isfinite(numbers).all():
            return numbers
    raise InputError(f"{name} of <{'inertial' if element is None else element.tag}> is {text!r}; it must be {size}"
                     f" finite number{'s'*(size > 1)}")


def frame(element: Element) -> np.ndarray:
    """The motion (4, 4) of <origin>: roll, pitch and yaw about fixed axes, and the place."""
    origin, frame = element.find("origin"), np.eye(4)
    (cx, cy, cz), (sx, sy, sz) = (of(numbers(origin, "rpy", 3, 0.0)) for of in (np.cos, np.sin))
    frame[:3, :3] = [[cz*cy, cz*sy*sx - sz*cx, cz*sy*cx + sz*sx], [sz*cy, sz*sy*sx + cz*cx, sz*sy*cx - cz*sx],
                     [-sy, cy*sx, cy*cx]]
    frame[:3, 3] = numbers(origin, "xyz", 3, 0.0)
    return frame


def moments(link: Element) -> np.ndarray:
    """Those of a link in its frame; zero without <inertial>."""
    inertial, spread = link.find("inertial"), np.zeros((4, 4))
    if inertial is None:
        return spread
    where, given, turning = frame(inertial), inertial.find("inertia"), np.zeros((3, 3))
    for name, (j, k) in MOMENTS.items():
        turning[j, k] = turning[k, j] = numbers(given, name, 1, None if j == k and given is not None else 0.0)[0]
    spread[:3, :3], spread[3, 3] = inertia(turning) - 0.5*np.trace(turning)*np.eye(3), numbers(
        inertial.find("mass"), "value")[0]
    if spread[3, 3] < 0.0:
        raise InputError(f"the mass of link {link.get('name')} must not be negative")
    return where @ spread @ where.T


def named(root: Element, what: str) -> dict[str, Element]:
    """Links or joints by name. Raises InputError: one without a name, or two of one name."""
    found: dict[str, Element] = {}
    for element in root.findall(what):
        if not (name := element.get("name", "")) or name in found:
            raise InputError(f"two {what}s have the name {name}" if name else f"a <{what}> has no name")
        found[name] = element
    return found


def ordered(root: Element) -> Iterator[tuple[str, Element, str, Element | None]]:
    """Links by name, each after the one that it hangs on, that one's name and the joint (of the first: none).
    Raises InputError: links and joints are no tree."""
    links, above = named(root, "link"), dict[str, tuple[str, Element]]()
    below: dict[str, list[str]] = {name: [] for name in links}
    for name, joint in named(root, "joint").items():
        ends = [getattr(joint.find(end), "attrib", {}).get("link", "") for end in ("parent", "child")]
        for what, end in zip(("parent", "child"), ends, strict=True):
            if end not in links:
                raise InputError(f"the {what} of joint {name}: {unknown('link', end, links)}")
        if (other := above.setdefault(ends[1], (ends[0], joint))[1]) is not joint:
            raise InputError(f"link {ends[1]} hangs on two joints, {other.get('name')} and {name}: a URDF has no loops")
        below[ends[0]].append(ends[1])
    left = [name for name in links if name not in above]
    if len(left) > 1 or not links:
        raise InputError(f"the links {', '.join(left[:5])} hang on no joint: a URDF has one such link"
                         if left else "it has no link")
    while left:
        name = left.pop()
        yield name, links.pop(name), *above.get(name, ("", None))
        left.extend(below[name][::-1])
    if links:
        raise InputError(f"the links {', '.join(sorted(links)[:5])} hang on each other: a URDF has no loops")


def moving(joint: Element) -> list[TreeJoint]:
    """The joints that its child has. Raises InputError: no type of a joint, or no axis."""
    name, kind = joint.get("name", ""), joint.get("type", "")
    if kind not in KINDS:
        raise InputError(f"joint {name}: {unknown('type', kind, KINDS)}")
    axis = np.eye(3)[0] if joint.find("axis") is None else numbers(joint.find("axis"), "xyz", 3)
    if kind not in ("fixed", "floating") and not axis.any():
        raise InputError(f"the axis of joint {name} must not be zero")
    axis = axis/(np.linalg.norm(axis) or 1.0)
    axes = [*complement(axis), axis] if kind == "planar" else [axis]
    return [TreeJoint(f"{name}_{k}" if kind == "planar" else name, 0, what, along, ZERO, 0.0)
            for k, what, along in zip("xyz", KINDS[kind], axes, strict=False)]


def parts_of(root: Element, free_base: bool) -> tuple[list[MovingLink], Links]:
    """Parts, each after its parent, and all links."""
    parts: list[MovingLink] = []
    links: Links = []
    known: dict[str, tuple[MovingLink | None, np.ndarray]] = {"": (None, np.eye(4))}
    for name, link, above, joint in ordered(root):
        part, at = known[above]
        if joint is not None:
            at = at @ frame(joint)
        joints = [TreeJoint("", 0, "free", ZERO, ZERO, 0.0)]*free_base if joint is None else moving(joint)
        if joints:
            if part is not None and joints[0].kind == "free":
                raise InputError(f"joint {joints[0].name} is floating; allowed is one on the ground")
            part, at = MovingLink(name, part, at, joints), np.eye(4)
            parts.append(part)
        if part is not None:
            part.moments += at @ moments(link) @ at.T
        known[name] = part, at
        links.append((link, part, at))
    return parts, links


def joined(parts: list[MovingLink], links: Links) -> None:
    """Give the joints of a part without mass to the only one on it, where one body can have the joints of both: hinges
    then have a point in common, the nearest to their axes."""
    for part in parts[::-1]:
        on = [other for other in parts if other.parent is part]
        if part.moments.any() or len(on) != 1:
            continue
        other, back = on[0], np.linalg.inv(on[0].frame)
        both = [*(joint._replace(axis=back[:3, :3] @ joint.axis, point=(back @ [*joint.point, 1.0])[:3])
                  for joint in part.joints), *other.joints]
        axes, points = (np.array([joint[k] for joint in both if joint.kind == "hinge"]).reshape(-1, 3) for k in (3, 4))
        across = np.eye(3) - axes[:, :, None]*axes[:, None]
        aims = np.einsum("kij,kj->ki", across, points)
        at = np.linalg.lstsq(across.reshape(-1, 3), aims.ravel(), rcond=None)[0]
        if np.abs(across @ at - aims).max(initial=0.0) > FLAT*np.abs(points).max(initial=0.0):
            continue
        both = [joint._replace(point=at) if joint.kind == "hinge" else joint for joint in both]
        with suppress(InputError):
            Tree((part.name,), (GROUND,), np.zeros((1, 3)), np.eye(3)[None], both, ())
            links[:] = [(link, other, back @ at) if own is part else (link, own, at) for link, own, at in links]
            other.joints, other.frame, other.parent = both, part.frame @ other.frame, part.parent
            parts.remove(part)


def shared(giver: MovingLink, joints: list[TreeJoint], at: np.ndarray) -> np.ndarray:
    """A quarter of the most that a part can give of what moves alike on both sides of joints: mass in the point of
    hinges, and a line of it along a single one; any turning along slides. `at`: from the joints' frame to its own."""
    (mass, centre, spread), found = giver.masses(), np.zeros((4, 4))
    kinds = {joint.kind for joint in joints}
    if kinds == {"slide"}:
        found[:3, :3] = spread
    elif kinds == {"hinge"} and mass > 0.0:
        known = np.linalg.pinv(spread, rcond=FLAT, hermitian=True)

        def most(v: np.ndarray, rest: float) -> float:
            inside = np.linalg.norm(spread @ known @ v - v) <= FLAT*np.linalg.norm(v)
            return float(1.0/(v @ known @ v + rest)) if inside else 0.0

        place, axis = at @ [*joints[0].point, 1.0], at[:3, :3] @ joints[0].axis
        found += most(place[:3] - centre, 1.0/mass)*np.outer(place, place)
        found[:3, :3] += most(axis, 0.0)*np.outer(axis, axis)*(len(joints) == 1)
    return 0.25*found


def lent(parts: list[MovingLink]) -> None:
    """Give parts that have no mass, or no inertia about an axis, from those beside them (or the ground) what moves
    alike on both sides of the joint: motions stay as they are. Raises InputError: there is none; or moments of inertia
    that no body has."""
    total = np.diag(np.diag(sum((part.moments for part in parts), np.zeros((4, 4)))))
    largest, unit = float(np.trace(total[:3, :3])), np.eye(4)
    for part in parts:
        mass, centre, spread = part.masses()
        if np.trace(spread) <= SMALL*largest:
            part.moments[:3, :3] = mass*np.outer(centre, centre)
        elif np.linalg.eigvalsh(spread)[0] < -MOMENTS_TOLERANCE*np.trace(spread):
            shown = ", ".join(f"{x:.6g}" for x in np.linalg.eigvalsh(inertia(spread)))
            raise InputError(f"link {part.name}, with those fixed to it, has the moments of inertia {shown}, which no"
                             " body has: each must be positive, and at most the sum of the others")
    for part in [part for part in parts[::-1] if part.poor(largest)]:
        above = part.parent or MovingLink("", None, unit, [], part.frame @ total @ part.frame.T)
        beside = [(other, other.joints, unit, other.frame) for other in parts if other.parent is part]
        for giver, joints, at, to in [*beside, (above, part.joints, part.frame, np.linalg.inv(part.frame))]:
            if not giver.poor(largest):
                found = shared(giver, joints, at)
                giver.moments, part.moments = giver.moments - found, part.moments + to @ found @ to.T
    if poor := [part.name for part in parts if part.poor(largest)]:
        raise InputError(f"link {poor[0]}, with those fixed to it, has no mass or no inertia about an axis, and takes"
                         " none from what it is joined to")


def lost(name: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on what a joint of a mechanism does not have, where its numbers are not all zero."""
    for what, values in facts.items():
        if np.any(values):
            yield f"Joint {name} loses its {what} ({', '.join(f'{value:.6g}' for value in np.ravel(values))})."


def read(path: Path, free_base: bool) -> tuple[Any, list[str], dict[str, Any], dict[str, float]]:
    """Of a file the model without masses and damping; sentences on what is left out; of bodies by name the mass, its
    centre and the inertia about it; the damping of joints by name.
    Raises InputError: links that are no tree, or that have no masses."""
    import mujoco

    root = ElementTree.fromstring(read_text(path))
    parts, links = parts_of(root, free_base)
    joined(parts, links)
    lent(parts)
    compiler = root.find("mujoco/compiler")
    folders = path.parent, path.parent/("" if compiler is None else compiler.get("meshdir", ""))
    spec, left_out, bodies, damping = mujoco.MjSpec(), list[str](), {}, {}
    spec.compiler.degree = False
    made: dict[MovingLink | None, Any] = {None: spec.worldbody}
    for part in parts:
        mass, centre, spread = part.masses()
        name = part.name + "_"*(part.name == "world")  # MuJoCo's name of the ground
        bodies[name] = mass, centre, inertia(spread)
        made[part] = made[part.parent].add_body(
            name=name, pos=part.frame[:3, 3], quat=of_matrix(part.frame[:3, :3]), mass=1.0, inertia=np.ones(3),
            ipos=ZERO, explicitinertial=True)
        for joint in part.joints:
            made[part].add_joint(name=joint.name, type=getattr(mujoco.mjtJoint, f"mjJNT_{joint.kind.upper()}"),
                                 axis=joint.axis, pos=joint.point)
    for link, owner, at in links:
        for shape in link.findall("collision") or link.findall("visual"):
            left_out.extend(_drawn(spec, made[owner], link.get("name", ""), shape, at, folders))
    for name, item in named(root, "joint").items():
        limit, dynamics = item.find("limit"), item.find("dynamics")
        damping[name] = float(numbers(dynamics, "damping", 1, 0.0)[0])
        lower, upper, *most = (numbers(limit, end, 1, 0.0)[0] for end in ("lower", "upper", "effort", "velocity"))
        between = np.array([lower, upper])*(item.get("type") != "continuous")
        left_out.extend(lost(name, {"limits": between, "limits of effort and velocity": most,
                                    "dry friction": numbers(dynamics, "friction", 1, 0.0),
                                    "damping": damping[name]*(item.get("type") == "planar")}))
    return spec, left_out, bodies, damping


def _drawn(spec: Any, body: Any, name: str, shape: Element, at: np.ndarray,
           folders: tuple[Path, Path]) -> Iterator[str]:
    """Add a shape to a body; a sentence on a mesh that is not to be had."""
    at = at @ frame(shape)
    place = {"pos": at[:3, 3], "quat": of_matrix(at[:3, :3]), "name": f"{len(spec.geoms)} of link {name}"}
    for what in shape.findall("geometry/*"):
        if what.tag in SHAPES:
            number, sizes = SHAPES[what.tag]
            size = np.concatenate([numbers(what, key, count) for key, count in sizes.items()])
            body.add_geom(type=number, size=[*size*[1.0 if key == "radius" else 0.5 for key in sizes], 0.0, 0.0][:3],
                          **place)
        elif what.tag == "mesh":
            ends = Path(what.get("filename", "").rpartition("://")[2]).parts
            files = (folder.joinpath(*ends[k:]).resolve() for folder in folders for k in range(len(ends)))
            file = next((file for file in files if file.is_file() and file.is_relative_to(folders[0])), None)
            if file is None or file.suffix.lower() not in (".stl", ".obj"):
                yield f"The mesh {Path(*ends).stem} of link {name} is left out: no STL or OBJ in the file's folder."
            else:
                mesh = f"mesh_{len(spec.meshes)}"
                spec.add_mesh(name=mesh, file=str(file), scale=numbers(what, "scale", 3, 1.0))
                body.add_geom(type=7, meshname=mesh, **place)
