import { test } from 'vitest'
import { inHostileLab, type Mutation, suffer } from './hostile-lab.ts'
import { readOr } from './lab.ts'

const M: Mutation[] = [
  { name: 'nothing', script: ':' },
  { name: 'pid young', script: 'echo "$YOUNG" >"$RUN/pid"' },
  { name: 'pid old', script: 'echo "$OLD" >"$RUN/pid"' },
  { name: 'pid young KILL', script: 'echo "$YOUNG" >"$RUN/pid"; kill -KILL $KEEPER' },
  { name: 'pid old KILL', script: 'echo "$OLD" >"$RUN/pid"; kill -KILL $KEEPER' },
  { name: 'members old', script: 'echo "$OLD" >"$RUN/members"' },
  { name: 'pid 1', script: 'echo "1 1" >"$RUN/pid"' },
  { name: 'pid garbage', script: 'echo "xyz" >"$RUN/pid"' },
  { name: 'pid rm', script: 'rm "$RUN/pid"' },
  { name: 'pid b', script: 'cat "$B_RUN/pid" >"$RUN/pid"' },
  { name: 'members young', script: 'echo "$YOUNG" >>"$RUN/members"; cat "$RUN/members" >"$FA_DIR/m"' },
  { name: 'cgroup b', script: 'echo "$B_CG" >"$RUN/cgroup"' },
  { name: 'cgroup base', script: 'echo "$BASE" >"$RUN/cgroup"' },
  { name: 'cgroup /', script: 'echo / >"$RUN/cgroup"' },
  { name: 'cgroup like own elsewhere', script: 'mkdir -p "$FA_DIR/${CG##*/}"; : >"$FA_DIR/${CG##*/}/cgroup.procs"; echo "$FA_DIR/${CG##*/}" >"$RUN/cgroup"' },
  { name: 'cgroup own name below b', script: 'mkdir "$B_CG/${CG##*/}"; echo "$B_CG/${CG##*/}" >"$RUN/cgroup"; (sleep 999 & echo $! >"$B_CG/${CG##*/}/cgroup.procs")' },
  { name: 'cgroup rm', script: 'rm -f "$RUN/cgroup"' },
  { name: 'exit 0', script: 'printf "1   0 -   \\n" 1<>"$RUN/exit"' },
  { name: 'exit TERM', script: 'printf "1 143 TERM\\n" 1<>"$RUN/exit"' },
  { name: 'exit rm', script: 'rm "$RUN/exit"' },
  { name: 'retired empty', script: ': >"$RUN/retired"' },
  { name: 'retired words', script: 'echo "{\\"end\\":\\"completed\\",\\"by\\":\\"me\\",\\"reason\\":\\"done well\\"}" >"$RUN/retired"' },
  { name: 'tombstone rm', script: 'rm "$RUN/tombstone"' },
  { name: 'keeper stranger', script: 'echo "$YOUNG" >"$RUN/keeper"' },
  { name: 'keeper rm', script: 'rm "$RUN/keeper"' },
  { name: 'run.json of b', script: 'cat "$B_RUN/run.json" >"$RUN/run.json"' },
  { name: 'run.json other', script: 'sed -e "s/\\"epoch\\":[0-9]*/\\"epoch\\":1000/;s/\\"marker\\":[0-9]*/\\"marker\\":$B_MARKER/;s/\\"session\\":\\"a\\"/\\"session\\":\\"b\\"/" "$RUN/run.json" >"$FA_DIR/x"; cat "$FA_DIR/x" >"$RUN/run.json"' },
  { name: 'run.json rm', script: 'rm "$RUN/run.json"' },
  { name: 'nostart', script: 'echo 127 >"$RUN/nostart"' },
  { name: 'done', script: ': >"$RUN/done"' },
  { name: 'timer stranger', script: 'echo "$YOUNG" >"$RUN/timer"' },
  { name: 'server stranger', script: 'echo "$YOUNG" >"$RUN/server"' },
  { name: 'rm -r run', script: 'rm -rf "$RUN"' },
  { name: 'chmod run', script: 'chmod 000 "$RUN"' },
  { name: 'symlink run', script: 'mv "$RUN" "$FA_DIR/moved"; ln -s "$B_RUN" "$RUN"' },
  { name: 'keeper KILL', script: 'kill -KILL $KEEPER' },
  { name: 'keeper STOP', script: 'kill -STOP $KEEPER' },
  { name: 'keeper KILL exit', script: 'kill -KILL $KEEPER; exit 3', ends: true },
  { name: 'keeper fsize', script: 'prlimit --pid $KEEPER --fsize=0' },
  { name: 'keeper nproc', script: 'prlimit --pid $KEEPER --nproc=1' },
  { name: 'keeper nofile', script: 'prlimit --pid $KEEPER --nofile=3' },
  { name: 'keeper rttime unlimited', script: 'prlimit --pid $KEEPER --rttime=unlimited' },
  { name: 'keeper rttime own', script: 'prlimit --pid $KEEPER --rttime=$MARKER:' },
  { name: 'self rttime unlimited', script: 'prlimit --pid $$ --rttime=unlimited' },
  { name: 'self rttime b', script: 'prlimit --pid $$ --rttime=$B_MARKER:' },
]
const C: Mutation[] = [
  { name: 'self to base', script: 'echo $$ >"$BASE/cgroup.procs"' },
  { name: 'child to base', script: 'cat "$FA_DIR/child.pid" >"$BASE/cgroup.procs"' },
  { name: 'orphan to base', script: 'cat "$FA_DIR/orphan.pid" >"$BASE/cgroup.procs"' },
  { name: 'self to b', script: 'echo $$ >"$B_CG/cgroup.procs"' },
  { name: 'child to b', script: 'cat "$FA_DIR/child.pid" >"$B_CG/cgroup.procs"' },
  { name: 'orphan to b', script: 'cat "$FA_DIR/orphan.pid" >"$B_CG/cgroup.procs"' },
  { name: 'keeper to own', script: 'echo $KEEPER >"$CG/cgroup.procs"' },
  { name: 'stranger to own', script: 'echo ${YOUNG%% *} >"$CG/cgroup.procs"' },
  { name: 'b to own', script: 'echo $B_PID >"$CG/cgroup.procs"' },
  { name: 'freeze', script: '(setsid sh -c "sleep 0.1; echo 1 >$CG/cgroup.freeze; exec sleep 999" &)' },
  { name: 'freeze b', script: 'echo 1 >"$B_CG/cgroup.freeze"' },
  { name: 'nested', script: 'mkdir -p "$CG/in/holdfast-deep"; cat "$FA_DIR/child.pid" >"$CG/in/holdfast-deep/cgroup.procs"' },
  { name: 'nested frozen', script: 'mkdir -p "$CG/in"; cat "$FA_DIR/child.pid" >"$CG/in/cgroup.procs"; echo 1 >"$CG/in/cgroup.freeze"' },
  { name: 'remove own', script: 'for p in $(cat "$CG/cgroup.procs"); do echo $p >"$BASE/cgroup.procs"; done; rmdir "$CG"' },
  { name: 'max pids', script: 'echo 1 >"$CG/cgroup.max.descendants"; chmod 000 "$CG"' },
  { name: 'threaded', script: 'mkdir "$CG/t"; echo threaded >"$CG/t/cgroup.type"; cat "$CG/t/cgroup.type" >"$FA_DIR/type"' },
]
const X: Mutation[] = [
  { name: 'fill', script: 'i=0; while [ $i -lt 300 ]; do sleep 998 & i=$((i+1)); done' },
  { name: 'env', script: '(unset HOLDFAST_LINEAGE HOLDFAST_RUN; setsid sleep 997 &) ; (HOLDFAST_LINEAGE=x HOLDFAST_RUN=$B_RUN setsid sleep 996 &)' },
  { name: 'env all', script: '(setsid env -i HF_MUTATION=$HF_MUTATION PATH="$PATH" prlimit --rttime=unlimited: sleep 997 &)' },
  { name: 'strace child stopped', script: 'strace -o /dev/null -p $(cat "$FA_DIR/child.pid") & sleep 0.3; kill -STOP $(cat "$FA_DIR/child.pid")' },
  { name: 'gdb child', script: '(sleep 1000 | gdb -q -p $(cat "$FA_DIR/child.pid") >/dev/null 2>&1) & until grep -q "State:.*t" /proc/$(cat "$FA_DIR/child.pid")/status; do sleep 0.05; done' },
  { name: 'gdb keeper', script: '(setsid sh -c "sleep 1000 | gdb -q -p $KEEPER" >/dev/null 2>&1 & ) ; i=0; until grep -q "State:.*t" /proc/$KEEPER/status || [ $i = 100 ]; do sleep 0.05; i=$((i+1)); done' },
  { name: 'userns', script: 'unshare -Ur sleep 995 &' },
  { name: 'userns setsid orphan', script: '(setsid unshare -Ur sleep 995 &)' },
  { name: 'pidns', script: 'unshare -Urpf sleep 994 &' },
  { name: 'pidns orphan', script: '(setsid unshare -Urpf sleep 994 &)' },
  { name: 'mntns', script: 'unshare -m sh -c "mount -t tmpfs none /proc; mount -t tmpfs none /sys/fs/cgroup/unified; exec sleep 993" &' },
  { name: 'STOP self', script: 'echo done >"$FA_DIR/done"; kill -STOP $$' },
]
const only = process.env['ONLY']
for (const [name, list, contained] of [['M', M, true], ['M', M, false], ['C', C, true], ['X', X, true], ['X', X, false]] as const)
  test(`${name} ${contained}`, () =>
    inHostileLab(contained, async (lab) => {
      for (const m of list) {
        if (only !== undefined && !m.name.includes(only)) continue
        try {
          const o = await suffer(lab, m)
          const bad = o.stop.code !== 0 || o.left.length > 0 || o.dead !== '' || o.ls.code !== 0 || o.status.code !== 0
          console.log(`${bad ? '!!' : 'ok'} ${contained ? 'cg' : 'no'} ${m.name}: ls ${o.ls.code} status ${o.status.code} stop ${o.stop.code} dead ${o.dead} left [${o.left.map((p) => `${p}:${readOr(`/proc/${p}/cmdline`).replaceAll('\0', ' ')}`)}] ${o.ms.join(' ')}\n   ${(o.stop.stdout + o.stop.stderr).trim().replaceAll('\n', '\n   ')}${bad ? `\n   LS ${o.ls.stderr} ${o.ls.stdout}\n ST ${o.status.stderr}${o.status.stdout}` : ''}`)
          for (const p of o.left) try { process.kill(p, 'SIGKILL') } catch {}
        } catch (error) {
          console.log(`!! ${contained} ${m.name}: ${String(error).slice(0, 900)}`)
          const s = await lab.hf(['stop', 'a', '--grace', '1s'])
          console.log('   then', s.code, s.stdout, s.stderr)
        }
      }
    }), 400_000)
