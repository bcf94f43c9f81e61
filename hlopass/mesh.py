"""A mesh of devices: named axes with sizes. No MLIR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hlopass import sdy_text


@dataclass(frozen=True)
class Mesh:
    """Named axes of devices with their sizes, the major one first.

    `device_ids`, where given, are the devices in the order in which the axes count them;
    without axes it names the one device of a maximal mesh. Raises ValueError for what Shardy's
    verifier rejects: repeated axes, sizes below 1, ids that are not 0 to n-1.
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.axes):
            raise ValueError(f"an axis stands twice in {self.axes}")
        if any(size < 1 for _, size in self.axes):
            raise ValueError(f"the size of an axis is less than 1 in {self.axes}")
        ids = self.device_ids
        if ids is not None and self.axes and sorted(ids) != list(range(self.size)):
            raise ValueError(f"device ids {ids} are not 0 to {self.size - 1}")
        if ids is not None and not self.axes and (len(ids) != 1 or ids[0] < 0):
            raise ValueError(f"device ids {ids} without axes are not one device")

    @classmethod
    def from_sdy(cls, text: str) -> Mesh | None:
        """The mesh of `#sdy.mesh<...>`, or of the `<...>` of an `sdy.mesh`; None for another text.

        Raises ValueError as Mesh does.
        """
        found = sdy_text.parse_mesh(text)
        return None if found is None else cls(*found)

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis, in order."""
        return dict(self.axes)

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(size for _, size in self.axes)

    @property
    def ids(self) -> Sequence[int]:
        """The devices in the order in which the axes count them."""
        return range(self.size) if self.device_ids is None else self.device_ids

    def to_sdy(self) -> str:
        """The attribute's text: `#sdy.mesh<["data"=4, "model"=2]>`."""
        axes = ", ".join(f"{sdy_text.string(name)}={size}" for name, size in self.axes)
        listed = f", device_ids=[{', '.join(map(str, self.ids))}]"
        return f"#sdy.mesh<[{axes}]{listed if self.is_maximal or self.is_reordered else ''}>"

    @property
    def is_maximal(self) -> bool:
        """Whether it is one device by its id, rather than axes."""
        return not self.axes and self.device_ids is not None

    @property
    def is_reordered(self) -> bool:
        """Whether its axes count devices in another order than by their ids."""
        return bool(self.axes) and list(self.ids) != list(range(self.size))

    def same_devices(self, other: Mesh) -> bool:
        """Whether both count the same devices over axes of the same sizes, whatever their names."""
        sizes = [size for _, size in self.axes] == [size for _, size in other.axes]
        return sizes and self.is_maximal == other.is_maximal and list(self.ids) == list(other.ids)

    def __str__(self) -> str:
        axes = ", ".join(f"{name}={size}" for name, size in self.axes) or "one device"
        if not (self.is_reordered or self.is_maximal):
            return axes
        more = ", ..." if len(self.ids) > 8 else ""
        return f"{axes}, device_ids {', '.join(map(str, self.ids[:8]))}{more}"
