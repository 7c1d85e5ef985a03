#!/bin/sh
# Installs Debian packages where this is Debian and we are root; else says what to install.
set -eu

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "needs $*: install it, or run as root on Debian" >&2
    exit 1
fi
echo "packages: apt-get install $*"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
