"""What flows between the rooms: no fparser, no jinja2, no Fortran layout."""
