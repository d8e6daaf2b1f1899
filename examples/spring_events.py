"""Events: record each passage of a spring's rest length, stop when it has calmed."""

from nonsmooth import Event, Model, PointMass, SpringDamper, simulate

MASS, STIFFNESS, DAMPING = 1.0, 100.0, 0.8  # kg, N/m, N s/m
REST, START = 1.0, 1.5  # m
CALM = 0.1  # m, amplitude at which to stop

# With the speed over the frequency it is the amplitude that is left, at any instant.
frequency = (STIFFNESS / MASS) ** 0.5
amplitude = f"sqrt((x - {REST})**2 + (vx/{frequency})**2)"

model = Model(
    title="trolley on a spring",
    bodies=(PointMass(name="trolley", mass=MASS, position=(START, 0)),),
    forces=(
        SpringDamper(
            name="spring",
            b="trolley",
            stiffness=STIFFNESS,
            damping=DAMPING,
            rest_length=REST,
        ),
    ),
    events=(
        Event(name="passage", b="trolley", guard=f"x - {REST}"),
        Event(
            name="calm",
            b="trolley",
            guard=f"{amplitude} - {CALM}",
            direction="falling",
            action="stop",
        ),
    ),
)
result = simulate(model, until=60.0)

if __name__ == "__main__":
    print(result.events)
    print(result.status, "-", result.message)
    result.plot(["trolley.x", "trolley.vx", "spring.force_x"], "spring_events.png")
