import numpy as np

from featsieve.report.bench.grid_figures import MANY_POINTS, cloud_figure, surface_figure
from featsieve.report.bench.series import Cloud
from featsieve.report.bench.surfaces import Surface


def test_heat_maps_carry_their_numbers():
    acc = np.array([[0.501, 0.612], [np.nan, 0.733]])
    surface = Surface("nci", "JASFS", "x", "y", ("1", "2"), ("3", "4"), "z = 5", (), acc, acc)
    figure = surface_figure(surface, "acc")
    for number in ("50.1", "61.2", "73.3"):
        assert number in figure.svg
    assert "nan" not in figure.svg
    assert "ACC (%) at z = 5" in figure.svg
    assert figure.caption == "x and y: 50.1 to 73.3 %."


def test_flat_surfaces_say_so():
    flat = np.full((2, 2), 0.5)
    surface = Surface("nci", "JASFS", "a", "b", ("1", "2"), ("1", "2"), "", ("a",), flat, flat)
    assert "Flat along a: no effect." in surface_figure(surface, "nmi").caption


def test_clouds_draw_all_classes_and_become_images_when_large():
    rng = np.random.default_rng(0)
    small = cloud_figure(Cloud("iris", "NDFS", rng.random((30, 3)), np.arange(30) % 3))
    for name in ("class 0", "class 1", "class 2"):
        assert name in small.svg
    assert "<image" not in small.svg
    n = MANY_POINTS + 1
    large = cloud_figure(Cloud("ORL", "NDFS", rng.random((n, 3)), np.arange(n) % 40))
    assert "<image" in large.svg
    assert "in 40 classes" in large.caption
