"""Arguments as signatures hold them."""


def tensor(*shape, dtype="float32", stride=None):
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return {"tensor": [list(shape), stride or strides, dtype]}


IMAGE, PATCH = tensor(2, 3, 32, 32), tensor(8, 3, 16, 16)
