"""fortrans: Fortran array expressions become composed DO CONCURRENT loop nests.

    >>> import fortrans
    >>> result = fortrans.rewrite(text, fortrans.Options(all=True))
    >>> print(result.text)
    >>> for remark in result.remarks:
    ...     print(remark)

``rewrite`` raises ``fortrans.remarks.InputError`` when the text cannot be read as free-form
Fortran.  Names are loaded when first used: ``import fortrans`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fortrans.options import Options
    from fortrans.pipeline import Result, rewrite
    from fortrans.remarks import Remark

__version__ = "0.1.0"
__all__ = ["Options", "Remark", "Result", "__version__", "rewrite"]

_HOME = {
    "Options": "fortrans.options",
    "Remark": "fortrans.remarks",
    "Result": "fortrans.pipeline",
    "rewrite": "fortrans.pipeline",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'fortrans' has no attribute '{name}'")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
