"""The command that certifies integrators. Light to import: the rest is loaded when it is called."""


def command_certify(arguments) -> None:
    from liestep.certificates.orders import certify_all, complete
    from liestep.certificates.tables import lines

    failed = 0
    for found in certify_all(arguments.integrator):
        for line in lines(found):
            print(line, flush=True)
        failed += not complete(found)
    print(f"{failed} not certified" if failed else "all certified")
    if failed:
        raise SystemExit(1)


def declare(add) -> None:
    """Add the command; `add(name, function, help)` returns an argparse parser."""
    certify = add("certify", command_certify,
                  "certify the order of integrators with 150 digits, from the local error of one step")
    certify.add_argument("integrator", nargs="*", help="only these (default: all)")
