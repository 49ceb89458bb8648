# wake.sh KEEPER-PID HARNESS-PID: a keeper that stopped with its agent is woken when the agent goes on or is gone.
trap '' TERM
while :; do
  hf_last=''
  while IFS= read -r hf_line; do hf_last=$hf_line; done </proc/self/stat
  hf_last=${hf_last##*) }
  hf_last=${hf_last#* }
  # Our parent is gone: nobody is left to be woken, and its pid may be another's.
  [ "${hf_last%% *}" = "$1" ] || exit 0
  hf_last=''
  { while IFS= read -r hf_line; do hf_last=$hf_line; done <"/proc/$2/stat"; } 2>/dev/null
  case ${hf_last##*) } in
  T*) sleep 0.3 ;;
  *) break ;;
  esac
done
kill -CONT "$1"
