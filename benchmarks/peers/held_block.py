"""A block thrown up a slope that friction then holds, in four tools.

Of 1 kg, thrown at 3 m/s up 20 degrees, with one coefficient of friction, 0.4 > tan 20°,
since not all tools know two. It stops after v/(g (sin + mu cos)) = 0.426 s and
v²/(2 g (sin + mu cos)) = 0.639 m, and stays there. A line for each tool and setting:

    stops   how far it is off that place half a second after it should have stopped, m
    creeps  how far it moves from then until 10 s, m
    cpu     process time of the 10 s, without building the model, the least of three, s

`python benchmarks/peers/held_block.py TOOL ...` runs some of nonsmooth, exudyn, mujoco
and pymunk. It imports nothing else of ours, so that a tool may live in an environment
of its own. The lines of one sitting are kept in `held_block.csv`, which the page
"Beside other tools" shows.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

ANGLE, SPEED, MU, G, UNTIL = math.radians(20.0), 3.0, 0.4, 9.81, 10.0
DOWN, PRESS = G * math.sin(ANGLE), G * math.cos(ANGLE)  # m/s², along and across
STOP = SPEED / (DOWN + MU * PRESS)  # s
WAY = 0.5 * SPEED * STOP  # m
LOOK = STOP + 0.5  # s, when it is looked at first

# A run: seconds, and the way up at LOOK and at UNTIL.
Run = Callable[[], tuple[float, float, float]]


def nonsmooth() -> Iterator[tuple[str, Run]]:
    """Take the gallery's incline; events are located."""
    from nonsmooth import gallery, simulate
    from nonsmooth.pack import pack

    system = pack(gallery.build("incline", mu=MU, mu0=MU))
    for rtol in (1e-4, 1e-8):

        def run(rtol: float = rtol) -> tuple[float, float, float]:
            begin = time.process_time()
            result = simulate(system, UNTIL, rtol=rtol)
            cpu = time.process_time() - begin
            at = result.sample([0.0, LOOK, UNTIL], ["block.x", "block.y"])
            way = math.cos(ANGLE) * at["block.x"] + math.sin(ANGLE) * at["block.y"]
            return cpu, float(way[1] - way[0]), float(way[2] - way[0])

        yield f"rtol {rtol:g}", run


def exudyn() -> Iterator[tuple[str, Run]]:
    """Take a mass on one coordinate; the load on its friction is given by hand.

    Bristles hold it while it sticks, as recommended for implicit methods; these are the
    best of seven pairs. Without them friction goes with the velocity in a zone.
    """
    exu: Any = import_module("exudyn")
    items: Any = import_module("exudyn.itemInterface")

    friction = {
        "bristles": {"stickingStiffness": 1e6, "stickingDamping": 2e3},
        "zone 1e-5 m/s": {"frictionProportionalZone": 1e-5},
    }
    for step in (1e-3, 1e-4):
        for name, law in friction.items():

            def run(step: float = step, law: Any = law) -> tuple[float, float, float]:
                mbs = exu.SystemContainer().AddSystem()
                node = mbs.AddNode(items.Node1D(
                    referenceCoordinates=[0.0], initialVelocities=[SPEED],
                ))  # fmt: skip
                mbs.AddObject(items.ObjectMass1D(mass=1.0, nodeNumber=node))
                fixed = mbs.AddNode(items.NodePointGround())
                markers = [
                    mbs.AddMarker(
                        items.MarkerNodeCoordinate(nodeNumber=n, coordinate=0)
                    )
                    for n in (fixed, node)
                ]
                mbs.AddLoad(items.LoadCoordinate(markerNumber=markers[1], load=-DOWN))
                data = mbs.AddNode(items.NodeGenericData(
                    initialCoordinates=[1, 0, 0], numberOfDataCoordinates=3,
                ))  # fmt: skip
                mbs.AddObject(items.ObjectConnectorCoordinateSpringDamperExt(
                    markerNumbers=markers,
                    nodeNumber=data if "stickingStiffness" in law else -1,
                    dynamicFrictionForce=MU * PRESS, **law,
                ))  # fmt: skip
                sensor = mbs.AddSensor(items.SensorNode(
                    nodeNumber=node, storeInternal=True,
                    outputVariableType=exu.OutputVariableType.Coordinates,
                ))  # fmt: skip
                mbs.Assemble()
                s = exu.SimulationSettings()
                ti = s.timeIntegration
                ti.endTime, ti.numberOfSteps = UNTIL, round(UNTIL / step)
                ti.verboseMode, s.solution.file.write = 0, False
                s.solution.sensors.writePeriod = 1e-2
                begin = time.process_time()
                mbs.SolveDynamic(s, showCausingItems=False)
                cpu = time.process_time() - begin
                series = mbs.GetSensorStoredData(sensor)
                k = int((series[:, 0] <= LOOK).sum()) - 1
                return cpu, float(series[k, 1]), float(series[-1, 1])

            yield f"{name}, step {step:g} s", run


MJCF = """
<mujoco>
  <option gravity="{x} 0 {z}" timestep="{step}" integrator="implicitfast" {option}/>
  <default><geom friction="{mu} 0 0" condim="3"/></default>
  <worldbody>
    <geom type="plane" size="10 10 1"/>
    <body pos="0 0 0.05">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom type="box" size="0.1 0.1 0.05" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"""


def mujoco() -> Iterator[tuple[str, Run]]:
    """Take a box on a plane in tilted gravity; friction is a soft constraint.

    impratio 1e4 is the best of 1, 100, 1e4 and 1e6; `noslip` changed nothing here.
    """
    mj: Any = import_module("mujoco")

    options = {
        "as it comes": "",
        "elliptic, impratio 1e4": 'cone="elliptic" impratio="1e4"',
    }
    for step in (2e-3, 1e-4):
        for name, option in options.items():
            values = {"x": -DOWN, "z": -PRESS, "step": step, "mu": MU}
            model = mj.MjModel.from_xml_string(MJCF.format(option=option, **values))

            def run(model: Any = model, step: float = step) -> Any:
                data = mj.MjData(model)
                data.qvel[0] = SPEED
                begin = time.process_time()
                mj.mj_step(model, data, nstep=round(LOOK / step))
                looked = float(data.qpos[0])
                mj.mj_step(model, data, nstep=round((UNTIL - LOOK) / step))
                return time.process_time() - begin, looked, float(data.qpos[0])

            yield f"{name}, step {step:g} s", run


def pymunk() -> Iterator[tuple[str, Run]]:
    """Take a box that cannot turn, on a segment in tilted gravity."""
    pm: Any = import_module("pymunk")

    for step in (1.0 / 60.0, 1e-3, 1e-4):

        def run(step: float = step) -> tuple[float, float, float]:
            space = pm.Space()
            space.gravity, space.iterations = (-DOWN, -PRESS), 30
            # Lengths of a game are pixels; here they are metres.
            space.collision_slop = 1e-4
            floor = pm.Segment(space.static_body, (-10.0, 0.0), (10.0, 0.0), 0.0)
            block = pm.Body(1.0, math.inf)
            box = pm.Poly.create_box(block, (0.2, 0.1))
            # The product of both counts.
            floor.friction, box.friction = 1.0, MU
            block.position = pm.Vec2d(0.0, 0.05)
            block.velocity = pm.Vec2d(SPEED, 0.0)
            space.add(floor, block, box)
            begin = time.process_time()
            for _ in range(round(LOOK / step)):
                space.step(step)
            looked = block.position.x
            for _ in range(round((UNTIL - LOOK) / step)):
                space.step(step)
            return time.process_time() - begin, looked, block.position.x

        yield f"step {step:.2g} s", run


TOOLS = {tool.__name__: tool for tool in (nonsmooth, exudyn, mujoco, pymunk)}


def main(names: list[str]) -> None:
    """Print a line for each setting of each tool."""
    for name in names:
        for setting, run in TOOLS[name]():
            runs = [run() for _ in range(3)]
            _, looked, end = runs[-1]
            off, crept, cpu = looked - WAY, end - looked, min(r[0] for r in runs)
            print(f'{name},"{setting}",{off:.1e},{crept:.1e},{cpu:.2g}')


if __name__ == "__main__":
    main(sys.argv[1:])
