#!/bin/sh
# After a package was installed or upgraded: the user and its folder exist, and what ran runs the new version. Nothing is
# enabled: it has no tokens yet.
set -e
getent group earshot >/dev/null || groupadd --system earshot
getent passwd earshot >/dev/null ||
  useradd --system --gid earshot --home-dir /var/lib/earshot --no-create-home --shell /usr/sbin/nologin earshot
install -d -o earshot -g earshot -m 0750 /var/lib/earshot
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart 'earshot@*.service'
fi
