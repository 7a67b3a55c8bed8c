"""What systems, forms and integrators declare; families of systems; the systems."""
