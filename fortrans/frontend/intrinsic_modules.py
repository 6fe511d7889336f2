"""The intrinsic modules as Fortran text, read like any other module (F2018 16.10, 17, 18.2).

Values are those of gfortran and flang on machines of 64 bits; a constant whose value differs
between compilers has none here.
"""

from __future__ import annotations

from functools import cache

LIBRARIES: dict[str, tuple[str, ...]] = {
    "mpi": ("mpi_", "pmpi_"),
    "mpi_f08": ("mpi_", "pmpi_"),
    "mpi_f08_types": ("mpi_", "pmpi_"),
    "netcdf": ("nf90_", "nf_"),
    "pnetcdf": ("nf90_", "nf90mpi_", "nfmpi_", "nf_"),
    "hdf5": ("h5", "hid_t", "hsize_t", "hssize_t", "haddr_t", "size_t", "off_t", "int_ptr"),
    "omp_lib": ("omp_", "openmp_"),
    "omp_lib_kinds": ("omp_",),
    "openacc": ("acc_", "openacc_"),
    "openacc_kinds": ("acc_",),
    "mpif.h": ("mpi_", "pmpi_"),
    "netcdf.inc": ("nf_", "ncopn", "nc"),
    "omp_lib.h": ("omp_", "openmp_"),
}
"""Well-known modules and include files that are not seen: each name they bring begins like this."""


def may_bring(module: str, name: str) -> bool:
    """Whether an unseen module, or include file, can bring ``name``."""
    prefixes = LIBRARIES.get(module)
    return prefixes is None or name.startswith(prefixes)


_NUMBERS = {
    "iso_fortran_env": {
        **{f"int{bits}": bits // 8 for bits in (8, 16, 32, 64)},
        **{f"real{bits}": bits // 8 for bits in (16, 32, 64, 128)},
        **{f"logical{bits}": bits // 8 for bits in (8, 16, 32, 64)},
        "character_storage_size": 8,
        "numeric_storage_size": 32,
        "file_storage_size": 8,
        "input_unit": 5,
        "output_unit": 6,
        "error_unit": 0,
        "iostat_end": -1,
        "iostat_eor": -2,
        "atomic_int_kind": None,
        "atomic_logical_kind": None,
        "iostat_inquire_internal_unit": None,
        "stat_failed_image": None,
        "stat_locked": None,
        "stat_locked_other_image": None,
        "stat_stopped_image": None,
        "stat_unlocked": None,
        "stat_unlocked_failed_image": None,
        "initial_team": None,
        "parent_team": None,
        "current_team": None,
    },
    "iso_c_binding": {
        "c_int": 4,
        "c_short": 2,
        "c_long": 8,
        "c_long_long": 8,
        "c_signed_char": 1,
        "c_size_t": 8,
        "c_intmax_t": 8,
        "c_intptr_t": 8,
        "c_ptrdiff_t": 8,
        **{f"c_int{bits}_t": bits // 8 for bits in (8, 16, 32, 64, 128)},
        **{f"c_int_least{bits}_t": bits // 8 for bits in (8, 16, 32, 64, 128)},
        **{f"c_int_fast{bits}_t": None for bits in (8, 16, 32, 64, 128)},
        "c_float": 4,
        "c_double": 8,
        "c_long_double": None,
        "c_float128": 16,
        "c_float_complex": 4,
        "c_double_complex": 8,
        "c_long_double_complex": None,
        "c_float128_complex": 16,
        "c_bool": 1,
        "c_char": 1,
    },
}

_CHARACTERS = "null_char alert backspace form_feed new_line carriage_return horizontal_tab vertical_tab"

_OTHERS = {
    "iso_fortran_env": """
        integer, parameter :: character_kinds(*) = [1, 4]
        integer, parameter :: integer_kinds(5) = [1, 2, 4, 8, 16]
        integer, parameter :: logical_kinds(5) = [1, 2, 4, 8, 16]
        integer, parameter :: real_kinds(*)
        type :: event_type
        end type
        type :: lock_type
        end type
        type :: notify_type
        end type
        type :: team_type
        end type
        interface
          pure function compiler_options() result(text)
            character(:), allocatable :: text
          end function
          pure function compiler_version() result(text)
            character(:), allocatable :: text
          end function
        end interface
        """,
    "iso_c_binding": """
        type :: c_ptr
        end type
        type :: c_funptr
        end type
        type(c_ptr), parameter :: c_null_ptr = c_ptr()
        type(c_funptr), parameter :: c_null_funptr = c_funptr()
        """,
}

_TYPES = {
    "ieee_exceptions": "ieee_flag_type ieee_status_type ieee_modes_type",
    "ieee_arithmetic": "ieee_class_type ieee_round_type",
    "ieee_features": "ieee_features_type",
}
_CONSTANTS = {
    "ieee_exceptions": {
        "ieee_flag_type": "ieee_invalid ieee_overflow ieee_divide_by_zero ieee_underflow ieee_inexact"
    },
    "ieee_arithmetic": {
        "ieee_class_type": "ieee_signaling_nan ieee_quiet_nan ieee_negative_inf"
        " ieee_negative_normal ieee_negative_subnormal ieee_negative_denormal ieee_negative_zero"
        " ieee_positive_zero ieee_positive_subnormal ieee_positive_denormal ieee_positive_normal"
        " ieee_positive_inf ieee_other_value",
        "ieee_round_type": "ieee_nearest ieee_to_zero ieee_up ieee_down ieee_away ieee_other",
    },
    "ieee_features": {
        "ieee_features_type": "ieee_datatype ieee_denormal ieee_divide ieee_halting"
        " ieee_inexact_flag ieee_inf ieee_invalid_flag ieee_nan ieee_rounding ieee_sqrt"
        " ieee_subnormal ieee_underflow_flag"
    },
}
_GENERICS = {
    "iso_fortran_env": "",
    "iso_c_binding": "c_associated c_f_pointer c_f_procpointer c_funloc c_loc c_sizeof"
    " c_f_strpointer f_c_string",
    "ieee_exceptions": "ieee_get_flag ieee_get_halting_mode ieee_get_modes ieee_get_status"
    " ieee_set_flag ieee_set_halting_mode ieee_set_modes ieee_set_status ieee_support_flag"
    " ieee_support_halting",
    "ieee_arithmetic": "ieee_class ieee_copy_sign ieee_fma ieee_get_rounding_mode"
    " ieee_get_underflow_mode ieee_int ieee_is_finite ieee_is_nan ieee_is_negative ieee_is_normal"
    " ieee_logb ieee_max ieee_max_mag ieee_max_num ieee_max_num_mag ieee_min ieee_min_mag"
    " ieee_min_num ieee_min_num_mag ieee_next_after ieee_next_down ieee_next_up ieee_quiet_eq"
    " ieee_quiet_ge ieee_quiet_gt ieee_quiet_le ieee_quiet_lt ieee_quiet_ne ieee_real ieee_rem"
    " ieee_rint ieee_scalb ieee_selected_real_kind ieee_set_rounding_mode ieee_set_underflow_mode"
    " ieee_signaling_eq ieee_signaling_ge ieee_signaling_gt ieee_signaling_le ieee_signaling_lt"
    " ieee_signaling_ne ieee_signbit ieee_support_datatype ieee_support_denormal"
    " ieee_support_divide ieee_support_inf ieee_support_io ieee_support_nan"
    " ieee_support_rounding ieee_support_sqrt ieee_support_standard ieee_support_subnormal"
    " ieee_support_underflow_control ieee_unordered ieee_value",
    "ieee_features": "",
}


@cache
def source(name: str) -> str | None:
    """The text of the intrinsic module ``name``; None when there is none of that name."""
    if name not in _GENERICS:
        return None
    lines = [f"module {name}"]
    if name == "ieee_arithmetic":
        lines.append("use ieee_exceptions")
    lines.append("implicit none")
    lines += [f"type :: {type_}\nend type" for type_ in _TYPES.get(name, "").split()]
    for constant, value in _NUMBERS.get(name, {}).items():
        lines.append(f"integer, parameter :: {constant}" + ("" if value is None else f" = {value}"))
    for type_, constants in _CONSTANTS.get(name, {}).items():
        lines += [f"type({type_}), parameter :: {constant}" for constant in constants.split()]
    if name == "iso_c_binding":
        lines += [f"character, parameter :: c_{it}" for it in _CHARACTERS.split()]
    lines += [line.strip() for line in _OTHERS.get(name, "").strip().splitlines()]
    lines += [f"interface {generic}\nend interface" for generic in _GENERICS[name].split()]
    return "\n".join([*lines, f"end module {name}", ""])


def declares(module: str, name: str) -> bool:
    """Whether an intrinsic module has a named constant of that name."""
    return name in _NUMBERS.get(module, {}) or any(
        name in constants.split() for constants in _CONSTANTS.get(module, {}).values()
    )
