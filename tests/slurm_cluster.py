"""A SLURM cluster on this machine, for tests: a controller and two nodes that share its processors.

    python tests/slurm_cluster.py start
    python tests/slurm_cluster.py kill-node node2
    python tests/slurm_cluster.py stop

Needs the programs of Debian's slurm-wlm and munge, psutil, and root: jobs lose the variable SLURM_CONF on their way
through Snakemake's executor, so that the configuration must lie at its default place, /etc/slurm.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

CONFIGURATION = Path("/etc/slurm/slurm.conf")
MARK = "# Cluster of the tests of liestep, gone when they end."  # first line: nobody's own configuration is touched
FOLDER = Path(tempfile.gettempdir())/"liestep-slurm"  # state, logs and process numbers
NODES = ("node1", "node2")
PROGRAMS = ("munged", "munge", "unmunge", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo", "scontrol")
PORT = 17000
PATIENCE = 30.0  # seconds in which all nodes must be ready


class Unavailable(Exception):
    """One sentence: why no cluster can be started here."""


def obstacle() -> str | None:
    """Why no cluster can be started on this machine; None if nothing speaks against it."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"SLURM is not installed ({', '.join(missing)} missing); on Debian: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return f"a test cluster needs root, because SLURM reads {CONFIGURATION}"
    if CONFIGURATION.exists() and not CONFIGURATION.read_text().startswith(MARK):
        return f"{CONFIGURATION} is not of these tests: this machine belongs to a cluster, which is left alone"
    if _process("slurmctld"):
        return "a test cluster is running already: python tests/slurm_cluster.py stop ends it"
    return None


def configuration() -> str:
    """The file slurm.conf. Each new job goes to the node that has least to do. A node counts as dead after half a
    minute of silence at most, and a job that it loses is not put back into the queue unless its owner asks for that."""
    host = socket.gethostname().partition(".")[0]
    memory = psutil.virtual_memory().total//2**20*8//10
    return f"""{MARK}
ClusterName=liestep
SlurmctldHost={host}
SlurmctldPort={PORT}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/%n
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/%n.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdLogFile={FOLDER}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdTimeout=10
KillWait=2
JobRequeue=0
ReturnToService=2
NodeName=DEFAULT CPUs={os.cpu_count()} RealMemory={memory} State=UNKNOWN
NodeName=node[1-{len(NODES)}] NodeHostname={host} Port=[{PORT + 1}-{PORT + len(NODES)}]
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP LLN=YES
"""


def start() -> None:
    """Start everything and wait until the nodes are ready.

    Raises:
        Unavailable: it cannot be started, or is not ready in time; nothing of it is left then.
    """
    reason = obstacle()
    if reason:
        raise Unavailable(reason)
    stop()
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name in ("state", *NODES):
        (FOLDER/name).mkdir(parents=True)
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(configuration())
    try:
        _start_munge()
        _call("slurmctld")
        for node in NODES:
            _call("slurmd", "-N", node)
        _wait_until(lambda: _call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split() == list(NODES),
                    "its nodes are not ready")
    except Unavailable as error:
        logs = [line for name in ("slurmctld", *NODES) for line in _tail(FOLDER/f"{name}.log")]
        stop()
        raise Unavailable("; ".join((f"no test cluster could be started: {error}", *logs))) from None


def stop() -> None:
    """End all that `start` started, jobs included."""
    for node in NODES:
        kill_node(node)
    for name in ("slurmctld", "munged"):  # killed too: nothing of the state that they would save is wanted
        process = _process(name)
        if process:
            _kill([process, *process.children(recursive=True)])
    if CONFIGURATION.exists() and CONFIGURATION.read_text().startswith(MARK):
        CONFIGURATION.unlink()


def kill_node(node: str) -> int:
    """What a power cut does to a node: its daemon and its jobs are gone at once, and it tells nobody. Returns the
    number of processes that were killed.

    The daemon and the keepers of its jobs are known by the log of the node, which they have open.
    """
    log, daemons, jobs = str(FOLDER/f"{node}.log"), [], []
    for process in psutil.process_iter(["name"]):
        try:
            if process.info["name"] in ("slurmd", "slurmstepd") and log in (file.path for file in process.open_files()):
                kind = daemons if process.info["name"] == "slurmd" else jobs
                kind += [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    _kill(daemons + jobs)  # in this order, so that the daemon sees no job end
    return len(daemons + jobs)


def declare_dead(node: str) -> None:
    """Let the controller know what it would find out by itself within half a minute."""
    _call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=killed")


def running(node: str) -> list[str]:
    """Comments of the jobs that run on a node."""
    return _call("squeue", "-h", "-t", "running", "-w", node, "-o", "%k").split()


def _start_munge() -> None:
    """The service by which SLURM's programs know each other, unless this machine has it running."""
    if _munge_works():
        return
    Path("/run/munge").mkdir(exist_ok=True)
    shutil.chown("/run/munge", "munge", "munge")
    shutil.chown(FOLDER, "munge", "munge")
    _call("runuser", "-u", "munge", "--", "munged", "--force", f"--pid-file={FOLDER}/munged.pid",
          f"--log-file={FOLDER}/munged.log", f"--seed-file={FOLDER}/munged.seed")
    _wait_until(_munge_works, "munge does not answer")


def _munge_works() -> bool:
    return subprocess.run("munge -n | unmunge", shell=True, capture_output=True, check=False).returncode == 0


def _call(*command: str) -> str:
    """Output of a program. SLURM's daemons go into the background by themselves; they must not keep our pipes open."""
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
                              env={name: value for name, value in os.environ.items() if not name.startswith("SLURM_")})
        output.seek(0)
        text = output.read()
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {text.strip()}")
    return text


def _wait_until(ready, complaint: str) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if ready():
                return
        except Unavailable:
            pass
        if time.monotonic() > end:
            raise Unavailable(complaint)
        time.sleep(0.2)


def _process(name: str) -> psutil.Process | None:
    """The daemon of this name that `start` has started, if it lives."""
    with suppress(OSError, ValueError, psutil.NoSuchProcess):
        found = psutil.Process(int((FOLDER/f"{name}.pid").read_text()))
        if found.name() == name and found.status() != psutil.STATUS_ZOMBIE:
            return found
    return None


def _kill(processes: list[psutil.Process]) -> None:
    """Kill processes and wait for their end. Some are nobody's children, and stay as zombies
    where no one collects those."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            while process.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)


def _tail(path: Path) -> list[str]:
    return ([line for line in path.read_text(errors="replace").splitlines() if "error" in line][-2:]
            if path.is_file() else [])


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["start"]:
            start()
        elif arguments == ["stop"]:
            stop()
        elif len(arguments) == 2 and arguments[0] == "kill-node" and arguments[1] in NODES:
            print(f"killed {kill_node(arguments[1])} processes")
        else:
            sys.exit(f"slurm_cluster.py: say start, stop, or kill-node and {' or '.join(NODES)}")
    except Unavailable as error:
        sys.exit(f"slurm_cluster.py: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
