"""Drake: a floating body with a quaternion in MultibodyPlant. The top's weight pulls at its centre of mass on a body
with the moments about the fixed point, and is balanced at the fixed point: the body does not fall."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States

DISTRIBUTION = "drake"
FIXED = "fixed steps, MultibodyPlant in continuous time"
METHODS = {"runge_kutta3": Method(3, FIXED, 3), "runge_kutta2": Method(2, FIXED, 2),
           "runge_kutta5": Method(5, FIXED, 6), "radau3": Method(3, FIXED),
           "discrete": Method(1, "MultibodyPlant in discrete time", 1),
           "runge_kutta3, adaptive": Method(None, "target accuracy", tolerances=True)}


def prepare(problem: Problem, name: str, size: float) -> Run:
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.math import SpatialForce, SpatialVelocity
    from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
    from pydrake.multibody.tree import SpatialInertia, UnitInertia
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    method = METHODS[name]
    h = 1e-2 if method.tolerances else problem.t_end/size
    plant, mass, still = MultibodyPlant(h if name == "discrete" else 0.0), problem.mass or 1.0, np.zeros(3)
    body = plant.AddRigidBody("body", SpatialInertia(mass, still, UnitInertia(*(problem.inertia/mass))))
    plant.mutable_gravity_field().set_gravity_vector(still)
    plant.Finalize()
    simulator = Simulator(plant)
    if method.tolerances:
        ResetIntegratorFromFlags(simulator, name.split(",")[0], 0.1)
        simulator.get_mutable_integrator().set_target_accuracy(size)
    elif name != "discrete":
        ResetIntegratorFromFlags(simulator, name, h)
        simulator.get_mutable_integrator().set_fixed_step_mode(True)
    context = simulator.get_mutable_context()
    pull = ExternallyAppliedSpatialForce()
    pull.body_index, pull.p_BoBq_B = body.index(), problem.lever
    pull.F_Bq_W = SpatialForce(still, problem.mass*problem.gravity)
    hold = ExternallyAppliedSpatialForce()  # a body that falls for 1,000 s leaves an adaptive method no smallest step
    hold.body_index, hold.p_BoBq_B = body.index(), still
    hold.F_Bq_W = SpatialForce(still, -problem.mass*problem.gravity)
    plant.get_applied_spatial_force_input_port().FixValue(context, [pull, hold])
    placed = RigidTransform(RotationMatrix(problem.attitude), still)
    moving = SpatialVelocity(problem.attitude @ problem.rate, still)

    def run() -> States:
        context.SetTime(0.0)
        plant.SetFloatingBaseBodyPoseInWorldFrame(context, body, placed)
        plant.SetFreeBodySpatialVelocity(context=context, body=body, V_JpJc=moving)
        simulator.Initialize()
        attitudes, momenta = [], []
        for t in problem.times:
            if t > 0.0:  # in discrete time the first call makes the step that is due at 0
                simulator.AdvanceTo(t)
            attitude = plant.EvalBodyPoseInWorld(context, body).rotation().matrix()
            rate = attitude.T @ plant.EvalBodySpatialVelocityInWorld(context, body).rotational()
            attitudes.append(attitude)
            momenta.append(attitude @ (problem.inertia*rate))
        return States(np.array(attitudes), np.array(momenta))

    return run
