"""The tools' statistics in plain Python, as slowly as they read."""

import math


def linear(values, p):
    ordered = sorted(values)
    place = (len(ordered) - 1) * p
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def inverse(values, weights, p):
    """The smallest value that at least p of the weight does not exceed."""
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if w > 0)
    total, upto = sum(w for _, w in pairs), 0.0
    for value, weight in pairs:
        upto += weight
        if upto / total >= p - 1e-12:
            return value
    return pairs[-1][0]


def floor_rank(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.floor(round(len(ordered) * p, 9)))]


def mean(values):
    return sum(values) / len(values)


def deviation(values, less=0):
    middle = mean(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - less))


def weighted_mean(values, weights):
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def weighted_deviation(values, weights):
    middle = weighted_mean(values, weights)
    square = sum(w * (v - middle) ** 2 for v, w in zip(values, weights, strict=True))
    return math.sqrt(square / sum(weights))


def plain(pattern, values, names):
    """{name: number} of linear statistics.  names: the tool's, by mean, std, min, max, p50, ….

    Nothing of no values.
    """
    if not values:
        return {}
    found = {}
    for stat, kind in names.items():
        if kind == "mean":
            number = mean(values)
        elif kind == "std":
            number = deviation(values)
        elif kind == "std-1":
            number = deviation(values, 1) if len(values) > 1 else None
        elif kind in ("min", "max"):
            number = {"min": min, "max": max}[kind](values)
        else:
            number = linear(values, float(kind[1:]) / 100)
        if number is not None:
            found[pattern.format(stat=stat)] = number
    return found
