#!/usr/bin/env bash
# Random kernels and the corpus on a GPU, under compute-sanitizer, in workgroup memory that is full of rubbish:
#   [SECONDS_LIMIT=200] bash packages/wgsl/src/cuda/testing/run-gpu-programs.sh FOLDER [memcheck] [racecheck]
# FOLDER has the programs of packages/wgsl/src/cuda/testing/write-gpu-programs.ts. Builds them with nvcc for the GPU that is there, with the options in their first lines, runs each by itself and then under each
# tool (both without arguments), and prints what differs or is reported, with a line for each. Exit 1 when there was anything. After SECONDS_LIMIT no
# further program starts, and one that was not run counts as a failure.
set -u
folder=$(realpath "${1:?usage: run-gpu-programs.sh FOLDER [TOOL]...}")
shift
tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck)
PATH=$PATH:/usr/local/cuda/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
export work capability
start=$SECONDS
end=$(($(date +%s) + ${SECONDS_LIMIT:-86400}))
export end
# shellcheck disable=SC2016
ls "$folder"/*.cu | xargs -P "$(nproc)" -I{} bash -c 'nvcc -w -std=c++17 -arch=sm_"$capability" -Xptxas "$(sed -n "1s/.*-Xptxas //p" {})" {} -o "$work/$(basename {} .cu)" > "$work/$(basename {}).log" 2>&1 || { echo "nvcc: {}"; head -3 "$work/$(basename {}).log"; }' | tee "$work/failures"
echo "built in $((SECONDS - start)) s"
programs=$(find "$work" -type f -perm -u+x | sort)
bad=$(wc -l < "$work/failures")
check() {
  local name=$1
  shift
  local from=$SECONDS
  # shellcheck disable=SC2086
  printf '%s\n' $programs | xargs -P "$(nproc)" -I{} bash -c '[ "$(date +%s)" -lt "$end" ] || { touch {}.left-out; exit 0; }; "$@" {} > {}.'"$name"' 2>&1 || { code=$?; echo "$(basename {}): exit $code"; }' _ "$@" | tee "$work/exits.$name"
  bad=$((bad + $(wc -l < "$work/exits.$name")))
  cat "$work"/*."$name" 2> /dev/null | awk '/ kernels, / { kernels += $1; differing += $3 } END { printf "%d kernels, %d buffers differ", kernels, differing }'
  local left
  left=$(find "$work" -name '*.left-out' -printf . -delete | wc -c)
  bad=$((bad + left))
  echo ", $name: $((SECONDS - from)) s, $left programs not run"
  grep -hE 'differs|ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]|^========= (Invalid|Error|Race|Warn)' "$work"/*."$name" | sort | uniq -c | sort -rn | head -20
}
check plain
for tool in "${tools[@]}"; do
  check "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 --kernel-regex-exclude kns=poison
done
exit $((bad > 0))
