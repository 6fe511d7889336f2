"""Names of the intrinsic procedures: those of F2018 (table 16.1) and of gfortran beyond them."""

from __future__ import annotations

STANDARD: frozenset[str] = frozenset(
    """
    abs achar acos acosh adjustl adjustr aimag aint all allocated anint any asin asinh associated
    atan atan2 atanh atomic_add atomic_and atomic_cas atomic_define atomic_fetch_add
    atomic_fetch_and atomic_fetch_or atomic_fetch_xor atomic_or atomic_ref atomic_xor bessel_j0
    bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn bge bgt bit_size ble blt btest ceiling char
    cmplx co_broadcast co_max co_min co_reduce co_sum command_argument_count conjg cos cosh
    coshape count cpu_time cshift date_and_time dble digits dim dot_product dprod dshiftl dshiftr
    eoshift epsilon erf erfc erfc_scaled event_query execute_command_line exp exponent
    extends_type_of failed_images findloc floor fraction gamma get_command get_command_argument
    get_environment_variable get_team huge hypot iachar iall iand iany ibclr ibits ibset ichar
    ieor image_index image_status index int ior iparity ishft ishftc is_contiguous is_iostat_end
    is_iostat_eor kind lbound lcobound leadz len len_trim lge lgt lle llt log log_gamma log10
    logical maskl maskr matmul max maxexponent maxloc maxval merge merge_bits min minexponent
    minloc minval mod modulo move_alloc mvbits nearest new_line nint norm2 not null num_images out_of_range
    pack parity popcnt poppar precision present product radix random_init random_number
    random_seed range rank real reduce repeat reshape rrspacing same_type_as scale scan
    selected_char_kind selected_int_kind selected_real_kind set_exponent shape shifta shiftl
    shiftr sign sin sinh size spacing spread sqrt stopped_images storage_size sum system_clock
    tan tanh team_number this_image tiny trailz transfer transpose trim ubound ucobound unpack
    verify
    alog alog10 amax0 amax1 amin0 amin1 amod cabs ccos cexp clog csin csqrt dabs dacos dasin
    datan datan2 dcos dcosh ddim dexp dint dlog dlog10 dmax1 dmin1 dmod dnint dsign dsin dsinh
    dsqrt dtan dtanh float iabs idim idint idnint ifix isign max0 max1 min0 min1 sngl
    """.split()
)

EXTENSIONS: frozenset[str] = frozenset(
    """
    abort access acosd algama alarm and asind atan2d atand besj0 besj1 besjn besy0 besy1 besyn
    backtrace c_sizeof cdabs cdcos cdexp cdlog cdsin cdsqrt chdir chmod co_ubound complex cosd
    cotan cotand ctime dacosd dacosh dasind dasinh datan2d datand datanh dbesj0 dbesj1 dbesjn
    dbesy0 dbesy1 dbesyn dcmplx dconjg dcosd dcotan dcotand derf derfc dfloat dgamma dimag dlgama
    dreal dsind dtand dtime etime exit fdate fget fgetc flush fnum fput fputc free fseek fstat
    ftell gerror getarg getcwd getenv getgid getlog getpid getuid gmtime hostnm iargc idate ierrno
    ierrno imag imagpart int2 int8 irand isatty isnan itime izext jzext kill lgamma link lnblnk
    loc long lshift lstat ltime malloc mclock mclock8 or perror qabs rand ran realpart rename
    rshift second secnds short signal sind sizeof sleep srand stat symlnk system tand time time8
    ttynam umask unlink xor zabs zcos zexp zlog zsin zsqrt cosqrt bjtest bitest inot jnot knot
    floati floatj floatk dfloti dflotj dflotk babs iiabs jiabs kiabs
    """.split()
)

INTRINSICS: frozenset[str] = STANDARD | EXTENSIONS
