# gate.sh PLAN: a detached keeper waits here until its launcher has put it on record. End of file means nothing ever runs.
hf_plan=$1
IFS= read -r hf_go <&3 || exit 0
exec 3<&-
[ "$hf_go" = go ] || exit 0
. "$hf_plan"
. "$hf_keep/keeper.sh"
