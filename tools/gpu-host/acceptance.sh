#!/bin/bash
# What must hold on a GPU host, in one run: conformance, the algorithms' tests, and the command line's acceptance, on CUDA.
#   bash tools/gpu-host/acceptance.sh [STEP...]     from a working tree that carries .gpu-bundle (tools/gpu-bundle)
# Steps: conformance algorithms kernels cli devices soak webgpu. Logs go to $OUT (default ./gpu-host-logs); one line a step is printed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
logs=${OUT:-gpu-host-logs}
mkdir -p "$logs"
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(devices conformance cli algorithms kernels)
gpus=$(nvidia-smi -L | wc -l)
failed=0

run() { # run NAME SECONDS COMMAND...
  local name=$1 seconds=$2 start=$SECONDS
  shift 2
  timeout "$seconds" "$@" >"$logs/$name.log" 2>&1
  local status=$?
  [ $status -eq 0 ] || failed=$((failed + 1))
  echo "$([ $status -eq 0 ] && echo ok || echo "FAILED ($status)") $name, $((SECONDS - start)) s: $(grep -E 'Tests |verified' "$logs/$name.log" | tail -1 | tr -s ' ' | cut -c1-150)"
  [ $status -eq 0 ] || grep -vE '^\s*$' "$logs/$name.log" | tail -25 | cut -c1-240
}
bundle() { bash .gpu-bundle/run "$@"; }
export -f bundle
tandem() { run "$1" 120 bash .gpu-bundle/run tandem "${@:2}"; }

visible() { seq -s, 0 $(($1 - 1)); }

for step in "${steps[@]}"; do
  case "$step" in
  devices)
    nvidia-smi -L
    tandem devices devices --backend cuda
    tandem topology topology --backend cuda
    tandem select select --backend cuda --count 1 --by utilization --explain
    tandem bandwidth bandwidth --backend cuda
    cat "$logs"/{devices,topology,bandwidth}.log
    ;;
  conformance)
    for count in 1 2 4; do
      [ "$count" -le "$gpus" ] || continue
      CUDA_VISIBLE_DEVICES=$(visible "$count") run "conformance-$count" 200 bash .gpu-bundle/run vitest run --root packages/backend-cuda src/conformance.test.ts
    done
    run hardware 200 bash .gpu-bundle/run vitest run --root packages/backend-cuda src/hardware.test.ts
    ;;
  algorithms) TANDEM_TEST_BACKEND=cuda run algorithms 400 bash .gpu-bundle/run vitest run --root packages/algorithms ;;
  kernels) run kernels 300 bash .gpu-bundle/run vitest run --root packages/backend-cuda src/kernel-corpus.test.ts ;;
  cli)
    for schedule in overlapped serial; do
      tandem "transpose-$schedule" transpose --backend cuda --rows 768 --cols 1024 --devices "$gpus" --schedule $schedule --json
    done
    tandem transpose-ragged transpose --backend cuda --rows 1000 --cols 777 --devices 3 --virtual --json
    tandem transpose-small transpose --backend cuda --rows 5 --cols 3 --devices "$gpus" --json
    tandem transpose-one transpose --backend cuda --rows 1 --cols 1 --devices 2 --virtual --json
    for kernel in atomic interleaved-divergent interleaved-conflicts sequential best; do
      tandem "reduce-$kernel" reduce --backend cuda --elements 4194304 --type i32 --kernel $kernel --devices "$gpus" --json
    done
    for count in 1 2 3 4 8; do
      tandem "reduce-f32-$count" reduce --backend cuda --elements 4194304 --type f32 --devices $count --virtual --json
    done
    echo "bits: $(grep -ho '"valueBits": *"[^"]*"' "$logs"/reduce-f32-*.log | sort | uniq -c | tr '\n' ' ')"
    tandem matmul matmul --backend cuda --m 300 --k 257 --n 129 --devices 3 --virtual --json
    tandem matmul-streamed matmul --backend cuda --m 300 --k 257 --n 129 --devices 3 --virtual --stream-width 64 --memory-limit 150000 --json
    for count in 1 2 "$gpus"; do
      tandem "jacobi-$count" jacobi --backend cuda --rows 257 --cols 129 --iterations 500 --devices "$count" --virtual --decomposition 2d --output "$logs/jacobi-$count.npy" --json
    done
    echo "jacobi: $(sha256sum "$logs"/jacobi-*.npy | cut -c1-16 | sort | uniq -c | tr '\n' ' ')"
    tandem demo-cuda demo --backend cuda --folder "$logs/demo"
    ;;
  webgpu)
    tandem demo-webgpu demo --backend webgpu --folder "$logs/demo-webgpu"
    run conformance-webgpu 200 bash .gpu-bundle/run vitest run --root packages/backend-webgpu src/conformance.test.ts
    ;;
  soak) run soak 400 bash .gpu-bundle/run tools/gpu-host/soak.ts "${SOAK_SECONDS:-300}" 2 ;;
  *)
    echo "no step $step"
    exit 2
    ;;
  esac
done
echo "$failed failed"
[ $failed -eq 0 ]
