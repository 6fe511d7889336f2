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

# The files of one program in the order to compile them; first.f90 is a program by itself.
mapfile -t order < <(sed 's/#.*//' "$examples/order.txt" | awk 'NF {print $1}')

rm -rf "$build"
mkdir -p "$build/original" "$build/rewritten"
say_step "fortrans rewrite $examples -o $build/rewritten"
fortrans rewrite "$examples" -o "$build/rewritten" 2>&1 | tee "$build/remarks.txt"

say_step "One of them, before and after"
fortrans rewrite --quiet --diff --no-comments "$examples" > "$build/all.diff"
# The shortest hunk that takes something out.
awk '
  function keep() { if (hunk != "" && taken && (best == "" || size < least)) { best = hunk; least = size } }
  /^--- /    { keep(); hunk = ""; from = $0; next }
  /^\+\+\+ / { to = $0; next }
  /^@@/      { keep(); hunk = from "\n" to "\n" $0; size = taken = 0; next }
  hunk != "" { hunk = hunk "\n" $0; size++; taken += /^-/ }
  END        { keep(); print best }
' "$build/all.diff"

# run_both SIDE: what the two programs of a side print; their times go to standard error.
run_both() (
  cd "$build/$1"
  ./program
  start=${EPOCHREALTIME/./}
  ./first
  echo "first.f90 $((${EPOCHREALTIME/./} - start))e-6" >&2
)

say_step "gfortran $flags, original and rewritten"
for side in original rewritten; do
  [ "$side" = original ] && from=$PWD/$examples || from=$PWD/$build/rewritten
  # shellcheck disable=SC2086  # the flags are several words
  (cd "$build/$side" && gfortran $flags "${order[@]/#/$from/}" -o program && gfortran $flags "$from/first.f90" -o first)
  run_both "$side" > "$build/$side/output.txt" 2> "$build/$side/warm_up.txt"
done
if ! diff "$build/original/output.txt" "$build/rewritten/output.txt"; then
  say "The rewritten programs print something else."
  exit 1
fi
cat "$build/original/output.txt"
echo "Original and rewritten print the same ($(wc -l < "$build/original/output.txt") lines)."

say_step "Milliseconds for each kernel and for first.f90, best of $runs runs taken in turn"
for ((run = 0; run < runs; run++)); do
  for side in original rewritten; do
    run_both "$side" 2>&1 > "$build/output.txt" | sed "s/^/$side /" >> "$build/times.txt"
  done
done
# A line of times: side, name (of one word or more), seconds.
awk '
  function row(name, a, b) { printf "%-16s %10.2f %10.2f %8.2f\n", name, a, b, (b > 0 ? a / b : 0) }
  BEGIN { printf "%-16s %10s %10s %8s\n", "kernel", "original", "rewritten", "ratio" }
  {
    seconds = $NF * 1000; side = $1
    $1 = $NF = ""; gsub(/^ +| +$/, "")
    if (!($0 in known)) { known[$0] = 1; names[++count] = $0 }
    if (!((side, $0) in best) || seconds < best[side, $0]) best[side, $0] = seconds
  }
  END {
    for (k = 1; k <= count; k++) {
      a = best["original", names[k]]; b = best["rewritten", names[k]]
      row(names[k], a, b); all_a += a; all_b += b
    }
    row("total", all_a, all_b)
  }' "$build/times.txt"
echo "A ratio above 1 is a gain."
