"""Orders offers by what was scored."""

from shop.ranking.blend import blended

__all__ = ["blended"]
