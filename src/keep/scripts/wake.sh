# wake.sh KEEPER-PID HARNESS-PID: a keeper that stops with its agent is woken when the agent goes on or is gone.
trap '' TERM
hf_stat() {
  hf_last=''
  while IFS= read -r hf_line; do hf_last=$hf_line; done <"/proc/$1/stat"
  hf_last=${hf_last##*) }
} 2>/dev/null

while :; do
  # Our parent is gone: nobody is left to be woken, and its pid may be another's.
  hf_stat self
  hf_parent=${hf_last#* }
  [ "${hf_parent%% *}" = "$1" ] || exit 0
  hf_stat "$2"
  case $hf_last in
  T*) ;;
  *)
    # Not before it has stopped, or nobody would wake it.
    hf_stat "$1"
    case $hf_last in T*) kill -CONT "$1"; exit 0 ;; esac
    hf_early=${hf_early-}x
    [ "$hf_early" != xxxxxxxxxx ] || exit 0
    ;;
  esac
  sleep 0.3
done
