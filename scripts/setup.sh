#!/usr/bin/env bash
# Finds what the build needs from the system, installs what is missing where that is possible (as root on Debian), and names the package
# where it is not. Then hands over to scripts/setup.py, which makes .venv. Usage: scripts/setup.sh demo|test|bench
set -euo pipefail
cd "$(dirname "$0")/.."
level="${1:?usage: scripts/setup.sh demo|test|bench}"

# A usable Python: CPython 3.11 that has its headers and can make a virtual environment. Prints its path.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" .venv/bin/python python3.11 /usr/bin/python3.11 python3; do
    candidate="$(command -v "${candidate:-none}" 2>/dev/null)" || continue
    if "$candidate" - 2>/dev/null <<'CHECK'; then
import ensurepip, os, sys, sysconfig, venv
sys.exit(not (sys.version_info[:2] == (3, 11) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))))
CHECK
      echo "$candidate"
      return
    fi
  done
  return 1
}

has_header() { [ -e "/usr/include/$1" ] || echo "#include <$1>" | c++ -std=c++20 -E -x c++ -o /dev/null - 2>/dev/null; }

missing=()
command -v c++ >/dev/null || command -v g++ >/dev/null || missing+=(g++)
find_python >/dev/null || missing+=(python3.11-dev python3.11-venv)
if [ "$level" = test ]; then
  has_header gtest/gtest.h || missing+=(libgtest-dev)
  command -v chromium >/dev/null || missing+=(chromium)
fi
if [ "$level" = bench ]; then has_header benchmark/benchmark.h || missing+=(libbenchmark-dev); fi

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then
    echo "natif: installing from Debian: ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "natif: missing on this machine: ${missing[*]} (names of Debian's packages). Remedy: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

python="$(find_python)" || { echo "natif: no CPython 3.11 with headers and venv was found; set PYTHON to one" >&2; exit 1; }
exec "$python" scripts/setup.py "$level"
