#!/bin/bash
# manager.sh UID COMMAND [ARGUMENT…], as root: runs COMMAND as that user beside a real `systemd --user`, in namespaces of its own, from a login
# scope that is not the user's to write: the only way into a cgroup is to ask the manager. All of it ends with COMMAND.
set -u
self=$(readlink -f "$0") uid=$1
shift
top=user.slice/user-$uid.slice service=user.slice/user-$uid.slice/user@$uid.service login=user.slice/user-$uid.slice/session-1.scope

case ${HF_MANAGER_STAGE:-} in
'') exec env HF_MANAGER_STAGE=outer unshare -m --propagation private -- bash "$self" "$uid" "$@" ;;

outer) # Owns, and afterwards removes, one cgroup.
  mount -t cgroup2 none /sys/fs/cgroup || exit 125
  base=/sys/fs/cgroup/hf-manager-$$
  mkdir -p "$base/$service" "$base/$login" || exit 125
  for one in "$top" "$service"; do chown "$uid:$uid" "$base/$one" "$base/$one"/cgroup.{procs,threads,subtree_control}; done
  child=''
  clean() {
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null
    for _ in {1..50}; do
      find "$base" -depth -type d -exec rmdir {} + 2>/dev/null
      [ -d "$base" ] || return 0
      sleep .1
    done
    echo "manager.sh: $base is not empty" >&2
  }
  trap clean EXIT
  trap 'exit 143' TERM HUP INT
  (
    echo 0 >"$base/cgroup.procs" || exit 125
    exec setpriv --pdeathsig KILL env HF_MANAGER_STAGE=inner unshare -pfmC --mount-proc --kill-child --propagation private -- bash "$self" "$uid" "$@"
  ) &
  child=$!
  wait "$child"
  code=$? child=''
  exit "$code" ;;

inner) # The first process of a pid namespace: when it ends, all do.
  umount -l /sys/fs/cgroup
  mount -t cgroup2 none /sys/fs/cgroup || exit 125
  mount -t tmpfs -o mode=755 none /run/systemd && mkdir /run/systemd/system || exit 125
  mkdir -p /run/user
  mount -t tmpfs -o mode=755 none /run/user || exit 125
  mount --bind /dev/null /dev/console 2>/dev/null
  runtime=/run/user/$uid
  mkdir -m 700 "$runtime" "$runtime/home" && chown -R "$uid:$uid" "$runtime" || exit 125
  export XDG_RUNTIME_DIR=$runtime HOME=$runtime/home
  unset DBUS_SESSION_BUS_ADDRESS XDG_CONFIG_HOME XDG_DATA_HOME HF_MANAGER_STAGE NOTIFY_SOCKET
  as="setpriv --reuid $uid --regid $uid --clear-groups --"
  (
    echo 0 >/sys/fs/cgroup/$service/cgroup.procs
    cd /
    exec $as env SYSTEMD_LOG_TARGET=console /lib/systemd/systemd --user
  ) </dev/null >/dev/null 2>&1 &
  manager=$!
  echo $$ >/sys/fs/cgroup/$login/cgroup.procs || exit 125
  for _ in {1..200}; do
    [ -S "$runtime/systemd/private" ] && break
    kill -0 $manager 2>/dev/null || break
    sleep .05
  done
  state=$(timeout 20 $as systemctl --user is-system-running --wait 2>&1)
  case $state in running | degraded) ;; *) echo "manager.sh: the manager is not ready: $state" >&2; exit 125 ;; esac
  $as "$@" ;;
esac
