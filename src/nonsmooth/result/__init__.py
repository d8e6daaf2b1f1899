"""What a run gives back."""

from nonsmooth.result.apart import Apart, apart
from nonsmooth.result.energy import EnergyBalance
from nonsmooth.result.evaluate import evaluate
from nonsmooth.result.event_table import EventRecord, EventTable
from nonsmooth.result.fields import Field
from nonsmooth.result.impulses import Impulse
from nonsmooth.result.result import Limit, Result
from nonsmooth.result.samples import Samples
from nonsmooth.result.state import State, mode_name, slip_of
from nonsmooth.result.steps import Steps

__all__ = [
    "Apart",
    "EnergyBalance",
    "EventRecord",
    "EventTable",
    "Field",
    "Impulse",
    "Limit",
    "Result",
    "Samples",
    "State",
    "Steps",
    "apart",
    "evaluate",
    "mode_name",
    "slip_of",
]
