#!/usr/bin/env bash
# A wheel in clean Debians, as root: nothing but python3 and venv, no compiler. `make wheel-clean` after `make wheel`.
#   packaging/clean.sh DIST FILE.ssp [EXTRA ..]
# FILE.ssp brings its FMUs along. Each Debian is made once by debootstrap and kept in /var/tmp/softdock. In each an .ssp runs to a report
# with plots, each extra is installed and does its first work, and what must be refused is.
set -euo pipefail
dist=$(realpath "$1") ssp=$(realpath "$2"); shift 2
cd "$(dirname "$0")/.."
for suite in ${SUITES:-bookworm trixie}; do
  root=${ROOTS:-/var/tmp/softdock}/$suite; mkdir -p "$root"
  [ -e "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root"
  rm -rf "$root/work"; mkdir "$root/work"
  cp "$dist"/*.whl "$root/work/"
  cp "$ssp" "$root/work/system.ssp"
  cp packaging/clean_inside.sh "$root/work/"
  cp -L /etc/resolv.conf "$root/etc/"
  # Certificates and settings of pip are those of this machine.
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  trap 'umount "$root/proc"' EXIT
  echo "== Debian $suite"
  chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin HOME=/root PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore bash /work/clean_inside.sh "$@"
  umount "$root/proc"; trap - EXIT
done
