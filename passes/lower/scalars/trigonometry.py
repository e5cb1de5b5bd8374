"""Sine, cosine, tangent and their inverses for f32 and f64 terms.

The argument is reduced modulo pi/2 for every finite x by multiplying its integer significand with the right
three words of 2/pi in integer arithmetic (Payne and Hanek's method), branch free: the words are picked from
constants by a tree of selects. The remainder comes as a `Pair`, so the kernels on |r| <= pi/4 stay near half
an ulp. asin, acos and atan reduce to |x| <= 1/2 and |x| <= tan(pi/8) by their half-angle identities.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Final

from . import coefficients
from .exponentials import keep_tiny
from .pairs import Pair, add_exactly, renormalise
from .terms import Term, choose, polynomial, word

# 2/pi as a binary fraction, 1216 bits
TWO_OVER_PI: Final = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb"
    "129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d"
    "367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab",
    16,
)
TWO_OVER_PI_BITS: Final = 1216
HALF_PI: Final = {
    64: (1.5707963267948966, 6.123233995736766e-17),
    32: (1.5707963705062866, -4.371139000186243e-08),
}
QUARTER_PI: Final = 0.7853981633974483
TAN_PI_8: Final = 0.41421356237309503


def _words_of_two_over_pi(bits: int, count: int) -> list[int]:
    """`count` words of 2/pi, preceded by one word of zeros for arguments below 1."""
    fraction = TWO_OVER_PI >> (TWO_OVER_PI_BITS - bits * (count - 1))
    return [(fraction >> (bits * (count - 1 - i))) & ((1 << bits) - 1) for i in range(count)]


def _pick(words: Sequence[Term], index: Term, largest: int, count: int) -> list[Term]:
    """`count` consecutive words from position `index` <= largest, by halving."""
    current = list(words)
    step = 1 << (largest.bit_length() - 1)
    while step:
        taken = (index & step).differs(0)
        need = count + step - 1
        shifted = current[step : step + need]
        current = [
            choose(taken, shifted[i], w) if i < len(shifted) else w for i, w in enumerate(current[:need])
        ]
        step >>= 1
    return current


def _multiply_high(x: Term, y: Term) -> Term:
    """The upper word of the product of two unsigned words, from products of halves."""
    half = x.width // 2
    mask = (1 << half) - 1
    x_low, x_high, y_low, y_high = x & mask, x >> half, y & mask, y >> half
    low = x_low * y_low
    middle = x_high * y_low + (low >> half)
    other = x_low * y_high + (middle & mask)
    return x_high * y_high + (middle >> half) + (other >> half)


def _half_to_float(piece: Term, signed: bool) -> Term:
    """An integer of half a word as a float."""
    form_bits = piece.width
    magic = word(form_bits, 1.5 * 2.0**23, 1.5 * 2.0**52) if signed else word(form_bits, 2.0**23, 2.0**52)
    pattern = piece.as_float().format.pattern(magic)
    return (piece + pattern).as_float() - magic


def _reduce_large(a: Term) -> tuple[Term, Pair]:
    """(q mod 4, r) with a = q pi/2 + r, |r| <= pi/4, for finite a >= 1/2."""
    form = a.format
    bits, half = form.bits, form.bits // 2
    significand = (a.bits() & ((1 << form.mantissa) - 1)) | (1 << form.mantissa)
    exponent = (a.bits() >> form.mantissa) - (form.bias + form.mantissa)
    offset = exponent + (bits - 2)
    largest = (form.bias - form.mantissa + bits - 2) >> (bits.bit_length() - 1)
    table = [offset.lift(w) for w in _words_of_two_over_pi(bits, largest + 4)]
    picked = _pick(table, offset >> (bits.bit_length() - 1), largest, 4)
    shift = offset & (bits - 1)
    rest = (bits - 1) - shift
    w0, w1, w2 = ((picked[i] << shift) | ((picked[i + 1] >> 1) >> rest) for i in range(3))

    low = _multiply_high(significand, w2)
    middle = significand * w1
    second = low + middle
    carry = choose(second.below(low), second.lift(1), 0)
    first = _multiply_high(significand, w1) + significand * w0 + carry

    quadrant = (first + (1 << (bits - 3))) >> (bits - 2)
    upper = (first << 2) | (second >> (bits - 2))
    lower = second << 2
    mask = (1 << half) - 1
    pieces = (
        _half_to_float(upper.shift_sign(half), True) * 2.0**-half,
        _half_to_float(upper & mask, False) * 2.0**-bits,
        _half_to_float(lower >> half, False) * 2.0 ** -(bits + half),
        _half_to_float(lower & mask, False) * 2.0 ** -(2 * bits),
    )
    top, bottom = add_exactly(pieces[0], pieces[1]), renormalise(pieces[2], pieces[3])
    joined = renormalise(top.head, top.tail + bottom.head)
    fraction = renormalise(joined.head, joined.tail + bottom.tail)
    half_pi = HALF_PI[bits]
    product = fraction * Pair(a.lift(half_pi[0]), a.lift(half_pi[1]))
    return quadrant & 3, renormalise(product.head, product.tail)


def reduce_quadrant(a: Term) -> tuple[Term, Pair]:
    """(q mod 4, r) with a = q pi/2 + r and |r| <= pi/4 for finite a >= 0."""
    small = a <= QUARTER_PI
    quadrant, r = _reduce_large(a)
    return choose(small, 0, quadrant), Pair(choose(small, a, r.head), choose(small, 0.0, r.tail))


def sine_kernel(r: Pair) -> Term:
    z = r.head * r.head
    series = r.head * z * polynomial(z, coefficients.SIN[z.width])
    return r.head + (series + r.tail * (1.0 - z * 0.5))


def cosine_kernel(r: Pair) -> Term:
    z = r.head * r.head
    half = z * 0.5
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (z * z * polynomial(z, coefficients.COS[z.width]) - r.head * r.tail))


def _finite_only(x: Term, result: Term) -> Term:
    return choose(x.absolute() < inf, result, x.lift(nan))


def sin(x: Term) -> Term:
    return sin_and_cos(x)[0]


def cos(x: Term) -> Term:
    return sin_and_cos(x)[1]


def sin_and_cos(x: Term) -> tuple[Term, Term]:
    """Both, from one reduction; what is not used is removed by the compiler."""
    quadrant, r = reduce_quadrant(x.absolute())
    sine, cosine = sine_kernel(r), cosine_kernel(r)
    odd = (quadrant & 1).differs(0)
    top = x.width - 1
    sine_sign = ((quadrant >> 1) << top) ^ x.sign_bits()
    cosine_sign = ((quadrant + 1) >> 1) << top
    return (
        keep_tiny(x, _finite_only(x, choose(odd, cosine, sine).with_sign_bits(sine_sign))),
        _finite_only(x, choose(odd, sine, cosine).with_sign_bits(cosine_sign)),
    )


def tan(x: Term) -> Term:
    quadrant, r = reduce_quadrant(x.absolute())
    sine, cosine = sine_kernel(r), cosine_kernel(r)
    odd = (quadrant & 1).differs(0)
    sign = (quadrant << (x.width - 1)) ^ x.sign_bits()
    ratio = choose(odd, cosine, sine) / choose(odd, sine, cosine)
    return keep_tiny(x, _finite_only(x, ratio.with_sign_bits(sign)))


def _asin_parts(a: Term) -> tuple[Term, Term, Term]:
    """(large, s, t): asin(a) = s + t for a <= 1/2, else pi/2 - 2 (s + t)."""
    large = a > 0.5
    z = choose(large, (1.0 - a) * 0.5, a * a)
    s = choose(large, z.sqrt(), a)
    return large, s, s * z * polynomial(z, coefficients.ASIN[a.width])


def asin(x: Term) -> Term:
    large, s, t = _asin_parts(x.absolute())
    head, tail = HALF_PI[x.width]
    result = choose(large, (head - s * 2.0) + (tail - t * 2.0), s + t)
    return keep_tiny(x, result.with_sign_bits(x.sign_bits()))


def acos(x: Term) -> Term:
    large, s, t = _asin_parts(x.absolute())
    head, tail = HALF_PI[x.width]
    signed_s, signed_t = s.with_sign_bits(x.sign_bits()), t.with_sign_bits(x.sign_bits())
    centre = head - (signed_s - (tail - signed_t))
    double = (s + t) * 2.0
    return choose(large, choose(x > 0.0, double, head * 2.0 - (double - tail * 2.0)), centre)


def _atan_parts(a: Term) -> tuple[Term, Term, Term]:
    """(base, tail, t): atan(a) = base + (tail + t) for a >= 0."""
    middle, large = a > TAN_PI_8, a > 1.0 / TAN_PI_8
    head, tail = HALF_PI[a.width]
    t = choose(large, a.lift(-1.0), choose(middle, a - 1.0, a)) / choose(
        large, a, choose(middle, a + 1.0, 1.0)
    )
    z = t * t
    series = t * z * polynomial(z, coefficients.ATAN[a.width])
    base = choose(large, a.lift(head), choose(middle, a.lift(head * 0.5), 0.0))
    base_tail = choose(large, a.lift(tail), choose(middle, a.lift(tail * 0.5), 0.0))
    return base, series + base_tail, t


def atan(x: Term) -> Term:
    base, tail, t = _atan_parts(x.absolute())
    return keep_tiny(x, (base + (t + tail)).with_sign_bits(x.sign_bits()))


def atan2(y: Term, x: Term) -> Term:
    a_y, a_x = y.absolute(), x.absolute()
    steep = a_y > a_x
    high, low = choose(steep, a_y, a_x), choose(steep, a_x, a_y)
    ratio = choose(a_y.equals(a_x), choose(high.equals(0.0), high, 1.0), low / high)
    base, tail, t = _atan_parts(ratio)
    small = Pair(base, t + tail)
    left = x.bits() < 0
    head, rest = HALF_PI[x.width]
    centre = choose(steep, x.lift(head), choose(left, x.lift(2.0 * head), 0.0))
    centre_tail = choose(steep, x.lift(rest), choose(left, x.lift(2.0 * rest), 0.0))
    sign = choose(steep.differs(left), x.bits().lift(x.format.sign_mask), 0)
    shifted = renormalise(centre, small.head.with_sign_bits(sign))
    around = shifted.head + (small.tail.with_sign_bits(sign) + (shifted.tail + centre_tail))
    plain = small.head + small.tail
    result = choose(steep | left, around, plain).with_sign_bits(y.sign_bits())
    return choose(y.is_nan() | x.is_nan(), x + y, result)
