"""Programs written on the spot, as in the tests of the seam."""

from tests.seam.conftest import scene

__all__ = ["scene"]
