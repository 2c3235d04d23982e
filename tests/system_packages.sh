#!/bin/sh
# Installs the programs that tests need and pip does not bring, as root on Debian or Ubuntu, and
# says what it leaves alone. It never fails: a test whose program is not there is skipped.
export PATH="$PATH:/usr/sbin:/sbin"
absent() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || return 0
    done
    return 1
}

packages=
absent gcc g++ && packages="$packages gcc,g++,libc6-dev"
absent clang-19 && packages="$packages clang-19,libomp-19-dev"
absent gfortran mpifort && packages="$packages gfortran,libopenmpi-dev,openmpi-bin"
absent munged slurmctld slurmd sbatch && packages="$packages munge,slurmctld,slurmd,slurm-client"
absent chromium && absent google-chrome && packages="$packages chromium"
[ -z "$packages" ] && exit 0

by_hand="apt-get install --no-install-recommends$(echo "$packages" | tr ',' ' ')"
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
    echo "system: some tests will be skipped; as root: $by_hand"
    exit 0
fi
if [ -d /run/systemd/system ]; then # which would start the daemons as services
    echo "system: some tests will be skipped; nothing is installed where systemd runs: $by_hand"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
options="-qq -o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o DPkg::Lock::Timeout=120"
# shellcheck disable=SC2086 # options and packages are words
timeout 60 apt-get $options update >/dev/null 2>&1
for group in $packages; do
    names=$(echo "$group" | tr ',' ' ')
    # shellcheck disable=SC2086
    if timeout 240 apt-get $options -y --no-install-recommends install $names >/dev/null 2>&1; then
        echo "system: installed $names"
    else
        echo "system: cannot install $names; tests that need them are skipped"
    fi
done
exit 0
