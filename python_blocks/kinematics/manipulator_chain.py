"""A chain of rigid links with revolute joints on a moving base: its data, inertia matrix and bias.

Link 0 is the base, joint ``i`` carries link ``i``. In zero position all frames are parallel; the
origin of frame ``i`` lies on the axis of joint ``i`` and moves with link ``i``.

References
----------
Featherstone: Rigid Body Dynamics Algorithms, 2008, chapters 5 and 6. Cai et al., Robotica (2023):
Eq 7 is the matrix, Eq 16 and 17 combine links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from orchestrator import DescriptionError
from python_blocks.kinematics.rotation import Floats

_Array = np.ndarray[Any, np.dtype[Any]]


class Frames(NamedTuple):
    """Poses of the links in the frame of the base: (n+1, 3, 3), and (n+1, 3), m, twice."""

    rotation: _Array
    origin: _Array
    center: _Array


@dataclass(frozen=True, eq=False)
class ManipulatorChain:
    """Structure and masses of a chain of n joints.

    Parameters
    ----------
    axis
        Axes of the joints, unit vectors, shape (n, 3).
    offset
        Origin of each frame in the frame before it, shape (n, 3), m.
    mass
        Of base and links, shape (n+1,), kg.
    center
        Centres of mass, in the frame of each link, shape (n+1, 3), m.
    inertia
        About the centres of mass, in the frame of each link, shape (n+1, 3, 3), kg m^2.

    Raises
    ------
    DescriptionError
        If shapes do not fit, an axis is not a unit vector, a mass is not positive, or an inertia
        not symmetric and positive definite. The message names the link; the base is link 0.
    """

    axis: Floats
    offset: Floats
    mass: Floats
    center: Floats
    inertia: Floats

    def __post_init__(self) -> None:
        problems = list(self._misfits()) or [*self._bad_joints(), *self._bad_links()]
        if problems:
            raise DescriptionError(*problems)

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.axis)

    def frames(self, phi: _Array) -> Frames:
        """Return the poses of all links at joint angles (n,), rad."""
        rotation, origin = [np.eye(3)], [np.zeros(3)]
        for axis, offset, angle in zip(self.axis, self.offset, phi, strict=True):
            origin.append(origin[-1] + rotation[-1] @ offset)
            rotation.append(rotation[-1] @ turn(axis, angle))
        turned = np.array(rotation)
        origins = np.array(origin)
        return Frames(turned, origins, origins + np.einsum("ijk,ik->ij", turned, self.center))

    def inertia_matrix(self, phi: _Array) -> _Array:
        """Return Eq 7 by sums over the links, in the frame of the base.

        Parameters
        ----------
        phi
            Joint angles, shape (n,), rad; complex ones give complex results.

        Returns
        -------
        ndarray
            Shape (6+n, 6+n): rows and columns of the velocity of the base's origin, m/s, its
            angular velocity, rad/s, and the joint rates, rad/s.
        """
        frames = self.frames(phi)
        total = np.zeros((6 + self.joints, 6 + self.joints), dtype=frames.origin.dtype)
        for i, (mass, inertia) in enumerate(zip(self.mass, self.inertia, strict=True)):
            linear, angular = self._jacobians(frames, i)
            turned = frames.rotation[i] @ inertia @ frames.rotation[i].T
            total += mass * linear.T @ linear + angular.T @ turned @ angular
        return total

    def bias(self, phi: _Array, w: _Array, rate: _Array) -> _Array:
        """Return the generalised forces at constant rates (recursive Newton-Euler).

        Parameters
        ----------
        phi, rate
            Joint angles and rates, shape (n,), rad and rad/s.
        w
            Angular velocity of the base in its frame, shape (3,), rad/s.

        Returns
        -------
        ndarray
            Shape (6+n,), N and N m: forces that keep the velocity of the base's origin in space and
            all rates constant.
        """
        frames = self.frames(phi)
        spin, turning, pull = w, np.zeros(3), np.zeros(3)
        force = np.zeros(6 + self.joints)
        for i in range(self.joints + 1):
            if i > 0:
                axis = frames.rotation[i] @ self.axis[i - 1] * rate[i - 1]
                step = frames.origin[i] - frames.origin[i - 1]
                pull = pull + np.cross(turning, step) + np.cross(spin, np.cross(spin, step))
                turning = turning + np.cross(spin, axis)
                spin = spin + axis
            linear, angular = self._jacobians(frames, i)
            arm = frames.center[i] - frames.origin[i]
            at_center = pull + np.cross(turning, arm) + np.cross(spin, np.cross(spin, arm))
            turned = frames.rotation[i] @ self.inertia[i] @ frames.rotation[i].T
            torque = turned @ turning + np.cross(spin, turned @ spin)
            force += self.mass[i] * linear.T @ at_center + angular.T @ torque
        return force

    def with_locked(self, angles: Mapping[int, float]) -> ManipulatorChain:
        """Return the chain with some joints fixed at angles, links combined by Eq 16 and 17.

        Parameters
        ----------
        angles
            Angle by number of the joint from 1, rad; the frames of the result are parallel with
            these joints at their angles and all others at zero.
        """
        phi = np.array([angles.get(i + 1, 0.0) for i in range(self.joints)])
        frames = self.frames(phi)
        heads = [0, *(i + 1 for i in range(self.joints) if i + 1 not in angles)]
        ends = [*heads[1:], self.joints + 1]
        parts = [self._put_together(frames, *ab) for ab in zip(heads, ends, strict=True)]
        mass, center, inertia = (np.array(column) for column in zip(*parts, strict=True))
        axis = np.array([frames.rotation[i] @ self.axis[i - 1] for i in heads[1:]]).reshape(-1, 3)
        offset = np.diff(frames.origin[heads], axis=0)
        return ManipulatorChain(axis, offset, mass, center, inertia)

    def _put_together(self, frames: Frames, head: int, end: int) -> tuple[float, Floats, Floats]:
        """Mass, centre of mass from the head's origin, and inertia of links head to end - 1."""
        links = range(head, end)
        mass = float(sum(self.mass[i] for i in links))
        center = sum(self.mass[i] * frames.center[i] for i in links) / mass
        inertia = np.zeros((3, 3))
        for i in links:
            d = frames.center[i] - center
            turned = frames.rotation[i] @ self.inertia[i] @ frames.rotation[i].T
            inertia += turned + self.mass[i] * (d @ d * np.eye(3) - np.outer(d, d))
        return mass, center - frames.origin[head], inertia

    def _jacobians(self, frames: Frames, link: int) -> tuple[_Array, _Array]:
        """Velocity of a centre of mass and angular velocity for unit rates, (3, 6+n) each."""
        center = frames.center[link]
        linear = np.zeros((3, 6 + self.joints), dtype=center.dtype)
        angular = np.zeros_like(linear)
        linear[:, :3] = angular[:, 3:6] = np.eye(3)
        linear[:, 3:6] = -skew(center)
        for j in range(1, link + 1):
            axis = frames.rotation[j] @ self.axis[j - 1]
            linear[:, 5 + j] = np.cross(axis, center - frames.origin[j])
            angular[:, 5 + j] = axis
        return linear, angular

    def _misfits(self) -> Iterator[str]:
        n = len(self.axis)
        expected = {
            "axis": (n, 3),
            "offset": (n, 3),
            "mass": (n + 1,),
            "center": (n + 1, 3),
            "inertia": (n + 1, 3, 3),
        }
        for name, shape in expected.items():
            actual = np.shape(getattr(self, name))
            if actual != shape:
                yield f"manipulator chain: {name}: expected shape {shape}, found {actual}"
            elif not np.all(np.isfinite(getattr(self, name))):
                yield f"manipulator chain: {name}: expected finite numbers"

    def _bad_joints(self) -> Iterator[str]:
        for i, axis in enumerate(self.axis, 1):
            if abs(axis @ axis - 1.0) > 1e-12:
                yield (
                    f"manipulator chain: axis of joint {i}: expected a unit vector,"
                    f" found {axis.tolist()}"
                )

    def _bad_links(self) -> Iterator[str]:
        for i, (mass, inertia) in enumerate(zip(self.mass, self.inertia, strict=True)):
            name = f"manipulator chain: link {i}"
            if not mass > 0.0:
                yield f"{name}: expected a mass > 0 kg, found {mass:g}"
            if not np.allclose(inertia, inertia.T, rtol=0.0, atol=1e-12 * np.abs(inertia).max()):
                yield f"{name}: expected a symmetric inertia, found {inertia.tolist()}"
            elif not np.linalg.eigvalsh(inertia)[0] > 0.0:
                smallest = np.linalg.eigvalsh(inertia)[0]
                yield (
                    f"{name}: expected a positive definite inertia, found the principal moment"
                    f" {smallest:.3g} kg m^2"
                )


def turn(axis: _Array, angle: Any) -> _Array:
    """Return the matrix that turns about a unit vector by an angle, rad (Rodrigues); (3, 3)."""
    cross = skew(axis)
    result: _Array = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return result


def skew(v: _Array) -> _Array:
    """Return the matrix of a cross product: ``skew(v) @ u`` is ``cross(v, u)``; (3, 3)."""
    x, y, z = v
    return np.array([[0.0 * x, -z, y], [z, 0.0 * x, -x], [-y, x, 0.0 * x]])
