# Sourced by proofs.sh and rank-proofs.sh, with the name of an archive: goes to the root of the repository, and brings the folder $logs to $OUT
# as that archive, renewed every 10 s, so that a call cut short leaves what it had. `keep` renews it at once. $bundle runs what tools/gpu-bundle packed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
archive=$1
out=${OUT:-gpu-host-logs}
logs=$(mktemp -d)
mkdir -p "$out"
bundle=.gpu-bundle/run
keep() { tar -C "$logs" -czf "$out/.$archive" . && mv "$out/.$archive" "$out/$archive"; }
(while sleep 10; do keep; done) &
keeper=$!
trap 'kill $keeper' EXIT
