import { verifies } from '../requirements.ts'
import { inHostileLab, type Mutation } from './hostile-lab.ts'

/** What an agent of the same user does to its own run. Each row was tried; docs/security.md says what came of it. */
const FILES: readonly Mutation[] = [
  { name: 'pid names a younger stranger', script: 'echo "$YOUNG" >"$RUN/pid"' },
  { name: 'pid names an older stranger', script: 'echo "$OLD" >"$RUN/pid"' },
  { name: 'pid names a stranger, and the keeper is killed', script: 'echo "$YOUNG" >"$RUN/pid"; kill -KILL $KEEPER' },
  { name: 'pid names the agent of another session', script: 'cat "$B_RUN/pid" >"$RUN/pid"' },
  { name: 'pid names init; exit, nostart, done are forged', script: 'echo "1 1" >"$RUN/pid"; echo 127 >"$RUN/nostart"; : >"$RUN/done"' },
  { name: 'pid is garbage; the agent took its marker off', script: 'echo x >"$RUN/pid"; prlimit --pid $$ --rttime=unlimited' },
  {
    name: 'pid is gone; the agent wears the marker of helpers and is deaf',
    script: 'trap "" TERM HUP INT; rm "$RUN/pid"; prlimit --pid $$ --rttime=$(rttime $KEEPER):',
  },
  { name: 'members names an older stranger', script: 'echo "$OLD - x" >"$RUN/members"' },
  { name: 'members names a younger stranger', script: 'echo "$YOUNG - x" >"$RUN/members"', costs: 'YOUNG' },
  { name: 'timer and server name a stranger', script: 'echo "$YOUNG" >"$RUN/timer"; echo "$YOUNG" >"$RUN/server"' },
  { name: 'cgroup is the one of another session', script: 'echo "$B_CG" >"$RUN/cgroup"' },
  { name: 'cgroup is /', script: 'echo / >"$RUN/cgroup"' },
  { name: 'exit says 0', script: `printf '1   0 -   \\n' 1<>"$RUN/exit"` },
  { name: 'retired says completed', script: `echo '{"end":"completed","by":"me","reason":"done"}' >"$RUN/retired"` },
  { name: 'keeper names a stranger', script: 'echo "$YOUNG" >"$RUN/keeper"' },
  { name: 'run.json is the one of another session', script: 'cat "$B_RUN/run.json" >"$RUN/run.json"' },
  {
    name: 'run.json has another epoch, marker and session',
    script: `sed -i "s/\\"epoch\\":[0-9]*/\\"epoch\\":99/;s/\\"marker\\":[0-9]*/\\"marker\\":$B_MARKER/;s/\\"session\\":\\"a\\"/\\"session\\":\\"b\\"/" "$RUN/run.json"`,
  },
  { name: 'every file is deleted', script: 'find "$RUN" -mindepth 1 -delete' },
  { name: 'the run directory is deleted', script: 'rm -rf "$RUN"' },
  { name: 'the run directory is closed', script: 'chmod 000 "$RUN"' },
  { name: 'the run directory is a link to another one', script: 'mv "$RUN" "$FA_DIR/moved"; ln -s "$B_RUN" "$RUN"' },
]

const PROCESSES: readonly Mutation[] = [
  { name: 'the keeper is killed', script: 'kill -KILL $KEEPER' },
  { name: 'the keeper is killed, and the agent exits', script: 'kill -KILL $KEEPER; exit 3', ends: true },
  { name: 'the keeper is stopped', script: 'kill -STOP $KEEPER' },
  { name: 'the keeper may not write', script: 'prlimit --pid $KEEPER --fsize=0' },
  { name: 'the keeper may not fork or open', script: 'prlimit --pid $KEEPER --nproc=1 --nofile=3' },
  { name: 'the keeper loses its marker', script: 'prlimit --pid $KEEPER --rttime=unlimited' },
  { name: 'the keeper wears the marker of its run', script: 'prlimit --pid $KEEPER --rttime=$MARKER:' },
  { name: 'the agent wears the marker of another session', script: 'prlimit --pid $$ --rttime=$B_MARKER:' },
  { name: 'three hundred processes', script: 'i=0; while [ $i -lt 300 ]; do sleep 1003 & i=$((i+1)); done' },
  { name: 'an orphan without its secret', script: '(unset HOLDFAST_LINEAGE HOLDFAST_RUN; setsid sleep 1003 &)' },
  {
    name: 'a child is traced and stopped',
    script: 'strace -o /dev/null -p $CHILD & until grep -q "TracerPid:.[1-9]" /proc/$CHILD/status; do sleep 0.02; done; kill -STOP $CHILD',
  },
  {
    name: 'the keeper is traced and stopped',
    script:
      '(setsid strace -o /dev/null -p $KEEPER &); until grep -q "TracerPid:.[1-9]" /proc/$KEEPER/status; do sleep 0.02; done; kill -STOP $KEEPER',
  },
  { name: 'the agent stops itself', script: 'echo done >"$FA_DIR/done"; kill -STOP $$' },
  { name: 'a user namespace', script: '(setsid unshare -Ur sleep 1003 &)' },
  { name: 'a pid namespace', script: '(setsid unshare -Urpf sleep 1003 &)' },
  {
    name: 'a mount namespace without /proc and cgroups',
    script: '(setsid unshare -Urm sh -c "mount -t tmpfs none /proc; mount -t tmpfs none /sys/fs/cgroup; exec sleep 1003" &)',
  },
]

const CGROUPS: readonly Mutation[] = [
  { name: 'the agent goes to the cgroup around', script: 'echo $$ >"$BASE/cgroup.procs"' },
  { name: 'an orphan goes to the cgroup around', script: 'echo $ORPHAN >"$BASE/cgroup.procs"' },
  { name: 'the agent goes to the cgroup of another session', script: 'echo $$ >"$B_CG/cgroup.procs"' },
  { name: 'a child goes to the cgroup of another session', script: 'echo $CHILD >"$B_CG/cgroup.procs"' },
  { name: 'an orphan goes to the cgroup of another session', script: 'echo $ORPHAN >"$B_CG/cgroup.procs"', named: 'ORPHAN' },
  { name: 'the keeper comes into the cgroup', script: 'echo $KEEPER >"$CG/cgroup.procs"' },
  { name: 'an older stranger comes into the cgroup', script: 'echo $OLD_PID >"$CG/cgroup.procs"' },
  { name: 'a younger stranger comes into the cgroup', script: 'echo $YOUNG_PID >"$CG/cgroup.procs"', costs: 'YOUNG' },
  { name: 'another agent comes into the cgroup', script: 'echo $B_PID >"$CG/cgroup.procs"' },
  {
    name: 'the cgroup is frozen',
    script: 'echo done >"$FA_DIR/done"; echo 1 >"$CG/cgroup.freeze"',
  },
  { name: 'the cgroup of another session is frozen', script: 'echo 1 >"$B_CG/cgroup.freeze"' },
  {
    name: 'a frozen cgroup inside',
    script: 'mkdir -p "$CG/in/holdfast-in"; echo $CHILD >"$CG/in/holdfast-in/cgroup.procs"; echo 1 >"$CG/in/cgroup.freeze"',
  },
  { name: 'the cgroup is removed', script: 'while read -r one; do echo $one >"$BASE/cgroup.procs"; done <"$CG/cgroup.procs"; rmdir "$CG"' },
  { name: 'the cgroup is threaded', script: 'echo threaded >"$CG/cgroup.type"' },
  { name: 'a threaded cgroup inside', script: 'mkdir "$CG/in"; echo threaded >"$CG/in/cgroup.type"; echo $CHILD >"$CG/in/cgroup.threads"' },
  {
    name: 'the cgroup on record has its name, and lies in that of another session',
    script: 'IN="$B_CG/$(basename "$CG")"; mkdir "$IN"; echo $ORPHAN >"$IN/cgroup.procs"; echo "$IN" >"$RUN/cgroup"',
  },
]

/** A cgroup sees these; without one, only what was left on a process can speak for it. */
const ESCAPES: readonly Mutation[] = [
  {
    name: 'an orphan with the secret of nobody',
    script: '(HOLDFAST_LINEAGE=x setsid sh -c "$stay" EXTRA &); while [ ! -s "$FA_DIR/EXTRA.pid" ]; do sleep 0.01; done',
  },
  {
    name: 'an orphan without secret, marker and session',
    script:
      '(unset HOLDFAST_LINEAGE; setsid prlimit --rttime=unlimited: sh -c "$stay" EXTRA &); while [ ! -s "$FA_DIR/EXTRA.pid" ]; do sleep 0.01; done',
    costs: 'EXTRA',
  },
]
const contained = ({ name, script }: Mutation): Mutation => ({ name, script })

/** Several labs at a time: they wait more than they compute. */
const tried = (what: string, isContained: boolean, mutations: readonly Mutation[]): void =>
  verifies(
    'stop-proof',
    `a hostile agent is seen, ended or named, and costs nobody else: ${what}, ${isContained ? 'in a cgroup' : 'without a cgroup'}`,
    async () => {
      const labs = [0, 1, 2].map((lab) => mutations.filter((_, index) => index % 3 === lab))
      // Each is cleaned up before the first failure is told.
      const ends = await Promise.allSettled(labs.map((rows) => inHostileLab(isContained, rows)))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },
    120_000,
  )

tried('its files', true, FILES)
// What a cgroup has no part in, one of them is enough for.
tried(
  'its files',
  false,
  FILES.filter(({ name }) => /^(pid|members|exit|every|the run)/.test(name)),
)
tried('its processes', true, [...PROCESSES, ...ESCAPES.map(contained)])
tried('its processes', false, [...PROCESSES, ...ESCAPES])
tried('its cgroup', true, CGROUPS)
