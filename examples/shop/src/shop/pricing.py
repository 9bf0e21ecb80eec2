"""Prices: numbers only, so this module works where TensorFlow is not installed."""

import natif


@natif.native
def discounted(price: float, quantity: int, rate: float = 0.05) -> float:
    """The price of `quantity` pieces: each further dozen is cheaper by the rate, down to half."""
    total = 0.0
    each = price
    for piece in range(quantity):
        if piece > 0 and piece % 12 == 0 and each > price / 2:
            each = each * (1.0 - rate)
        total = total + each
    return total
