#!/bin/sh
# Before a package is removed, and not before an upgrade ("upgrade" of dpkg, 1 of rpm), services stop. The user, the settings
# and /var/lib/earshot stay: what the bot has heard is nobody's to delete by accident.
set -e
case "$1" in
  remove | 0) [ ! -d /run/systemd/system ] || systemctl stop 'earshot@*.service' ;;
esac
