"""Families of random models: a function for each, from a generator to a case."""

from __future__ import annotations

import zlib

import numpy as np

from fuzz.families.arms import arms
from fuzz.families.beams import beams
from fuzz.families.boxes import boxes
from fuzz.families.chains import chains
from fuzz.families.common import Case, Family
from fuzz.families.feet import feet
from fuzz.families.grippers import grippers
from fuzz.families.guides import guides
from fuzz.families.landings import landings
from fuzz.families.latches import jams, latches
from fuzz.families.lift_offs import lift_offs
from fuzz.families.loops import loops
from fuzz.families.mixed import mixed
from fuzz.families.movers import movers
from fuzz.families.patches import pairs, patches
from fuzz.families.piles import piles
from fuzz.families.ratchets import ratchets
from fuzz.families.shapes import shapes
from fuzz.families.slider_cranks import slider_cranks
from fuzz.families.stacks import stacks
from fuzz.families.systems import systems
from fuzz.families.terrains import terrains

__all__ = ["FAMILIES", "Case", "make"]

FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        chains,
        loops,
        slider_cranks,
        guides,
        feet,
        lift_offs,
        shapes,
        boxes,
        stacks,
        piles,
        grippers,
        latches,
        jams,
        ratchets,
        landings,
        movers,
        terrains,
        arms,
        beams,
        patches,
        pairs,
        mixed,
        systems,
    )
}


def make(family: str, seed: int) -> Case:
    """Return the case of a family and a seed, the same on every machine."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed])
    return FAMILIES[family](rng)
