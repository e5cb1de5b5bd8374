"""Fits the polynomials of `passes/lower/scalars/coefficients.py` with mpmath and prints that module.

Every table is a Chebyshev interpolant (50 digits, then converted to powers and rounded) of the function
named beside it on the interval that the range reduction leaves; the degree is the smallest that leaves a
fit error below a fifth of an ulp of the result. By hand: `python fit_coefficients.py > coefficients.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
Function = Callable[[mp.mpf], mp.mpf]


def fit(function: Function, low: object, high: object, degree: int) -> list[mp.mpf]:
    """Power coefficients, lowest first, of the Chebyshev interpolant of `function` on [low, high]."""
    low, high = mp.mpf(low), mp.mpf(high)
    count = degree + 1
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    values = [function((high - low) / 2 * t + (high + low) / 2) for t in nodes]
    powers = [mp.mpf(0)] * count
    for order in range(count):
        weight = mp.fsum(v * mp.cos(order * mp.acos(t)) for v, t in zip(values, nodes, strict=True))
        weight *= (mp.mpf(1) if order == 0 else mp.mpf(2)) / count
        for power, coefficient in enumerate(_chebyshev(order)):
            powers[power] += weight * coefficient
    return _shift(powers, 2 / (high - low), -(high + low) / (high - low))


def _chebyshev(order: int) -> list[int]:
    previous, current = [1], [0, 1]
    if order == 0:
        return previous
    for _ in range(order - 1):
        doubled = [0, *(2 * c for c in current)]
        padded = previous + [0] * (len(doubled) - len(previous))
        previous, current = current, [a - b for a, b in zip(doubled, padded, strict=True)]
    return current


def _shift(powers: list[mp.mpf], scale: mp.mpf, offset: mp.mpf) -> list[mp.mpf]:
    """The polynomial `p(scale * x + offset)` by Horner's scheme on polynomials."""
    result = [powers[-1]]
    for coefficient in reversed(powers[:-1]):
        grown = [mp.mpf(0)] * (len(result) + 1)
        for power, c in enumerate(result):
            grown[power] += c * offset
            grown[power + 1] += c * scale
        grown[0] += coefficient
        result = grown
    return result


def _even(function: Function) -> Function:
    """`function` of z = x**2, with the removable singularity at 0 stepped around."""
    return lambda z: function(mp.sqrt(max(z, mp.mpf(10) ** -16)))


def _scaled_erfc(x: mp.mpf) -> mp.mpf:
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _erfc_in(centre: object) -> Function:
    return lambda t: _scaled_erfc(mp.mpf(centre) * (1 + t) / (1 - t))


def _inverse_erf(w: mp.mpf) -> mp.mpf:
    """erf_inv(x) / x where w = -log(1 - x**2)."""
    complement = mp.exp(-w)
    x = mp.sqrt(1 - complement)
    tail = complement / (1 + x)
    if x < mp.mpf("1e-8"):
        return mp.sqrt(mp.pi) / 2
    guess = (
        mp.mpf(mp.erfinv(mp.mpf(float(x))))
        if tail > 1e-3
        else mp.sqrt(-mp.log(tail * mp.sqrt(-mp.log(tail))))
    )
    for _ in range(60):
        step = (mp.erfc(guess) - tail) * mp.sqrt(mp.pi) / 2 * mp.exp(guess * guess)
        step = step / (1 - guess * step)
        guess += step
        if abs(step) < mp.mpf(10) ** -40:
            break
    return guess / x


def _erf_inv_tail(centre: int) -> Function:
    return lambda d: _inverse_erf((d + centre) ** 2)


def _digamma_near_root(d: mp.mpf) -> mp.mpf:
    root = mp.findroot(mp.digamma, mp.mpf("1.4616321449683623"))
    return mp.polygamma(1, root) if abs(d) < mp.mpf(10) ** -25 else mp.digamma(root + d) / d


def _stirling(u: mp.mpf) -> mp.mpf:
    x = 1 / mp.sqrt(u)
    return (mp.loggamma(x) - (x - mp.mpf(1) / 2) * (mp.log(x) - 1) - (mp.log(2 * mp.pi) - 1) / 2) * x


def _digamma_tail(u: mp.mpf) -> mp.mpf:
    x = 1 / mp.sqrt(u)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / u


def _log_gamma_near_two(d: mp.mpf) -> mp.mpf:
    return 1 - mp.euler if abs(d) < mp.mpf(10) ** -25 else mp.loggamma(2 + d) / d


HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.01")
S2 = (3 - 2 * mp.sqrt(2)) ** 2 * mp.mpf("1.02")
LOG_SERIES: Function = _even(lambda s: (2 * mp.atanh(s) / s - 2) / s**2)
LOG_TAIL: Function = _even(lambda s: ((2 * mp.atanh(s) / s - 2) / s**2 - mp.mpf(2) / 3) / s**2)
QUARTER_PI2 = (mp.pi / 4) ** 2 * mp.mpf("1.01")
TAN2 = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.01")

# name, what it is, function, interval, degree for f32 and f64
TABLES: list[tuple[str, str, Function, object, object, int, int]] = [
    (
        "EXP",
        "(exp(r) - 1 - r) / r**2, |r| <= log(2) / 2",
        lambda r: (mp.expm1(r) - r) / r**2 if abs(r) > mp.mpf(10) ** -20 else mp.mpf(1) / 2,
        -HALF_LN2,
        HALF_LN2,
        4,
        10,
    ),
    ("LOG", "(2 atanh(s) / s - 2) / z, z = s**2, |s| <= 3 - 2 sqrt(2)", LOG_SERIES, 0, S2, 3, 7),
    ("LOG_TAIL", "(LOG(z) - 2/3) / z for logarithms in two words", LOG_TAIL, 0, S2, 4, 10),
    ("CBRT", "cbrt(m), a first estimate, 1 <= m <= 8", mp.cbrt, 1, 8, 4, 4),
    (
        "SIN",
        "(sin(r) - r) / (r z), z = r**2, |r| <= pi/4",
        _even(lambda r: (mp.sin(r) - r) / r**3),
        0,
        QUARTER_PI2,
        3,
        6,
    ),
    (
        "COS",
        "(cos(r) - 1 + z/2) / z**2, z = r**2, |r| <= pi/4",
        _even(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4),
        0,
        QUARTER_PI2,
        3,
        6,
    ),
    (
        "ASIN",
        "(asin(x) - x) / (x z), z = x**2 <= 1/4",
        _even(lambda x: (mp.asin(x) - x) / x**3),
        0,
        mp.mpf("0.2505"),
        5,
        13,
    ),
    (
        "ATAN",
        "(atan(x) - x) / (x z), z = x**2, |x| <= tan(pi/8)",
        _even(lambda x: (mp.atan(x) - x) / x**3),
        0,
        TAN2,
        4,
        11,
    ),
    (
        "ERF_INV_CENTRE",
        "erf_inv(x) / x in w - 2.5, w = -log(1 - x**2) <= 5",
        lambda d: _inverse_erf(d + mp.mpf("2.5")),
        mp.mpf("-2.5"),
        mp.mpf("2.5"),
        10,
        10,
    ),
    (
        "LOG_GAMMA",
        "lgamma(2 + d) / d, |d| <= 1/2",
        _log_gamma_near_two,
        mp.mpf("-0.501"),
        mp.mpf("0.501"),
        9,
        20,
    ),
    (
        "STIRLING",
        "(lgamma(x) - (x - 1/2)(log(x) - 1) - (log(2 pi) - 1)/2) x, u = 1/x**2, x >= 8",
        _stirling,
        mp.mpf(1) / 10**6,
        mp.mpf(1) / 64,
        2,
        6,
    ),
    (
        "DIGAMMA_ROOT",
        "digamma(r + d) / d, r = 1.46..., 1 <= r + d <= 2",
        _digamma_near_root,
        mp.mpf("-0.462"),
        mp.mpf("0.539"),
        10,
        24,
    ),
    (
        "DIGAMMA",
        "(log(x) - 1/(2x) - digamma(x)) / u, u = 1/x**2, x >= 8",
        _digamma_tail,
        mp.mpf(1) / 10**6,
        mp.mpf(1) / 64,
        2,
        7,
    ),
]
ERF_CENTRE = mp.mpf("2.4")
ERFC_TEXT = "(1 + 2x) exp(x**2) erfc(x) in t = (x - K) / (x + K), K = {}, 1/2 <= x <= {}"


def tables() -> list[tuple[str, str, list[mp.mpf], list[mp.mpf]]]:
    result = [(n, text, fit(f, lo, hi, d32), fit(f, lo, hi, d64)) for n, text, f, lo, hi, d32, d64 in TABLES]
    inner = _even(lambda x: mp.erf(x) / x - 1)
    bounds = mp.mpf("1.4"), mp.mpf("1.001")
    result.append(
        (
            "ERF",
            "erf(x) / x - 1, z = x**2 <= 1.4**2 (f32), 1 (f64)",
            fit(inner, mp.mpf(0), bounds[0] ** 2 * bounds[1], 8),
            fit(inner, mp.mpf(0), bounds[1], 13),
        )
    )
    outer = fit(
        lambda d: mp.erfc(d + ERF_CENTRE), bounds[0] * mp.mpf("0.999") - ERF_CENTRE, mp.mpf("1.53"), 11
    )
    result.append(("ERF_TAIL", "erfc(x) in x - 2.4, 1.4 <= x <= 3.93 (f32)", outer, []))
    half = mp.mpf("0.49")
    single = fit(_erfc_in(2), (half - 2) / (half + 2), (mp.mpf("10.2") - 2) / mp.mpf("12.2"), 11)
    centre = mp.mpf("3.75")
    double = fit(_erfc_in(centre), (half - centre) / (half + centre), (28 - centre) / (28 + centre), 23)
    result.append(
        (
            "ERF_INV_TAIL",
            "erf_inv(x) / x in sqrt(w) - K, w >= 5, K = 3 (f32), 4 (f64)",
            fit(_erf_inv_tail(3), mp.sqrt(5) - 3, mp.mpf("1.15"), 9),
            fit(_erf_inv_tail(4), mp.sqrt(5) - 4, mp.mpf("2.1"), 9),
        )
    )
    result.append(("ERFC", ERFC_TEXT.format("2 (f32), 3.75 (f64)", "10.2, 28"), single, double))
    return result


def main() -> None:
    print('"""Polynomial coefficients, lowest power first, as `NAME = {32: (...), 64: (...)}`.\n')
    print(
        "Written by `tests/passes/lower/scalars/fit_coefficients.py`: Chebyshev interpolants computed with\n"
        "mpmath to 60 digits and rounded once. The comments say which function of which variable each\n"
        "approximates."
    )
    print(
        '"""\n\nfrom __future__ import annotations\n\nfrom typing import Final\n\n'
        "Table = dict[int, tuple[float, ...]]\n"
    )
    for name, text, single, double in tables():
        print(f"# {text}\n{name}: Final[Table] = {{")
        for bits, values in ((32, single), *([(64, double)] if double else [])):
            digits = 10 if bits == 32 else 17
            print(f"    {bits}: (")
            for value in values:
                print(
                    "        "
                    + (mp.nstr(value, digits, min_fixed=0, max_fixed=0) if bits == 32 else repr(float(value)))
                    + ","
                )
            print("    ),")
        print("}")


if __name__ == "__main__":
    main()
