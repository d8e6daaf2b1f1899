"""What the server has done in another process, called in this one."""

from typing import Any

import pytest

from nonsmooth.app.serve import jobs, tasks
from nonsmooth.errors import ModelError
from oracles.scene_reader import Document

MODEL = """\
nonsmooth: 1
title: ball
bodies:
  - {type: PointMass, name: ball, mass: 1, velocity: [1, 0]}
run: {until: 0.1, plot: [ball.y, ball.vx]}
"""
ROOM = 600_000_000  # bytes


class Heard:
    """Hears what a task tells; cancels it when that is said so often."""

    def __init__(self, after: int | None = None):
        self.told, self.after = [], after

    def tell(self, kind, *rest):
        self.told.append((kind, *rest))

    def is_cancelled(self):
        return self.after is not None and len(self.told) >= self.after

    @property
    def phases(self):
        return [words for kind, words, *_ in self.told if kind == tasks.PHASE]


def heard(after: int | None = None) -> Any:
    """Return one, in place of a task that has a server to tell."""
    return Heard(after)


def asked(tmp_path, text=MODEL):
    return jobs.job({"text": text, "name": "ball.yaml", "until": 0.1}, tmp_path)


def test_a_run_opens_on_the_plots_of_its_model(tmp_path):
    done = tasks.run(heard(), asked(tmp_path), tmp_path, 0.1, ROOM)
    assert Document(done.scene or b"").header["plots"] == [["ball.y"], ["ball.vx"]]


def test_wrong_wishes_are_refused_before_anything_is_computed(tmp_path):
    job, task = asked(tmp_path, MODEL.replace("ball.y", "ball.yy")), heard()
    with pytest.raises(ModelError, match=r"plot = 'ball.yy'; did you mean 'ball.y'"):
        tasks.run(task, job, tmp_path, 0.1, ROOM)
    assert "simulating" not in task.phases
    with pytest.raises(ModelError, match=r"plot = 'ball.yy'"):
        tasks.draw(heard(), job, tmp_path)


def test_a_run_that_is_cancelled_says_at_once_that_it_is_collected():
    """What follows in the solver, and takes its time, is not "simulating"."""
    task = heard(after=2)
    ender = tasks._Ender(task, ROOM)
    ender.look(0.25)
    with pytest.raises(KeyboardInterrupt):
        ender.look(0.5)
    assert task.phases == ["simulating", "simulating", tasks.COLLECTING]
    assert task.told[-1] == (tasks.PHASE, tasks.COLLECTING, 0.5)
