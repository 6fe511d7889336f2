#!/usr/bin/env bash
# The main job on the example programs: rewrite, say why the rest was left, show one statement,
# build original and rewritten with gfortran -O2, compare what they print, and time them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
environment
compiler

examples=fixtures/examples
build=${1:-build/demo}
flags=${FFLAGS:--O2}
runs=5
export LC_ALL=C

say_step() { printf '\n== %s\n' "$*"; }

mapfile -t order < <(sed 's/#.*//' "$examples/order.txt" | awk 'NF {print $1}')
mapfile -t sources < <(printf "$examples/%s\n" "${order[@]}")

say_step "fortrans rewrite $examples -o $build/rewritten"
rm -rf "$build"
mkdir -p "$build/original" "$build/rewritten"
fortrans rewrite "${sources[@]}" -o "$build/rewritten" 2>&1 | tee "$build/remarks.txt"

say_step "One of them, before and after"
fortrans rewrite --quiet --diff --no-comments "${sources[@]}" > "$build/all.diff"
# The shortest hunk that takes something out.
awk '
  function keep() { if (hunk != "" && taken && (best == "" || size < least)) { best = hunk; least = size } }
  /^--- /    { keep(); hunk = ""; from = $0; next }
  /^\+\+\+ / { to = $0; next }
  /^@@/      { keep(); hunk = from "\n" to "\n" $0; size = taken = 0; next }
  hunk != "" { hunk = hunk "\n" $0; size++; taken += /^-/ }
  END        { keep(); print best }
' "$build/all.diff"

say_step "gfortran $flags, original and rewritten"
for side in original rewritten; do
  [ "$side" = original ] && from=$examples || from=$build/rewritten
  objects=$(printf "$PWD/$from/%s " "${order[@]}")
  # shellcheck disable=SC2086  # both hold several words
  (cd "$build/$side" && gfortran $flags $objects -o program && ./program > output.txt)
done
if ! diff "$build/original/output.txt" "$build/rewritten/output.txt"; then
  say "The rewritten program prints something else."
  exit 1
fi
tail -n 20 "$build/original/output.txt"
echo "Both programs print the same ($(wc -l < "$build/original/output.txt") lines)."

say_step "Run time in seconds, best of $runs, taken in turn"
declare -A best=([original]=999999999999 [rewritten]=999999999999)
for ((run = 0; run < runs; run++)); do
  for side in original rewritten; do
    start=${EPOCHREALTIME/./}
    (cd "$build/$side" && ./program > /dev/null)
    took=$((${EPOCHREALTIME/./} - start))
    ((took < best[$side])) && best[$side]=$took
  done
done
awk -v a="${best[original]}" -v b="${best[rewritten]}" 'BEGIN {
  printf "%10s %10s %10s\n%10.3f %10.3f %9.2fx\n", "original", "rewritten", "speed-up", a / 1e6, b / 1e6, a / b }'
