"""Films of runs."""

import shutil

import numpy as np
import pytest
from PIL import Image, ImageSequence

from nonsmooth import ModelError, gallery, simulate
from nonsmooth.app import outputs
from nonsmooth.app.cli import main
from nonsmooth.views import film


@pytest.fixture(scope="module")
def belt():
    return simulate(gallery.build("belt"), until=2.0)


def test_frames_show_the_motion(belt, tmp_path):
    """Twelve frames of a block that moves; each shows a time of its own."""
    path = belt.film(tmp_path / "belt.gif", speed=2.0 * film.RATE / 11)
    with Image.open(path) as picture:
        assert picture.info["duration"] == 1000 // film.RATE
        turns = ImageSequence.Iterator(picture)
        frames = [np.asarray(frame.convert("RGB")) for frame in turns]
    assert len(frames) == 12
    assert all(frame.shape == frames[0].shape for frame in frames)
    # Below the title, which has the time, too.
    assert np.any(frames[0][60:] != frames[3][60:])


def test_the_default_lasts_some_seconds(belt, tmp_path, monkeypatch):
    monkeypatch.setattr(film, "RATE", 2)
    path = belt.film(tmp_path / "belt.webp", names=True, forces=True)
    with Image.open(path) as picture:
        assert len(list(ImageSequence.Iterator(picture))) == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"speed": 0.0}, "speed = 0.0: 0 frames"),
        ({"speed": 1e-9}, "give one for which there are 2 to 10000"),
        ({"speed": 1e9}, "speed = 1000000000.0: 1 frames"),
    ],
)
def test_a_speed_that_makes_no_film(belt, tmp_path, options, words):
    with pytest.raises(ModelError, match=words):
        belt.film(tmp_path / "belt.gif", **options)
    assert not list(tmp_path.iterdir())


def test_a_format_that_is_none(belt, tmp_path):
    with pytest.raises(ModelError, match=r"end with one of \.gif, \.webp, \.mp4"):
        belt.film(tmp_path / "belt.avi")


def test_a_video_without_ffmpeg(belt, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ModelError, match=r"needs ffmpeg; install it, or write a \.gif"):
        belt.film(tmp_path / "belt.mp4")
    assert main(["run", "belt", "--video", str(tmp_path / "belt.mp4")]) == 2
    assert "needs ffmpeg" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg here")
def test_a_video(belt, tmp_path):
    path = belt.film(tmp_path / "belt.mp4", speed=2.0 * film.RATE / 5)
    assert b"ftyp" in path.read_bytes()[:16]


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(film, "RATE", 1)
    path = tmp_path / "belt.gif"
    assert main(["run", "belt", "--until", "2", "--video", str(path)]) == 0
    assert f"film         {path}" in capsys.readouterr().out
    assert path.stat().st_size > 0


def test_the_command_knows_the_endings():
    assert (*film.ANIMATIONS, *film.VIDEOS) == outputs.FILM_SUFFIXES


@pytest.mark.parametrize("how", ["film", "plot_energy", "draw", "report"])
def test_a_missing_folder_is_named_alike(belt, tmp_path, how):
    ending = {"film": "gif", "report": "html"}.get(how, "png")
    place = {"path": tmp_path / "no" / f"x.{ending}"}
    with pytest.raises(ModelError, match=rf"no folder '{tmp_path / 'no'}'"):
        getattr(belt, how)(**place)
