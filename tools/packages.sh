#!/bin/sh
# Installs Debian packages where this is Debian and we are root; else says what to install.
set -eu

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "needs $*: install it, or run as root on Debian" >&2
    exit 1
fi
echo "packages: apt-get install $*"
# a fresh machine may be busy with its own updates, and a mirror may fail once
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 "$@"; }
apt update
apt install -y --no-install-recommends "$@" >/dev/null
