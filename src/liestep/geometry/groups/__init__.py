"""Lie groups acting on states, as components that combine: `actions.Product` puts two side by side.

Every action is a left action of a group on a state (m, d), with elements of the algebra as rows (k, 3). The integrators
do not read the columns of the state (d = 3 for the actions here). An action offers

    state_rows()             m (plain Python)
    algebra_rows()           k, for workspaces (plain Python)
    act(xi, y, out)          out = exp(xi).y; out may be y
    dexpinv(sigma, v, out)   out = dexpinv_sigma(v), exact; False where a rotation of sigma reaches 2 pi; out may be v
    in_chart(sigma)          whether all rotations of sigma stay below 2 pi
    bracket(a, b, out)       out = [a, b]; out may be a or b

and, for `actions.Charted`, what a motion (R, r) of factor i of the group does, R v = v + s a x v + c a x (a x v), with
r = a where there are no translations:

    move(i, s, c, a, r, y, out)

and, where states have one, the squared Riemannian distance of two:

    distance2(y, z)
"""
CHARTS = ("exp", "cayley", "cayley2", "second_kind")  # names of local coordinates, see `actions.Charted`
