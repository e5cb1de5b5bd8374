"""Programs against the array API standard: the namespace is an argument, nothing is imported.

Each is run with `numpy` and traced with `adze.numpy`; the text is the same.
"""


def softmax(xp, x):
    shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return shifted / xp.sum(shifted, axis=-1, keepdims=True)


def standardize(xp, x):
    spread = xp.std(x, axis=0)
    return xp.where(spread > 0, (x - xp.mean(x, axis=0)) / spread, xp.zeros_like(x))


def polynomial(xp, x, coefficients):
    result = xp.zeros_like(x)
    for i in range(coefficients.shape[0]):
        result = result * x + coefficients[i]
    return result


def gaussian_kernel(xp, x, y):
    difference = xp.expand_dims(x, axis=1) - xp.expand_dims(y, axis=0)
    return xp.exp(-0.5 * xp.vecdot(difference, difference))


def plane_rotation(xp, angle, points):
    c, s = xp.cos(angle), xp.sin(angle)
    matrix = xp.stack([xp.stack([c, -s]), xp.stack([s, c])])
    return xp.matmul(points, xp.matrix_transpose(matrix))


def grid_energy(xp, field):
    x = xp.linspace(0.0, 1.0, field.shape[1], dtype=field.dtype)
    y = xp.linspace(0.0, 1.0, field.shape[0], dtype=field.dtype)
    yy, xx = xp.meshgrid(y, x, indexing="ij")
    gradient = xp.square(xp.roll(field, 1, axis=0) - field) + xp.square(xp.roll(field, 1, axis=1) - field)
    return xp.sum(gradient * (xx + yy)), xp.max(xp.hypot(xx, field))


def ranking(xp, scores):
    order = xp.argsort(scores, axis=-1)
    return xp.take_along_axis(scores, order, axis=-1), xp.cumulative_sum(xp.sort(scores, axis=-1), axis=-1)


def bit_mix(xp, words):
    mixed = xp.bitwise_xor(words, xp.bitwise_right_shift(words, xp.asarray(15, dtype=words.dtype)))
    mixed = mixed * xp.asarray(0x2C1B3C6D, dtype=words.dtype)
    high = xp.bitwise_and(mixed, xp.asarray(0xFFFF, dtype=words.dtype))
    return xp.astype(high, xp.int64), xp.any(high == 0), xp.argmax(high)


def blocks(xp, a):
    top, bottom = a[:2], a[2:]
    joined = xp.concat([xp.flip(top, axis=0), xp.tril(bottom)], axis=0)
    flat = xp.reshape(xp.permute_dims(joined, (1, 0)), (-1,))
    return flat, xp.broadcast_to(xp.squeeze(a[:1], axis=0), a.shape)


def complex_phase(xp, z):
    return xp.abs(z), xp.real(z) + xp.imag(z), xp.conj(z) * z
