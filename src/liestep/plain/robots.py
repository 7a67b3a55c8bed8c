"""Robots from MJCF and URDF files, `liestep.from_mjcf` and `liestep.from_urdf`: docs/own_mechanism.md.

MuJoCo's compiler reads both. What a mechanism does not have is taken out of its model first and told in a sentence
each, so that no file of pictures is read; then the numbers of bodies and joints become the text of a plugin.
"""
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from liestep.errors import InputError, extras
from liestep.files.textfiles import read_text
from liestep.geometry.groups.poses import QUATERNION
from liestep.mechanics.formulations.multibody.assembly import GROUND
from liestep.mechanics.formulations.multibody.forms import matrices
from liestep.mechanics.formulations.multibody.tree import Tree
from liestep.plain import System

URDF = frozenset((  # what is read, or told by MuJoCo
    "robot", "link", "inertial", "origin", "mass", "inertia", "visual", "collision", "geometry", "box", "cylinder",
    "sphere", "capsule", "mesh", "material", "color", "texture", "joint", "parent", "child", "axis", "dynamics",
    "limit", "mujoco"))
LEFT_OUT = {
    "actuators": "actuator", "sensors": "sensor", "tendons": "tendon", "equalities": "equality", "pairs": "pair",
    "excludes": "exclusion of a contact", "keys": "keyframe", "skins": "skin", "flexes": "flexible body",
    "cameras": "camera", "lights": "light", "sites": "site", "materials": "material", "textures": "texture",
    "hfields": "height field", "texts": "text", "numerics": "number", "tuples": "tuple", "plugins": "plugin"}
UNREAD = ("mesh", "texture", "hfield", "skin")  # their files are opened only where masses need them
KINDS = ("free", "ball", "slide", "hinge")  # of MuJoCo's joints by number


class Robot(System):
    """A system from a file: an id as of `liestep.system`, with `tree` (names, parents, joints) and `left_out`, a
    sentence on each part of the file that the mechanism does not have; runs have them as an attribute too. q and v are
    the coordinates and rates of its joints, in MuJoCo's order and meaning."""

    tree: Tree

    @property
    def left_out(self) -> tuple[str, ...]:
        return self.tree.left_out

    def start(self, q: Any = None, v: Any = None) -> dict[str, np.ndarray]:
        """The state of the bodies at q and v, to be given as `initial`; without them the file's q, at rest. Raises
        InputError for another number of them."""
        at, rates = self.coordinates(self._preset.initial(self._preset.parameters))
        return self.tree.state(at if q is None else q, 0.0*rates if v is None else v)

    def coordinates(self, states: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """q and v of a state, or (time, ...) of a run, whose angles then are continuous in time."""
        return self.tree.coordinates(states)

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Of the joints' rates, armature included, in kg m2 (kg of slides)."""
        return self.tree.mass_matrix(self._parameters, np.array(q, dtype=float))

    def bias(self, q: Any, v: Any) -> np.ndarray:
        """Torques in N m (forces in N) that hold all accelerations of the joints at zero; damping is no part of it."""
        return self.tree.bias(self._parameters, np.array(q, dtype=float), np.array(v, dtype=float))

    @property
    def _preset(self) -> Any:
        return self.sheet.presets["own"]

    @property
    def _parameters(self) -> Mapping[str, Any]:
        return self.sheet.check(self._preset.parameters)


def from_mjcf(path: str | Path, *, name: str | None = None, q: Any = None, v: Any = None,
              t_end: float = 10.0) -> Robot:
    """A robot of an MJCF file as a mechanism in absolute coordinates: bodies, inertias, hinges, slides, balls, free
    joints, gravity, armature and damping. What else it has is left out, a sentence each in `left_out`.

    Args:
        path: of the file; what it includes must lie in its folder or below.
        name: of the system (default: that of the file). q, v: coordinates and rates of the joints at the start, as in
            MuJoCo (default: those of the file, at rest). t_end: in s.

    Returns:
        Robot, an id that stands wherever one does.

    Raises:
        InputError: no such file, no MJCF, entities, paths outside the folder, a model without joints or masses, joints
            that mechanisms do not have, or mujoco is not installed.
    """
    return _robot(Path(path), "mujoco", name, q, v, t_end, False)


def from_urdf(path: str | Path, *, name: str | None = None, q: Any = None, v: Any = None, t_end: float = 10.0,
              free_base: bool = False) -> Robot:
    """A robot of a URDF file, as `from_mjcf`; gravity is 9.81 m/s2 along -z. free_base: its first link moves freely (7
    coordinates and 6 rates before the others) instead of being fixed to the ground."""
    return _robot(Path(path), "robot", name, q, v, t_end, free_base)


@extras()
def _robot(path: Path, root: str, name: str | None, q: Any, v: Any, t_end: float, free_base: bool) -> Robot:
    import mujoco

    notes = _scanned(path, path.resolve().parent, root, set())
    try:
        spec = mujoco.MjSpec.from_file(str(path.resolve()))
        if free_base:
            spec.worldbody.first_body().add_freejoint()
        notes += _stripped(spec, path)
        model = spec.compile()
    except (ValueError, AttributeError) as error:
        raise InputError(f"{path}: {' '.join(str(error).removeprefix('Error: ').split())}") from None
    if not model.njnt:
        raise InputError(f"{path} has no joint: nothing moves")
    facts, values = _read(mujoco, model, (*notes, *_of_joints(model)))
    tree = Tree(**facts)
    q, v = model.qpos0 if q is None else q, np.zeros(model.nv) if v is None else v
    tree.state(q, v)
    known = {**facts, "title": f"{path.stem} of {path.name}", "citation": f"own file {path.name}", "values": values,
             "q": np.asarray(q, dtype=float).tolist(), "v": np.asarray(v, dtype=float).tolist(), "t_end": float(t_end)}
    lines = "".join(f"    {key}={value!r},\n" for key, value in known.items())
    text = (f'"""{path.name}: bodies and joints by liestep.from_{"mjcf" if root == "mujoco" else "urdf"}."""\n'
            f"from liestep.extend import tree\n\nSHEET = tree(\n{lines})\n")
    found = Robot.of(path.stem if name is None else name, text)
    found.tree = tree
    return found


def _scanned(path: Path, folder: Path, root: str, seen: set[Path]) -> list[str]:
    """Sentences on elements of a URDF that nobody reads. Raises InputError for what is no such file, for document types
    (which can hold entities) and for files outside the folder, also of files that are included."""
    place, notes, unread = path.resolve(), [], 0
    if place in seen:
        return []
    seen.add(place)
    parser, tags = expat.ParserCreate(), []

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal unread
        tags.append(tag)
        if len(tags) == 1 and len(seen) == 1 and tag != root:
            kinds = {"mujoco": "from_mjcf", "robot": "from_urdf"}
            other = f": liestep.{kinds[tag]} reads it" if tag in kinds else ""
            raise InputError(f"{path} begins with <{tag}> instead of <{root}>{other}")
        if root == "robot" and tag not in URDF:
            if not unread:
                line = parser.CurrentLineNumber
                notes.append(f"<{tag}> {attributes.get('name', f'in line {line}')} is left out.")
            unread += 1
        if "file" in attributes and tag not in UNREAD:
            if tag not in ("include", "model"):
                raise InputError(f"{path}: <{tag}> in line {parser.CurrentLineNumber} reads the file"
                                 f" {attributes['file']}, which is not taken over; take it out")
            for base in dict.fromkeys((folder, place.parent)):
                other_file = (base/attributes["file"]).resolve()
                if not other_file.is_relative_to(folder):
                    raise InputError(f"{path}: line {parser.CurrentLineNumber} names the file {attributes['file']},"
                                     " which is outside the folder of the model")
                if other_file.is_file():
                    notes.extend(_scanned(other_file, folder, root, seen))

    def end(tag: str) -> None:
        nonlocal unread
        unread -= root == "robot" and tag not in URDF

    def refuse(*_: Any) -> None:
        raise InputError(f"{path}: line {parser.CurrentLineNumber} declares a document type, which could hold entities;"
                         " take it out")

    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, refuse
    try:
        parser.Parse(read_text(path).encode(), True)
    except expat.ExpatError as error:
        raise InputError(f"{path} is no XML: {error}") from None
    return notes


def _label(part: Any, number: int) -> str:
    return getattr(part, "name", "") or str(number)


def _stripped(spec: Any, path: Path) -> list[str]:
    """Take out of a model what a mechanism does not have; sentences on it. Raises InputError for a mesh that the
    inertia needs and that is outside the model's folder."""
    by_geometry = spec.compiler.inertiafromgeom == 1
    notes, meshes, still = [], set(), set()
    for body in spec.bodies:
        if body.name == "world" or (body.parent.name in still and not len(body.joints)):
            still.add(body.name)
            body.explicitinertial, body.fullinertia = False, np.full(6, np.nan)  # may be wrong: it does not matter
        used = body.name not in still and (by_geometry or not body.explicitinertial)
        for geom in list(body.geoms):
            label = geom.name or f"of body {body.name}"
            notes.append(f"Geom {label} is left out{' but for its mass' if used else ''}: it touches nothing.")
            if used:
                geom.material = ""
                meshes.add(geom.meshname)
            else:
                spec.delete(geom)
        if body.gravcomp:
            notes.append(f"Gravity compensation of body {body.name} is left out.")
        if body.mocap:
            notes.append(f"Body {body.name} is moved from outside (mocap): it stands still.")
    for group, what in LEFT_OUT.items():
        for number, part in enumerate(list(getattr(spec, group))):
            notes.append(f"The {what} {_label(part, number)} is left out.")
            spec.delete(part)
    folder = path.resolve().parent
    for number, mesh in enumerate(list(spec.meshes)):
        if mesh.name not in meshes and Path(mesh.file).stem not in meshes:
            notes.append(f"The mesh {_label(mesh, number)} is left out.")
            spec.delete(mesh)
        elif mesh.file:
            named = Path(mesh.file).name if spec.strippath else mesh.file
            if not (folder/(spec.meshdir or "")/named).resolve().is_relative_to(folder):
                raise InputError(f"{path}: the mesh {mesh.file} is outside the folder of the model")
    if spec.option.density or spec.option.viscosity:
        notes.append("The fluid (density, viscosity, wind) is left out.")
    spec.compiler.fusestatic = False
    return notes


def _of_joints(model: Any) -> Iterator[str]:
    """Sentences on what joints of a mechanism do not have."""
    for k in range(model.njnt):
        first = model.jnt_dofadr[k]
        name = f"of joint {model.joint(k).name or k}"
        if model.jnt_limited[k]:
            yield f"The limits {name} are left out ({model.jnt_range[k, 0]:.6g} to {model.jnt_range[k, 1]:.6g})."
        if model.jnt_stiffness[k] or np.any(getattr(model, "jnt_stiffnesspoly", np.zeros((k + 1, 1)))[k]):
            yield f"The spring {name} is left out ({model.jnt_stiffness[k]:.6g} by unit)."
        if model.dof_frictionloss[first]:
            yield f"The dry friction {name} is left out ({model.dof_frictionloss[first]:.6g})."
        if np.any(getattr(model, "dof_dampingpoly", np.zeros((first + 1, 1)))[first]):
            yield f"The damping {name} that is not linear is left out."


def _read(mujoco: Any, model: Any, notes: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of `Tree` and values of its parameters. A body without joints is a part of its parent."""
    moving = [b for b in range(1, model.nbody) if model.body_jntnum[b]]
    index = {b: i for i, b in enumerate(moving)}
    places, turns = np.zeros((model.nbody, 3)), np.tile(np.eye(3), (model.nbody, 1, 1))  # on the moving body below
    owner, joints = {0: GROUND}, []
    parts: list[list[Any]] = [[] for _ in moving]
    for b in range(1, model.nbody):
        above, out, turn = int(model.body_parentid[b]), model.body_pos[b], _turn(model.body_quat[b])
        owner[b] = index.get(b, owner[above])
        if above in index:
            places[b], turns[b] = out, turn
        else:
            places[b], turns[b] = places[above] + turns[above] @ out, turns[above] @ turn
        if owner[b] != GROUND:
            frame = (np.zeros(3), np.eye(3)) if b in index else (places[b], turns[b])
            parts[owner[b]].append((model.body_mass[b], frame[0] + frame[1] @ model.body_ipos[b],
                                    frame[1] @ _turn(model.body_iquat[b]), model.body_inertia[b]))
        for k in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            kind = KINDS[model.jnt_type[k]]
            joints.append((model.joint(k).name or f"joint_{k}", index[b], kind, tuple(model.jnt_axis[k].tolist()),
                           (0.0, 0.0, 0.0) if kind == "free" else tuple(model.jnt_pos[k].tolist()),
                           float(model.qpos0[model.jnt_qposadr[k]]) if kind in ("slide", "hinge") else 0.0))
    off, bodies = int(model.opt.disableflags), [_joined(pieces) for pieces in parts]
    no_gravity, no_damper = (off & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}", 0))
                             for word in ("GRAVITY", "DAMPER"))
    values = {"mass": np.array([body[0] for body in bodies]), "inertia": np.array([body[2] for body in bodies]),
              "center_of_mass": np.array([body[1] for body in bodies]), "gravity": model.opt.gravity*(not no_gravity),
              "armature": model.dof_armature, "damping": model.dof_damping*(not no_damper)}
    facts = {"names": tuple(model.body(b).name or f"body_{b}" for b in moving),
             "parents": tuple(owner[int(model.body_parentid[b])] for b in moving),
             "places": places[moving].tolist(), "turns": turns[moving].tolist(), "joints": tuple(joints),
             "left_out": notes}
    return facts, {key: value.tolist() for key, value in values.items()}


def _turn(quaternion: np.ndarray) -> np.ndarray:
    return matrices(QUATERNION, quaternion[None])


def _joined(parts: list[Any]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, and inertia about it of parts (mass, centre of mass, principal axes, moments)."""
    mass = float(sum(part[0] for part in parts))
    centre = np.sum([part[0]*part[1] for part in parts], axis=0)/mass if len(parts) > 1 else parts[0][1]
    inertia = np.zeros((3, 3))
    for part, place, axes, moments in parts:
        arm = place - centre
        inertia += (axes*moments) @ axes.T + part*(arm @ arm*np.eye(3) - np.outer(arm, arm))
    return mass, centre, 0.5*(inertia + inertia.T)
