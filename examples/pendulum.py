"""A rod swings on a pin: the shortest useful model."""

from nonsmooth import Model, Revolute, RigidBody, simulate

LENGTH = 1.0  # m
MASS = 2.0  # kg

rod = RigidBody(
    name="rod",
    mass=MASS,
    inertia=MASS * LENGTH**2 / 12,
    position=(LENGTH / 2, 0),
    points={"pin": (-LENGTH / 2, 0), "tip": (LENGTH / 2, 0)},
)
model = Model(
    title="pendulum",
    gravity=(0, -9.81),
    bodies=(rod,),
    joints=(Revolute(name="pin", b="rod.pin"),),
)
result = simulate(model, until=2.0)

if __name__ == "__main__":
    print(result.sample([0.5, 1.0], ["rod.theta", "pin.force_y"]).to_numpy())
    result.plot(["rod.theta", "pin.force_x", "pin.force_y"], "pendulum.png")
