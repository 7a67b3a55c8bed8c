"""Lie groups acting on states, as components that combine: one file per action,
`product.Product` puts two side by side.

Every action is a left action of a group on the rows of a state (m, 3), with algebra elements as rows (d, 3), and offers

    algebra_rows()           d, for workspaces (plain Python)
    act(xi, y, out)          out = exp(xi).y; out may be y
    dexpinv(sigma, v, out)   out = dexpinv_sigma(v), exact; False where a rotation of sigma reaches 2 pi; out may be v
    bracket(a, b, out)       out = [a, b]; out may be a or b
"""
