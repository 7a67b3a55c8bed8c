"""MuJoCo: a body on a ball joint, in generalized coordinates with a unit quaternion."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, matrices

DISTRIBUTION = "mujoco"
COMMON = "ball joint, no contact, no damping, no armature"
METHODS = {"RK4": Method(4, COMMON, 4), "Euler": Method(1, COMMON, 1), "implicit": Method(1, COMMON, 1),
           "implicitfast": Method(1, COMMON, 1)}
MODEL = """
<mujoco>
  <option integrator="{integrator}" timestep="{h!r}" gravity="{gravity}">
    <flag contact="disable" constraint="disable" eulerdamp="disable"/>
  </option>
  <compiler inertiafromgeom="false" boundmass="0" boundinertia="0"/>
  <worldbody><body>
    <joint type="ball" damping="0" armature="0"/>
    <inertial pos="{lever}" mass="{mass!r}" fullinertia="{inertia}"/>
  </body></worldbody>
</mujoco>
"""


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import mujoco

    mass, lever = problem.mass or 1.0, problem.lever
    centre = np.diag(problem.inertia) - mass*((lever @ lever)*np.eye(3) - np.outer(lever, lever))
    text = {key: " ".join(repr(float(value)) for value in values) for key, values in (
        ("gravity", problem.gravity), ("lever", lever),
        ("inertia", centre[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))}
    model = mujoco.MjModel.from_xml_string(MODEL.format(integrator=name, h=problem.t_end/steps, mass=mass, **text))
    data, every = mujoco.MjData(model), problem.between(steps)

    def run() -> States:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = problem.quaternion, problem.rate  # a ball's rate is in the body
        found = [np.concatenate([data.qpos, data.qvel])]
        for _ in range(problem.samples - 1):
            mujoco.mj_step(model, data, nstep=every)
            if any(warning.number for warning in data.warning):  # it has put the body back to its start
                raise ArithmeticError(f"unstable before t = {len(found)*every*model.opt.timestep:g} s")
            found.append(np.concatenate([data.qpos, data.qvel]))
        states = np.array(found)
        return States(states[:, :4], problem.momenta(matrices(states[:, :4]), states[:, 4:]))

    return run
