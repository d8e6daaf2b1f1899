"""What a call costs beside the motion: counted, since times depend on the machine."""

from nonsmooth import gallery, simulate
from nonsmooth.pack import System, pack


def test_a_call_makes_its_arrays_once_and_no_table_of_events(monkeypatch):
    system = pack(gallery.compactor())
    made: list[int] = []
    work = System.work

    def counted(self):
        made.append(1)
        return work(self)

    monkeypatch.setattr(System, "work", counted)
    result = simulate(system, until=0.01)
    assert len(made) == 1
    assert "events" not in vars(result)
    assert len(result.events) > 0
    assert "events" in vars(result)
