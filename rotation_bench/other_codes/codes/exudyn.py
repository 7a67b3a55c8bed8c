"""Exudyn: one rigid body with a rotation vector, steps on the rotation group. The top's weight pulls at its
centre of mass on a body with the moments about the fixed point; its position moves but does not act on its rotation.
Fixed steps only: with automatic ones, sensors are stored at ends of steps and not at the times that are asked for."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States

DISTRIBUTION = "exudyn"
COMMON = "RotationRotationVector node, steps on the group"
METHODS = {"RK44": Method(4, COMMON, 4), "RK67": Method(6, COMMON, 7),
           "GeneralizedAlpha": Method(2, f"{COMMON}, spectral radius 1, full Newton, tolerances 1e-12"),
           "DOPRI5": Method(5, f"{COMMON}, automatic steps off", 7)}


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import exudyn
    from exudyn.utilities import RigidBodyInertia

    container = exudyn.SystemContainer()
    world = container.AddSystem()
    body = world.CreateRigidBody(
        inertia=RigidBodyInertia(mass=problem.mass or 1.0, inertiaTensor=np.diag(problem.inertia)),
        nodeType=exudyn.NodeType.RotationRotationVector, initialRotationMatrix=problem.attitude,
        initialAngularVelocity=problem.rate.tolist())  # of this node in the body: measured at the first sample
    if problem.mass:
        marker = world.AddMarker({"markerType": "BodyPosition", "bodyNumber": body,
                                  "localPosition": problem.lever.tolist()})
        world.AddLoad({"loadType": "ForceVector", "markerNumber": marker,
                       "loadVector": (problem.mass*problem.gravity).tolist()})
    sensors = [world.AddSensor({"sensorType": "Body", "bodyNumber": body, "storeInternal": True,
                                "outputVariableType": what, "writeToFile": False})
               for what in (exudyn.OutputVariableType.RotationMatrix, exudyn.OutputVariableType.AngularVelocityLocal)]
    world.Assemble()
    settings = exudyn.SimulationSettings()
    control, kept = settings.timeIntegration, settings.solutionSettings
    control.endTime, control.verboseMode, kept.writeSolutionToFile = problem.t_end, 0, False
    control.numberOfSteps, control.automaticStepSize = steps, False
    kept.sensorsWritePeriod = problem.t_end/(problem.samples - 1)
    control.generalizedAlpha.spectralRadius = 1.0
    control.newton.relativeTolerance, control.newton.absoluteTolerance = 1e-12, 1e-12
    control.newton.useModifiedNewton = False
    solver = getattr(exudyn.DynamicSolverType, name)

    def run() -> States:
        world.SolveDynamic(settings, solverType=solver, updateInitialValues=False, showHints=False)
        found = [np.array(world.GetSensorStoredData(sensor)) for sensor in sensors]
        if any(len(table) != problem.samples for table in found):
            raise RuntimeError(f"exudyn stored {[len(table) for table in found]} samples, asked {problem.samples}")
        rotation = found[0][:, 1:].reshape(-1, 3, 3)
        return States(rotation, problem.momenta(rotation, found[1][:, 1:]))

    return run
