#!/bin/bash
# Runs a script with the Node and the modules of this bundle, from the root of a copy of the working tree:
#   bash .gpu-bundle/run SCRIPT [ARGUMENTS]       SCRIPT is a .js, .mjs or .ts file, `vitest`, or `tandem` (the command line)
# Unpacks once (again when an archive changes); leaves a real node_modules alone. With GPU_BUNDLE_UNPACKED=1 nothing is put in place:
# for jobs side by side, after a first call.
set -euo pipefail
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bundle")
unpacked=${TMPDIR:-/tmp}/tandem-gpu-bundle
mkdir -p "$unpacked"

decompress() {
  if command -v xz >/dev/null; then xz -dc -T0 "$1"; else python3 -c 'import lzma,shutil,sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer, 1 << 20)' "$1"; fi
}
# unpack ARCHIVE COMMAND...: runs the command on the decompressed archive unless that was done before
unpack() {
  local archive=$1 stamp="$unpacked/$(basename "$1").key" key
  shift
  key="$(cat "$archive.key") $root"
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && [ "${always:-}" != 1 ] && return
  decompress "$archive" | "$@"
  printf %s "$key" >"$stamp"
}
to_node() { cat >"$unpacked/node.new" && chmod +x "$unpacked/node.new" && mv "$unpacked/node.new" "$unpacked/node"; }

if [ "${GPU_BUNDLE_UNPACKED:-}" != 1 ]; then
  unpack "$bundle/node.xz" to_node &
  if [ ! -e "$root/node_modules" ] || [ -e "$root/node_modules/.from-gpu-bundle" ]; then
    mkdir -p "$root/node_modules/@tandem-gpu"
    touch "$root/node_modules/.from-gpu-bundle"
    unpack "$bundle/modules.tar.xz" tar -C "$root" -xf - &
    if [ -f "$bundle/webgpu.tar.xz" ]; then unpack "$bundle/webgpu.tar.xz" tar -C "$root" -xf - & fi
    for folder in "$root"/packages/*/; do ln -sfn "$folder" "$root/node_modules/@tandem-gpu/$(basename "$folder")"; done
    # Builds travel with every call, since git ignores them: they are always put in place.
    always=1 unpack "$bundle/built.tar.xz" tar -C "$root" -xf - &
  fi
fi
wait
export PATH="$unpacked:$PATH"
script=${1:?usage: bash .gpu-bundle/run SCRIPT [ARGUMENTS]}
shift
case "$script" in
vitest) exec node "$root/node_modules/vitest/vitest.mjs" "$@" ;;
tandem) exec node "$root/packages/cli/dist/bin.js" "$@" ;;
*) exec node "$script" "$@" ;;
esac
