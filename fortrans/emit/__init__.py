"""Our terms -> Fortran text.  The only room that imports jinja2."""
