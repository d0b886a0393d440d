#!/usr/bin/env bash
# What packaging/clean.sh runs in a Debian, in /work beside the wheels and system.ssp: clean_inside.sh [EXTRA ..]
set -euo pipefail
cd /work
softdock=/work/v/bin/softdock python=/work/v/bin/python

# A command that must fail with a sentence, and without a traceback.
refused() { # sentence, command ..
  local said code=0 expected=$1; shift
  said=$("$@" 2>&1) || code=$?
  said=$(tr -s ' \n' ' ' <<<"$said")
  if [ "$code" = 0 ] || [[ $said == *Traceback* ]] || [[ $said != *"$expected"* ]]; then
    echo "expected '$expected' of: $*; exit code $code, found: $said" >&2; exit 1
  fi
  echo "refused: $expected"
}

# What an extra is for, in one command.
first() { # extra
  case $1 in
    parquet) $softdock convert out/*.npz one.parquet && test -s one.parquet ;;
    pictures) $softdock graph system.ssp --output graphs && ls graphs/*.svg ;;
    mcap) $softdock convert out/*.npz one.mcap && test -s one.mcap ;;
    xarray) $python -c 'import glob; from orchestrator import read_result; print(len(read_result(glob.glob("out/*.npz")[0]).to_xarray()))' ;;
    rig) $python -c 'import can, canopen' && $softdock devices --help ;;
    compiled) $python -c 'from orchestrator import compiled; print(compiled(lambda x: 2.0 * x)(1.5))' ;;
    cluster) refused "no Dask scheduler answers" $softdock sweep sweep.toml --scheduler tcp://127.0.0.1:1 ;;
    fmu) refused "no C compiler" $softdock export block hertz_contact --python --output block.fmu ;;
    cross) $softdock build x/fmus/Chaser.toml --platform win64 ;;  # with modelica
    modelica) refused "no C compiler" $softdock build x/fmus/Chaser.toml ;;
    *) $softdock --version ;;
  esac
}

cat >sweep.toml <<'END'
title = "Stiffness"
[case.system]
system = "system.ssp"
step = "1 ms"
stop = "1 s"
[case.system.measure]
last = { kind = "peak", signal = "chaser.position" }
[sweep.one]
cases = ["system"]
measures = ["last"]
[sweep.one.over.k]
label = "Stiffness"
unit = "N/m"
set = ["contact.k"]
values = [1000.0, 2000.0]
END

! command -v gcc cc g++ c++ >/dev/null
python3 -V
begin=$(date +%s)
seconds() { echo "$(($(date +%s) - begin)) s, of which $(awk '{ print int(($16 + $17) / 100) }' /proc/$$/stat) s of a processor"; }
python3 -m venv v
v/bin/pip install --quiet --no-index --find-links /work --no-deps softdock
v/bin/pip install --quiet softdock
echo "$(v/bin/pip list --format freeze | wc -l) packages, $(du -sm v/lib/python3*/site-packages | cut -f1) MB"
$softdock run system.ssp --output out >/dev/null
test -s out/report.html
echo "from pip to a plot: $(seconds)"
$softdock examples copy all x >/dev/null
$softdock examples copy epos >/dev/null
$softdock run epos --case ideal --output epos-out >/dev/null
test -s epos-out/report.html

# Who may not write where it is installed, and has no home.
mkdir -m 777 theirs
for home in HOME=/nowhere -uHOME; do
  setpriv --reuid=65534 --regid=65534 --clear-groups env "$home" $softdock run system.ssp --output theirs/out >/dev/null
  test -s theirs/out/report.html; rm -r theirs/out
done
echo "runs without a home, read-only"

# Another Python, another machine, an old pip.
case $(python3 -c 'import sys; print(sys.version_info.minor)') in
  11) other=cp312-abi3 oldest='pip<21' ;;
  *) other=cp311-cp311 oldest='pip<24' ;;  # older ones do not run on it
esac
for wheel in softdock-*-$other-*x86_64.whl softdock-*aarch64.whl; do
  [ -e "$wheel" ] && refused "not a supported wheel on this platform" v/bin/pip install --no-deps "$wheel"
done
python3 -m venv old
old/bin/python -m pip install --quiet "$oldest"
old/bin/python -m pip install --quiet --no-index --find-links /work --no-deps softdock
echo "installed by pip $(old/bin/python -m pip --version | cut -d' ' -f2)"

# An extra that is not there, and one that is there in part.
refused "pip install 'softdock[mcap]'" $softdock convert out/*.npz one.mcap
for extra in "$@"; do
  v/bin/pip install --quiet "softdock[$extra]"
  first "$extra" >said 2>&1 || { cat said >&2; echo "softdock[$extra]: failed" >&2; exit 1; }
  $softdock check system.ssp >/dev/null
  echo "softdock[$extra]: works; $(v/bin/pip list --format freeze | wc -l) packages, $(du -sm v/lib/python3*/site-packages | cut -f1) MB"
done
if [[ " $* " == *" pictures "* ]]; then
  v/bin/pip uninstall --quiet --yes kiwisolver
  refused "pip install" $softdock graph system.ssp --output half
  v/bin/pip install --quiet kiwisolver
fi
echo "in all: $(seconds)"
