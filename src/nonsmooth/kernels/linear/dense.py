"""Dense LU with row exchanges, for the small matrices of the implicit method.

Used with float64 and with complex128: the two specialisations of this module.
"""

from nonsmooth.kernels.abi import kernel


@kernel
def lu_factor(n, A, swap):
    """Factor A in place, rows exchanged as in `swap`; return whether it is regular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i * n + k]) > abs(A[best * n + k]):
                best = i
        swap[k] = best
        if abs(A[best * n + k]) == 0.0:
            return False
        if best != k:
            for j in range(n):
                A[k * n + j], A[best * n + j] = A[best * n + j], A[k * n + j]
        for i in range(k + 1, n):
            ratio = A[i * n + k] / A[k * n + k]
            A[i * n + k] = ratio
            if ratio != 0.0:
                for j in range(k + 1, n):
                    A[i * n + j] -= ratio * A[k * n + j]
    return True


@kernel
def lu_solve(n, A, swap, x):
    """Solve with the factors of `lu_factor`, in place."""
    for k in range(n):
        best = swap[k]
        if best != k:
            x[k], x[best] = x[best], x[k]
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= A[i * n + j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i * n + j] * x[j]
        x[i] = total / A[i * n + i]
