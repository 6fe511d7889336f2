"""Fortran text -> our terms.  The only room that imports fparser."""
