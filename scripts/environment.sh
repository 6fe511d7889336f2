# Sourced by the other scripts: `environment [dev]` makes .venv with fortrans in it, `compiler`
# sees to it that gfortran is there.  Everything said here goes to standard error.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }

# Prints how to run something as root; fails when that cannot be done without a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then echo "env"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then echo "sudo -n env"
  else return 1
  fi
}

# apt_install PACKAGE: installs it, or says what the user is to do.
apt_install() {
  local root
  if command -v apt-get >/dev/null && root=$(as_root); then
    say "Installing $1 with apt-get"
    { $root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1" ||
      { $root apt-get update &&
        $root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1"; }
    } >&2 && return
  fi
  say "$1 is missing and cannot be installed from here. Install it, for example with"
  say "    sudo apt-get install $1"
  say "and run this command again."
  return 1
}

# Prints the newest Python that is at least 3.11.
find_python() {
  local name
  for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    if [ -n "$name" ] && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  say "Python 3.11 or newer is needed. Install it, or name it: PYTHON=/path/to/python3.12 $0"
  return 1
}

make_venv() {
  local python=$1
  "$python" -m venv .venv >/dev/null 2>&1 && return
  # Debian keeps the venv module's pip in a package of its own.
  rm -rf .venv
  apt_install "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" &&
    "$python" -m venv .venv >&2
}

# environment [dev]: .venv with this checkout installed, again only when pyproject.toml changed.
environment() {
  local extras=${1:-} stamp=.venv/installed python
  # What was installed for the tests does for everything else.
  [ -z "$extras" ] && [ ! -e .venv/installed-dev ] || stamp=.venv/installed-dev extras=dev
  if ! [ -x .venv/bin/python ] || ! .venv/bin/python -c '' 2>/dev/null; then
    python=$(find_python) || return
    say "Making .venv with $("$python" --version)"
    make_venv "$python" || return
  fi
  if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    say "Installing fortrans${extras:+ with what its tests need} into .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}" >&2 || return
    touch "$stamp"
  fi
  PATH="$PWD/.venv/bin:$PATH"
  export PATH
}

compiler() {
  command -v gfortran >/dev/null || apt_install gfortran
}
