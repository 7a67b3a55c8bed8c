"""Three-dimensional scenes in plain axes: orthographic, equal aspect, drawn from far to near, far items paler."""
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb, to_rgba_array
from numpy.typing import ArrayLike

Colour = str | tuple
Colours = Colour | Sequence[Colour]  # of all parts of an item, or one for each


def mix(colour: Colour, other: Colour, share: float) -> tuple[float, float, float]:
    """Colour moved towards another one by a share in [0, 1]."""
    return tuple((1.0 - share)*np.array(to_rgb(colour)) + share*np.array(to_rgb(other)))


class View:
    """Orthographic projection. The viewer looks from azimuth (from the first towards the second axis) and elevation
    (towards `up`), both in degrees; `up` is the direction that points upward on paper."""

    def __init__(self, azimuth: float, elevation: float, up: ArrayLike = (0.0, 0.0, 1.0)):
        a, b = np.radians(azimuth), np.radians(elevation)
        up = np.asarray(up, dtype=float)
        toward = np.cos(b)*np.array([np.cos(a), np.sin(a), 0.0]) + np.sin(b)*up
        right = np.cross(up, toward)
        right /= np.linalg.norm(right)
        self.axes = np.array([right, np.cross(toward, right), toward])

    def __call__(self, points: ArrayLike) -> np.ndarray:
        """(..., 3) in space -> (..., 3): right, up, towards the viewer."""
        return np.asarray(points, dtype=float) @ self.axes.T


class Scene:
    """Collects lines, balls and triangles and draws them in the order of their depth."""

    def __init__(self, axes: Axes, view: View, fade: float = 0.65, near: float | None = None, far: float | None = None):
        self.axes, self.view, self.fade = axes, view, fade
        self.near, self.far = near, far
        self.items: list[tuple[float, int, str, tuple]] = []
        axes.set_aspect("equal")
        axes.set_axis_off()

    def _add(self, depth: float, kind: str, content: tuple) -> None:
        self.items.append((float(depth), len(self.items), kind, content))

    def line(self, points: ArrayLike, colour: Colours, width: float = 0.8, *, lift: float = 0.0,
             fade: float | None = None, outline: float = 0.0) -> None:
        """Polyline (n, 3); colour one, or one for each segment; `lift` moves it towards the viewer in depth only;
        `outline` draws a darker line that much wider behind it."""
        projected = self.view(points)
        colours = [colour]*(len(projected) - 1) if isinstance(colour, str | tuple) else colour
        for a, b, shade in zip(projected[:-1], projected[1:], colours, strict=True):
            depth = 0.5*(a[2] + b[2]) + lift
            if outline:
                self._add(depth - 1e-6, "line", (a[:2], b[:2], mix(shade, "black", 0.45), width + outline, fade))
            self._add(depth, "line", (a[:2], b[:2], shade, width, fade))

    def balls(self, points: ArrayLike, colour: Colours, size: float, *, lift: float = 0.0,
              edge: Colour | None = "0.15", fade: float | None = None) -> None:
        """Discs of `size` points diameter at (n, 3); edge None is no edge."""
        projected = self.view(np.atleast_2d(points))
        colours = [colour]*len(projected) if isinstance(colour, str | tuple) else colour
        for p, shade in zip(projected, colours, strict=True):
            self._add(p[2] + lift, "ball", (p[:2], shade, size, edge or shade, fade))

    def polygons(self, corners: ArrayLike, colours: Sequence[Colour], *, edge: float = 0.0, lift: float = 0.0,
                 solid: bool = False) -> None:
        """Flat polygons (m, k, 3), one colour each; edges of the same colour close the gaps between neighbours; of a
        solid, whose faces run to the left as seen from outside, those on the far side are left out."""
        projected = self.view(corners)
        for p, shade in zip(projected, colours, strict=True):
            (x, y), (u, v) = p[:, :2].T, np.roll(p[:, :2], -1, axis=0).T
            if not solid or np.sum(x*v - u*y) > 0.0:
                self._add(p[:, 2].mean() + lift, "polygon", (p[:, :2], shade, edge))

    def draw(self, margin: float = 0.03, limits: tuple[float, float, float, float] | None = None) -> None:
        """Put everything on the axes; limits are left, right, bottom, top on paper, by default what the items need."""
        if not self.items:
            return
        depths = [item[0] for item in self.items]
        self.range = (max(depths) if self.near is None else self.near, min(depths) if self.far is None else self.far)
        self.items.sort(key=lambda item: item[:2])
        start = 0
        for stop in range(1, len(self.items) + 1):
            if stop == len(self.items) or self.items[stop][2] != self.items[start][2]:
                self._flush(self.items[start:stop], 10.0 + start*1e-4)
                start = stop
        if limits is None:
            self._limits(margin)
        else:
            self.axes.set(xlim=limits[:2], ylim=limits[2:])

    def _pale(self, items: list, colour: int, fade: int) -> np.ndarray:
        """Depth cue: the share of white grows from 0 at `near` to `fade` at `far`, places in the items' content."""
        near, far = self.range
        span = max(near - far, 1e-300)
        share = np.clip([(near - depth)/span for depth, *_ in items], 0.0, 1.0)
        share = (share*[self.fade if content[fade] is None else content[fade] for *_, content in items])[:, None]
        return to_rgba_array([content[colour] for *_, content in items])[:, :3]*(1.0 - share) + share

    def _flush(self, items: list, zorder: float) -> None:
        kind, contents = items[0][2], [content for *_, content in items]
        if kind == "line":
            self.axes.add_collection(LineCollection([c[:2] for c in contents], colors=self._pale(items, 2, 4),
                                                    linewidths=[c[3] for c in contents], capstyle="round",
                                                    zorder=zorder))
        elif kind == "ball":
            x, y = np.array([c[0] for c in contents]).T
            self.axes.scatter(x, y, s=[c[2]*c[2] for c in contents], c=self._pale(items, 1, 4),
                              edgecolors=self._pale(items, 3, 4).tolist(), linewidths=0.5, zorder=zorder)
        else:
            colours = [c[1] for c in contents]
            self.axes.add_collection(PolyCollection([c[0] for c in contents], facecolors=colours, edgecolors=colours,
                                                    linewidths=[c[2] for c in contents], zorder=zorder))

    def _limits(self, margin: float) -> None:
        points = np.concatenate([np.reshape(item[3][0], (-1, 2)) for item in self.items]
                                + [np.reshape(item[3][1], (-1, 2)) for item in self.items if item[2] == "line"])
        low, high = points.min(axis=0), points.max(axis=0)
        pad = margin*max(high - low)
        self.axes.set(xlim=(low[0] - pad, high[0] + pad), ylim=(low[1] - pad, high[1] + pad))


def sphere_body(axes: Axes) -> None:
    """Softly lit ball behind everything else: paler towards the light at the upper left, darker at the rim."""
    grid = np.linspace(-1.0, 1.0, 301)
    x, y = np.meshgrid(grid, grid)
    height = np.sqrt(np.clip(1.0 - x*x - y*y, 0.0, None))
    light = np.clip(-0.45*x + 0.5*y + 0.74*height, 0.0, 1.0)
    image = np.empty((*x.shape, 4))
    for k, value in enumerate(mix("#B8C4D0", "white", 0.35)):
        image[..., k] = value + (1.0 - value)*(0.25 + 0.7*light*light)*0.9
    image[..., 3] = np.clip((1.0 - np.hypot(x, y))*150.0, 0.0, 1.0)
    axes.imshow(image, extent=(-1.0, 1.0, -1.0, 1.0), origin="lower", zorder=1.0, interpolation="bilinear")


def graticule(scene: Scene, radius: float = 1.0, spacing: float = 30.0, colour: Colours = "0.55") -> None:
    """Meridians and parallels; those on the far side much paler: the sphere's is the whole depth of the scene."""
    t = np.radians(np.arange(0.0, 360.1, 5.0))
    circle = np.stack([np.cos(t), np.sin(t), np.zeros_like(t)], axis=1)
    for latitude in np.radians(np.arange(-90.0 + spacing, 90.0, spacing)):
        scene.line(radius*(np.cos(latitude)*circle + np.array([0.0, 0.0, np.sin(latitude)])), colour, 0.35)
    for longitude in np.radians(np.arange(0.0, 180.0, spacing)):
        c, s = np.cos(longitude), np.sin(longitude)
        scene.line(radius*np.stack([circle[:, 0]*c, circle[:, 0]*s, circle[:, 1]], axis=1), colour, 0.35)


def triad(axes: Axes, view: View, place: tuple[float, float, float, float] = (0.0, 0.0, 0.2, 0.2),
          points: float = 7.0) -> None:
    """The axes of space as small arrows; place: left, bottom, width, height in axes fractions; letters in pt."""
    small = axes.inset_axes(place)
    small.set_axis_off()
    small.set(aspect="equal", xlim=(-1.7, 1.7), ylim=(-1.7, 1.7))
    for direction, name in zip(view.axes.T, ("$e_1$", "$e_2$", "$e_3$"), strict=True):
        x, y = direction[:2]
        if np.hypot(x, y) > 0.2:
            small.annotate("", xy=(x, y), xytext=(0.0, 0.0),
                           arrowprops={"arrowstyle": "-|>,head_width=0.12,head_length=0.25", "linewidth": 0.6,
                                       "color": "0.25", "shrinkA": 0, "shrinkB": 0})
        small.text(1.5*x, 1.5*y, name, ha="center", va="center", fontsize=points, color="0.25")
