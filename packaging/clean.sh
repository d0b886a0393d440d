#!/usr/bin/env bash
# A wheel in clean Debians, as root: nothing but python3 and venv, no compiler. `make wheel-clean` after `make wheel`.
#   packaging/clean.sh DIST FILE.ssp [EXTRA ..]
# FILE.ssp brings its FMUs along. Each Debian is made once by debootstrap and kept in build/wheels.
set -euo pipefail
dist=$(realpath "$1") ssp=$(realpath "$2"); shift 2
cd "$(dirname "$0")/.."
for suite in ${SUITES:-bookworm trixie}; do
  root=$PWD/build/wheels/$suite
  [ -e "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root"
  rm -rf "$root/work"; mkdir "$root/work"
  cp "$dist"/*.whl "$ssp" "$root/work/"
  cp -L /etc/resolv.conf "$root/etc/"
  # Certificates and settings of pip are those of this machine.
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  trap 'umount "$root/proc"' EXIT
  chroot "$root" env -i PATH=/usr/bin:/bin PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash -euc '
    cd /work; extras=$1; ssp=$2
    ! command -v gcc cc g++ c++ >/dev/null
    python3 -V; begin=$(date +%s)
    python3 -m venv v
    v/bin/pip install --quiet --no-index --find-links /work --no-deps softdock
    v/bin/pip install --quiet softdock
    echo "$(v/bin/pip list --format freeze | wc -l) packages, $(du -sm v/lib/python3*/site-packages | cut -f1) MB"
    v/bin/softdock run "$ssp" --output out
    test -s out/report.html
    echo "from pip to a plot: $(($(date +%s) - begin)) s"
    HOME=/nowhere v/bin/softdock run "$ssp" --output out2 >/dev/null      # no home
    for extra in $extras; do
      v/bin/pip install --quiet "softdock[$extra]"
      v/bin/softdock check "$ssp" >/dev/null; echo "softdock[$extra]: installed"
    done
  ' bash "$*" "$(basename "$ssp")"
  umount "$root/proc"; trap - EXIT
done
