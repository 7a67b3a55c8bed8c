"""Robots from MJCF and URDF files, `liestep.from_mjcf` and `liestep.from_urdf`: docs/robots.md.

MuJoCo reads both. What a mechanism does not have is taken out of its model first and told in a sentence each, so that
no file of pictures is opened; then the numbers of bodies and joints become the text of a plugin."""
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError, number_or_nan, unknown
from liestep.files.extras import extras
from liestep.files.textfiles import read_text
from liestep.mechanics.contracts.sheet import Fields, Parameters, State
from liestep.mechanics.formulations.multibody.assembly import GROUND
from liestep.mechanics.formulations.multibody.inverse import JointSpace
from liestep.mechanics.formulations.multibody.tree import Tree
from liestep.plain import LONGEST_ID, System, urdf
from liestep.simulation.endings.going import specification_of
from liestep.simulation.runs.outcomes import carry_out

FUNCTIONS = {"mujoco": "from_mjcf", "robot": "from_urdf"}  # by the first element of a file
URDF = {tag: set(names) for tag, *names in map(str.split, (  # elements and attributes that are read or of pictures
    "robot name version", "link name", "inertial", "origin xyz rpy", "mass value", "inertia ixx ixy ixz iyy iyz izz",
    "visual name", "collision name", "geometry", "box size", "cylinder radius length", "sphere radius",
    "capsule radius length", "mesh filename scale", "material name", "color rgba", "texture filename",
    "joint name type", "parent link", "child link", "axis xyz", "dynamics damping friction",
    "limit lower upper effort velocity", "mujoco", "compiler meshdir"))}
MANY = {"link", "joint", "visual", "collision", "material"}  # of an element
UNREAD = ("mesh", "texture", "hfield", "skin")  # their files are opened only where masses need them
LEFT_OUT = {
    "actuators": "actuator", "sensors": "sensor", "tendons": "tendon", "equalities": "equality", "pairs": "pair",
    "excludes": "exclusion of a contact", "keys": "keyframe", "skins": "skin", "flexes": "flexible body",
    "cameras": "camera", "lights": "light", "sites": "site", "materials": "material", "textures": "texture",
    "hfields": "height field", "texts": "text", "numerics": "number", "tuples": "tuple", "plugins": "plugin"}
COLLISION, MESH, LAST_GROUP = 3, 7, 30  # the first group of geoms that viewers hide, and numbers of MuJoCo's
GRIDS, LETTERS = (8, 5, 3, 0), 1 << 18  # cells of meshes: the first ones whose text has at most so many letters
ELEMENTS = 10_000  # of a model that are repeated, at most
Coordinates = ArrayLike | None
# MuJoCo's geoms by number: the shape, and its size of that of the geom; a capsule is as long as its cylinder and ends
SHAPES: Mapping[int, tuple[str, Callable[[np.ndarray], Any]]] = {
    2: ("ball", lambda s: s[[0, 0, 0]]), 3: ("cylinder", lambda s: (s[0], 2.0*(s[0] + s[1]))), 4: ("ball", lambda s: s),
    5: ("cylinder", lambda s: (s[0], 2.0*s[1])), 6: ("box", lambda s: 2.0*s), MESH: ("mesh", lambda s: None)}
# intervals in which turns are counted, at most where a run has no steps; angles in one, and off what rates say there
FEWEST, MOST, FAR, NEAR, FULL_TURN = 50, 200_000, 1.5, 0.1, 2.0*np.pi
NO_LIMIT = np.finfo(float).max*np.array([-1.0, 1.0])
OFF = {flag: facts for flag, *facts in map(str.split, (  # what flags of MuJoCo's switch off
    "SPRING jnt_stiffness jnt_stiffnesspoly", "DAMPER dof_damping dof_dampingpoly", "LIMIT jnt_limited",
    "FRICTIONLOSS dof_frictionloss", "CONSTRAINT jnt_limited dof_frictionloss"))}
KINDS = ("free", "ball", "slide", "hinge")  # of MuJoCo's joints by number


class Robot(System):
    """A system from a file, an id as that of `liestep.system`. `left_out` has a sentence on each part of the file that
    the mechanism does not have; runs tell them as an attribute. q and v are coordinates and rates of the joints, in
    MuJoCo's order and meaning; `tree` names bodies and joints."""

    tree: Tree

    @property
    def left_out(self) -> tuple[str, ...]:
        return self.tree.left_out

    def start(self, q: ArrayLike, v: ArrayLike | None = None) -> dict[str, np.ndarray]:
        """State of a robot whose joints are there, to be given as `initial`. Raises InputError: another size.

        Args:
            q: coordinates of the joints, in m and rad.
            v: their rates, in m/s and rad/s (default: at rest).
        """
        return self.tree.state(q, np.zeros(self.tree.sizes[1]) if v is None else v)

    def torque(self, values: Fields) -> dict[str, np.ndarray]:
        """What a controller gives for torques of joints by their names, the others zero. Raises InputError: an unknown
        joint, or another number of values than its rates.

        Args:
            values: in N m, or in N of slides, by joints.
        """
        labels = np.array(self.tree.labels)
        torques = np.zeros(len(labels))
        for name, value in values.items():
            at = np.flatnonzero(labels == name)
            if not at.size:
                raise InputError(f"torque: {unknown('joint', name, labels)}; joints that are fixed have none")
            if np.shape(value) not in ((), (len(at),)) or (not np.shape(value) and len(at) > 1):
                raise InputError(f"torque of joint {name} must be {len(at)} numbers, not of shape {np.shape(value)}")
            torques[at] = value
        return {"torque": torques}

    def actuate(self, values: Mapping[str, float], state: State | None = None) -> dict[str, np.ndarray]:
        """What a controller gives for motors and servos of an MJCF file by their names, ctrl of the others zero: gear
        times the force of gain, kp and kv, within their ranges and those of the joints. Raises InputError: an unknown
        motor, no number, or a file with servos and no state.

        Args:
            values: MuJoCo's ctrl, by motors.
            state: of the controller, whose q and v servos follow, until it is called again (default: no servos).
        """
        torques, motors = np.zeros(self.tree.sizes[1]), {motor.name: motor for motor in self.tree.motors}
        for name, value in values.items():
            if name not in motors:
                raise InputError(f"actuate: {unknown('motor', name, motors)}")
            if not np.isfinite(number_or_nan(value)):
                raise InputError(f"motor {name} takes one finite number, not {value!r}")
        servo = next((motor.name for motor in motors.values() if any(motor.bias)), "")
        if servo and state is None:
            raise InputError(f"actuate: servo {servo} follows q and v: give actuate(values, state)")
        q, v = (state["q"], state["v"]) if servo and state is not None else (None, None)
        for motor in motors.values():
            torques[motor.to] += motor.torque(float(values.get(motor.name, 0.0)), q, v)
        for motor in motors.values():
            torques[motor.to] = np.clip(torques[motor.to], *motor.torques)
        return {"torque": torques}

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Mass matrix of the joints, armature included, in kg m2 (kg of slides).

        Args:
            q: coordinates of the joints, in m and rad.
        """
        found: np.ndarray = self.tree.dynamics(self._joint_space, q, np.zeros(self.tree.sizes[1]))[0]
        return found + np.diag(self._parameters["armature"])

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Torques that hold the joints at no acceleration, against gravity and the forces of rates, without damping; at
        v = 0 those of gravity compensation. Masses and gravity are the file's, whatever the `parameters` of a run.

        Args:
            q: coordinates of the joints, in m and rad.
            v: their rates, in m/s and rad/s.
        """
        return self.tree.dynamics(self._joint_space, q, v)[1]

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Torques that accelerate the joints so, against damping too.

        Args:
            q: coordinates of the joints, in m and rad.
            v: their rates, in m/s and rad/s.
            a: their accelerations, in m/s2 and rad/s2.
        """
        matrix, bias = self.tree.dynamics(self._joint_space, q, v)
        p, wanted = self._parameters, self.tree.numbers("a", a, len(bias))
        found: np.ndarray = matrix @ wanted + bias + p["armature"]*wanted + p["damping"]*np.asarray(v, dtype=float)
        return found

    @cached_property
    def _parameters(self) -> Parameters:
        return self.sheet.check(self.sheet.presets["own"].parameters)

    @cached_property
    def _joint_space(self) -> JointSpace:
        return self.tree.joint_space(self._parameters)

    def coordinates(self, run: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v (time, ...) of a run; angles are continuous in time. Where samples are too few to count the turns,
        the run is made again with more of them, unless it has events or a controller. Of an ensemble those of each
        member, (member, ...); angles of ends are within half a turn of the file's.

        Args:
            run: data set of `simulate` or `ensemble`.
        """
        if "member" in getattr(run, "dims", ()):
            made = [self.coordinates(run.isel(member=[k] if "time" not in run.dims else k).rename(
                {} if "time" in run.dims else {"member": "time"})) for k in range(run.sizes["member"])]
            q, v = (np.stack(parts) for parts in zip(*made, strict=True))
            return (q, v) if "time" in run.dims else (q[:, 0], v[:, 0])
        q, v = self.tree.coordinates(run)
        about = getattr(run, "attrs", {})
        at, to = self.tree.hinges()
        if "specification" not in about or not at:
            return q, v
        times, asked, size = np.asarray(run["time"]), json.loads(about["specification"]), FEWEST
        known, most = (times, q[:, at], v[:, to]), asked["steps"] or MOST
        while not _wound(*known) and size <= most and not (asked.get("events") or asked.get("control")):
            size = next(k for k in range(size, most + 1) if most % k == 0) if asked["steps"] else size
            fine = carry_out(specification_of(about, samples=size + 1), interpreted=True).variables
            more = self.tree.coordinates({name: variable[1] for name, variable in fine.items()})
            known, size = (fine["time"][1], more[0][:, at], more[1][:, to]), 4*size
        sign = np.sign(times[-1] - times[0])
        k = np.searchsorted(sign*known[0], sign*times, side="right") - 1
        told = known[1][k] + known[2][k]*(times - known[0][k])[:, None]
        q[:, at] += FULL_TURN*np.round((told - q[:, at])/FULL_TURN)
        return q, v


def _wound(times: np.ndarray, angles: np.ndarray, rates: np.ndarray) -> bool:
    """Count turns from one time to the next, by the mean of the two rates; whether that leaves no doubt."""
    told = 0.5*np.diff(times)[:, None]*(rates[1:] + rates[:-1])
    off = told - np.diff(angles, axis=0)
    turns = np.round(off/FULL_TURN)
    angles[1:] += FULL_TURN*np.cumsum(turns, axis=0)
    return len(times) > FEWEST and max(np.abs(doubt).max(initial=0.0) for doubt in (
        told/FAR, (off - FULL_TURN*turns)/NEAR)) <= 1.0


def from_mjcf(path: str | Path, *, name: str | None = None, q: Coordinates = None, v: Coordinates = None,
              t_end: float = 10.0) -> Robot:
    """The robot of an MJCF file as a mechanism in absolute coordinates: bodies, inertias, hinges, slides, balls, free
    joints, gravity, armature and damping. What else it has is left out, a sentence each in `left_out`.

    Args:
        path: of the file; what it includes lies in its folder or below.
        name: of the system (default: that of the file).
        q: coordinates of the joints at the start, in MuJoCo's order, in m and rad (default: the file's).
        v: their rates at the start, in m/s and rad/s (default: at rest).
        t_end: of runs that say none, in s (default 10).

    Raises:
        InputError: no such file, no MJCF, entities, paths outside the folder, a model without joints or masses, joints
            that mechanisms do not have, or mujoco is not installed.
    """
    return _robot(path, "mujoco", name, q, v, t_end)


def from_urdf(path: str | Path, *, name: str | None = None, q: Coordinates = None, v: Coordinates = None,
              t_end: float = 10.0, free_base: bool = False) -> Robot:
    """The robot of a URDF file, as `from_mjcf`; gravity is 9.81 m/s2 along -z.

    Args:
        path: of the file; what it includes lies in its folder or below.
        name: of the system (default: that of the file).
        q: coordinates of the joints at the start, in MuJoCo's order, in m and rad (default: the file's).
        v: their rates at the start, in m/s and rad/s (default: at rest).
        t_end: of runs that say none, in s (default 10).
        free_base: the first link moves freely (7 coordinates and 6 rates before the others), else it is fixed to the
            ground.

    Raises:
        InputError: as `from_mjcf`.
    """
    return _robot(path, "robot", name, q, v, t_end, free_base)


@extras()
def _robot(path: str | Path, root: str, name: str | None, q: Coordinates, v: Coordinates, t_end: float,
           free_base: bool = False) -> Robot:
    import mujoco

    if not isinstance(path, str | Path) or str(path).lstrip().startswith("<"):
        raise InputError(f"path must be that of a file with <{root}>, not its content")
    path = Path(path)
    place = path.resolve()
    left_out = _scanned(path, place.parent, root, {})
    try:
        spec, more, own, damping = urdf.read(place, free_base) if root == "robot" else (
            mujoco.MjSpec.from_file(str(place)), [], {}, {})
        left_out += [*more, *_stripped(spec, place)]
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"{path}: {' '.join(str(error).removeprefix('Error: ').split())}") from None
    if not model.njnt:
        raise InputError(f"{path} has no joint: nothing moves")
    data, flags = mujoco.MjData(model), mujoco.mjtDisableBit
    mujoco.mj_kinematics(model, data)
    for joint in map(model.joint, range(model.njnt)):
        joint.damping[:] = damping.get(joint.name, joint.damping)
    for what in ("armature", "damping", "dampingpoly"):  # of motors, for the joint's rate times the gear
        for k, amount in enumerate(getattr(model, f"actuator_{what}", ())):
            dof = model.jnt_dofadr[model.actuator_trnid[k, 0]]
            getattr(model, f"dof_{what}")[dof] += amount*model.actuator_gear[k, 0]**2
    for flag, facts in OFF.items():
        for fact in facts if model.opt.disableflags & int(getattr(flags, f"mjDSBL_{flag}", 0)) else ():
            getattr(model, fact, np.zeros(1))[:] = 0
    fields, bodies = _bodies(model, data, own)
    undrawn = bool(model.nmesh) and not any(shape[0] == "mesh" for shape in fields["shapes"])
    fields["left_out"] = (*left_out, *_of_joints(model), *["All meshes are left out of pictures: too many."]*undrawn)
    values = bodies | {"gravity": np.where(model.opt.disableflags & int(flags.mjDSBL_GRAVITY), 0.0, model.opt.gravity),
                       "armature": model.dof_armature, "damping": model.dof_damping, "torque": np.zeros(model.nv)}
    start = {"q": model.qpos0 if q is None else q, "v": np.zeros(model.nv) if v is None else v}
    if motors := tuple(_motors(model, bool(model.opt.disableflags & int(flags.mjDSBL_CLAMPCTRL)))):
        fields["motors"] = motors
        fields["left_out"] += tuple(f"The servo {one[0]} acts only by `actuate`." for one in motors if any(one[5]))
    tree = Tree(**fields)
    tree.state(**start)
    fields |= {"title": path.stem, "citation": f"own file {path.name}", "t_end": float(t_end),
               "values": {key: value.tolist() for key, value in values.items()},
               **{key: np.asarray(value, dtype=float).tolist() for key, value in start.items()}}
    lines = "".join(f"    {key}={value!r},\n" for key, value in fields.items())
    plain = re.sub(r"^(?=[^a-zA-Z])", "robot_", re.sub(r"\W", "_", path.stem, flags=re.ASCII))[:LONGEST_ID]
    robot = Robot.of(plain if name is None else name,
                     f'"""{path.name!r} by liestep.{FUNCTIONS[root]}."""\n'
                     f"from liestep.extend import tree\n\nSHEET = tree(\n{lines})\n")
    robot.tree = tree
    return robot


def _scanned(path: Path, folder: Path, root: str, seen: dict[Path, float], many: float = 1.0) -> list[str]:
    """Sentences on elements of a URDF that nobody reads. Raises InputError for what is no such file, for document types
    (which can hold entities), for files outside the folder, also of files that are included, and for elements of which
    more than ELEMENTS are made. seen: these of files; many: how often an included file is repeated."""
    if path.resolve() in seen:
        return []
    seen[path.resolve()] = 0.0
    parser, words, first = expat.ParserCreate(), [], len(seen) == 1
    inside: list[list[str]] = [[]]  # tags in the file and in each open element; the last but of the last is open
    times = [many]  # how often each open element is made

    def refuse(what: str) -> None:
        raise InputError(f"{path}: line {parser.CurrentLineNumber} {what}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(inside) == 1 and first and tag != root:
            refuse(f"begins with <{tag}>, not <{root}>: " + (
                f"liestep.{FUNCTIONS[tag]} reads it" if tag in FUNCTIONS else "it is no robot"))
        line = f"in line {parser.CurrentLineNumber}"
        if root == "robot" and URDF.keys() >= {tags[-1] for tags in inside[:-1]}:
            if tag in inside[-1] and tag in URDF and tag not in MANY:
                refuse(f"repeats <{tag}>, of which <{inside[-2][-1]}> has one")
            words.extend([f"{name} of <{tag}> {line} is left out." for name in sorted(set(attributes) - URDF[tag])
                          if not name.startswith("xmlns")] if tag in URDF else [
                f"<{tag}> {attributes.get('name', line)} is left out."])
        inside[-1].append(tag)
        inside.append([])
        times.append(times[-1]*prod(max(number_or_nan(count), 1.0) for count in attributes.get("count", "").split()))
        seen[path.resolve()] += times[-1]*(times[-1] > 1.0)
        if not sum(seen.values()) <= ELEMENTS:
            refuse(f"repeats <{tag}> {times[-1]:.6g} times; allowed are {ELEMENTS} repeated elements in all")
        if "nan" in " ".join(attributes.values()).lower().split():
            refuse(f"has NaN for a number of <{tag}>")
        if "file" in attributes and tag not in UNREAD:
            if tag not in ("include", "model"):
                refuse(f"reads the file {attributes['file']} for <{tag}>, which mechanisms do not have")
            for other in {(base/attributes["file"]).resolve() for base in (folder, path.resolve().parent)}:
                if not other.is_relative_to(folder):
                    refuse(f"names the file {attributes['file']}, which is outside the folder of the model")
                if other.is_file():
                    words.extend(_scanned(other, folder, root, seen, times[-1]))

    parser.StartElementHandler, parser.EndElementHandler = start, lambda _: (inside.pop(), times.pop())
    parser.StartDoctypeDeclHandler = lambda *_: refuse("declares a document type, which could hold entities")
    try:
        parser.Parse(read_text(path).encode(), True)
    except expat.ExpatError as error:
        raise InputError(f"{path} is no XML: {error}") from None
    return words


def _free(name: str, given: Container[str]) -> str:
    """A name for a part without one, as no other is called."""
    return name if name not in given else _free(f"{name}_", given)


def _each(body: Any, moves: bool) -> Iterator[tuple[Any, bool]]:
    """A body and those on it, each with whether it moves."""
    yield body, moves
    for other in body.bodies:
        yield from _each(other, moves or len(other.joints) > 0)


def _stripped(spec: Any, path: Path) -> list[str]:
    """Take out of a model what a mechanism does not have; sentences on it. Raises InputError for a mesh outside the
    model's folder that the inertia needs."""
    import mujoco

    found: list[str] = []
    meshes: dict[str, bool] = {}  # whether a mass needs it
    for number, (body, moves) in enumerate(_each(spec.worldbody, False)):
        weighs = moves or (number > 0 and spec.compiler.settotalmass > 0.0)
        if not weighs:
            body.explicitinertial, body.fullinertia = False, np.full(6, np.nan)  # may be wrong: it does not matter
        used = weighs and (spec.compiler.inertiafromgeom == 1 or not body.explicitinertial)
        for geom in list(body.geoms):
            label = geom.name or f"of body {body.name or number}"
            found.append(f"The geom {label} is left out{' but for its mass'*used}: it touches nothing.")
            if used or (moves and _drawn(spec, geom, path.parent)):
                geom.material, geom.contype, geom.conaffinity = "", 0, 0
                meshes[geom.meshname] = used or meshes.get(geom.meshname, False)
            else:
                spec.delete(geom)
        if body.gravcomp or body.mocap:
            found.append(f"That body {body.name} is moved from outside (gravcomp, mocap) is left out.")
    for group, what in (*LEFT_OUT.items(), ("meshes", "mesh")):
        for number, element in enumerate(list(getattr(spec, group))):
            if what == "mesh" and (known := {element.name, Path(element.file).stem} & set(meshes)):
                if not any(meshes[name] for name in known):
                    element.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # it may be flat
                file = Path(element.file).name if spec.strippath else element.file
                if not (path.parent/(spec.meshdir or "")/file).resolve().is_relative_to(path.parent):
                    raise InputError(f"{path}: the mesh {element.file} is outside the folder of the model")
            elif what == "actuator" and _drives(spec, element):
                element.name = element.name or _free(f"motor_{number}", {actuator.name for actuator in spec.actuators})
            else:
                found.append(f"The {what} {getattr(element, 'name', '') or number} is left out.")
                spec.delete(element)
    if spec.option.density or spec.option.viscosity:
        found.append("The fluid (density, viscosity, wind) is left out.")
    return found


def _drawn(spec: Any, geom: Any, folder: Path) -> bool:
    """Whether pictures show a geom that no mass needs: no collision model, and no mesh without a file of its own."""
    number = int(geom.type)
    if number != MESH:
        return number in SHAPES and geom.group < COLLISION
    file = next((Path(mesh.file) for mesh in spec.meshes if geom.meshname in (mesh.name, Path(mesh.file).stem)), Path())
    place = (folder/(spec.meshdir or "")/(file.name if spec.strippath else file)).resolve()
    return (geom.group < COLLISION and file.suffix.lower() in (".stl", ".obj") and place.is_file()
            and place.is_relative_to(folder))


def _shapes(model: Any, data: Any, known: Mapping[int, int], centre: np.ndarray, cells: int
            ) -> Iterator[tuple[str, list, list[float], list[list[float]], int]]:
    """Arguments of the shapes of bodies; vertices of a mesh on a grid of so many cells (of none: no mesh)."""
    for k, number in enumerate(model.geom_type):
        b = int(model.body_weldid[model.geom_bodyid[k]])
        if b not in known or number not in SHAPES or (number == MESH and not cells):
            continue
        frame, size = data.xmat[b].reshape(3, 3), SHAPES[number][1](model.geom_size[k])
        if number == MESH:
            at = int(model.geom_dataid[k])
            vertices = model.mesh_vert[model.mesh_vertadr[at]:][:model.mesh_vertnum[at]]
            cell = np.maximum(np.ptp(vertices, axis=0)/cells, 1e-9)
            points, to = np.unique(np.round(vertices/cell), axis=0, return_inverse=True)
            triples = to.ravel()[model.mesh_face[model.mesh_faceadr[at]:][:model.mesh_facenum[at]]]
            size = (points*cell)[np.unique(triples[(triples != np.roll(triples, 1, axis=1)).all(axis=1)], axis=0)]
        yield (SHAPES[number][0], np.round(size, 5).tolist(),
               (frame.T @ (data.geom_xpos[k] - data.xpos[b]) - centre[known[b]]).tolist(),
               (frame.T @ data.geom_xmat[k].reshape(3, 3)).tolist(), known[b])


def _of_joints(model: Any) -> Iterator[str]:
    """Sentences on what joints of a mechanism do not have."""
    for k, dof in enumerate(model.jnt_dofadr):
        yield from urdf.lost(model.joint(k).name or str(k), {
            "limits": model.jnt_range[k] if model.jnt_limited[k] else 0.0,
            "spring": (model.jnt_stiffness[k], *getattr(model, "jnt_stiffnesspoly", np.zeros((model.njnt, 0)))[k]),
            "dry friction": model.dof_frictionloss[dof],
            "damping that is not linear": getattr(model, "dof_dampingpoly", 0.0*model.dof_damping)[dof]})


def _drives(spec: Any, actuator: Any) -> bool:
    """Whether an actuator acts, as a motor or servo of a hinge or slide: see `Motor`."""
    import mujoco

    off = spec.option.disableflags & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION) or getattr(actuator, "delay", 0.0) or (
        0 <= actuator.group <= LAST_GROUP and spec.option.disableactuator & 1 << actuator.group)
    return bool(not off and actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT
                and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE and actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
                and actuator.biastype in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
                and KINDS[int(spec.joint(actuator.target).type)] in ("slide", "hinge"))


def _motors(model: Any, free: bool) -> Iterator[tuple[Any, ...]]:
    """Arguments of `Motor`. free: ranges of controls do not count."""
    for k, joint in enumerate(model.actuator_trnid[:, 0]):
        bias = model.actuator_biasprm[k, :3]*bool(model.actuator_biastype[k])
        yield (model.actuator(k).name, int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]),
               float(model.actuator_gear[k, 0]), float(model.actuator_gainprm[k, 0]), tuple(bias.tolist()),
               *(tuple(np.where(limited, span, NO_LIMIT).tolist()) for limited, span in (
                   (model.actuator_ctrllimited[k] and not free, model.actuator_ctrlrange[k]),
                   (model.actuator_forcelimited[k], model.actuator_forcerange[k]),
                   (model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint]))))


def _bodies(model: Any, data: Any, own: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Fields of `Tree`, and masses, inertias and centres of mass. A body without joints is a part of its parent.
    own: mass, centre of mass and inertia of bodies by name, in the place of the model's."""
    moving = np.flatnonzero(model.body_jntnum)
    frames, owner = data.xmat.reshape(-1, 3, 3), model.body_weldid
    mass, centre, inertia = np.zeros(len(moving)), np.zeros((len(moving), 3)), np.zeros((len(moving), 3, 3))
    for i, b in enumerate(moving):
        parts = np.flatnonzero(owner == b)
        weight, places = model.body_mass[parts], (data.xipos[parts] - data.xpos[b]) @ frames[b]
        axes = frames[b].T @ data.ximat[parts].reshape(-1, 3, 3)
        mass[i], centre[i] = weight.sum(), weight @ places/weight.sum()
        for m, arm, turn, moments in zip(weight, places - centre[i], axes, model.body_inertia[parts], strict=True):
            inertia[i] += (turn*moments) @ turn.T + m*(arm @ arm*np.eye(3) - np.outer(arm, arm))
        if own:
            mass[i], centre[i], inertia[i] = own[model.body(b).name]
    above = owner[model.body_parentid[moving]]
    known = {int(b): i for i, b in enumerate(moving)}
    taken = {item(k).name for item, n in ((model.joint, model.njnt), (model.body, model.nbody)) for k in range(n)}
    joints = [(model.joint(k).name or _free(f"joint_{k}", taken), known[int(b)], KINDS[model.jnt_type[k]],
               *(tuple(vector.tolist()) for vector in (model.jnt_axis[k], model.jnt_pos[k]*(model.jnt_type[k] != 0))),
               float(model.qpos0[model.jnt_qposadr[k]])*bool(model.jnt_type[k] > 1))
              for k, b in enumerate(model.jnt_bodyid)]
    places = np.einsum("bji,bj->bi", frames[above], data.xpos[moving] - data.xpos[above])
    fields = {"names": tuple(model.body(b).name or _free(f"body_{b}", taken) for b in moving), "joints": tuple(joints),
              "shapes": next((found for found in (tuple(_shapes(model, data, known, centre, cells)) for cells in GRIDS)
                              if len(repr(found)) <= LETTERS), ()),
              "parents": tuple(known.get(int(b), GROUND) for b in above), "places": places.tolist(),
              "turns": (np.swapaxes(frames[above], 1, 2) @ frames[moving]).tolist()}
    return fields, {"mass": mass, "inertia": 0.5*(inertia + np.swapaxes(inertia, 1, 2)), "center_of_mass": centre}
