import { describe, test } from 'vitest'
import type { DaemonHealth, DaemonStatus, ServiceStatus } from '../../src/model/index.ts'
import { daemonJson, healthJson, serviceJson } from '../../src/show/index.ts'
import { daemonRecord, NOW } from '../decide/build.ts'
import { pinned } from './matcher.ts'

const record = daemonRecord({ startedAt: NOW - 65_000, startedBy: 'service', http: 'http://127.0.0.1:4000' })
const health: DaemonHealth = {
  at: NOW - 1000,
  healthy: true,
  why: null,
  parts: [
    { name: 'reconcile', lastSuccess: NOW - 3000, failures: 0, lastError: null, nextTry: NOW + 2000, counts: { runs: 3 } },
    { name: 'http', lastSuccess: null, failures: 2, lastError: 'EADDRINUSE', nextTry: null, counts: {} },
  ],
}
const PARTS = [
  {
    name: 'reconcile',
    lastSuccess: '2026-01-02T11:59:57.000Z',
    failures: 0,
    lastError: null,
    nextTry: '2026-01-02T12:00:02.000Z',
    counts: { runs: 3 },
  },
  { name: 'http', lastSuccess: null, failures: 2, lastError: 'EADDRINUSE', nextTry: null, counts: {} },
]
const status = (over: Partial<DaemonStatus>): DaemonStatus => ({ presence: { kind: 'none' }, answer: null, health: null, repaired: [], ...over })

describe('daemon status --json pins', () => {
  test('a daemon that answers', () => {
    const presence = { kind: 'alive', process: { pid: 10, ticks: 100 }, frozen: false, record } as const
    pinned(daemonJson(status({ presence, answer: { kind: 'health', health }, health }), '1.0.1'), {
      pid: 10,
      healthy: true,
      http: 'http://127.0.0.1:4000',
      parts: PARTS,
      liveness: 'alive',
      frozen: false,
      answered: true,
      why: null,
      asOf: '2026-01-02T11:59:59.000Z',
      version: '1.0.0',
      protocol: 1,
      startedAt: '2026-01-02T11:58:55.000Z',
      startedBy: 'service',
      socket: '/h/daemon/sock',
      command: '1.0.1',
      repaired: [],
    })
  })
  test('a home without a daemon, after one that died', () => {
    pinned(daemonJson(status({ presence: { kind: 'dead', record, remains: ['sock'] }, repaired: ['removed its socket'] }), '1.0.0'), {
      pid: null,
      healthy: false,
      http: null,
      parts: [],
      liveness: 'dead',
      frozen: false,
      answered: false,
      why: 'no daemon runs',
      asOf: null,
      version: null,
      protocol: null,
      startedAt: null,
      startedBy: null,
      socket: null,
      command: '1.0.0',
      repaired: ['removed its socket'],
    })
  })
  test('a daemon that cannot be judged from here, and is silent', () => {
    const presence = { kind: 'unseen', record, why: 'another pid namespace' } as const
    pinned(daemonJson(status({ presence, answer: { kind: 'silent', why: 'no answer' }, health }), '1.0.0'), {
      pid: 10,
      healthy: false,
      http: 'http://127.0.0.1:4000',
      parts: PARTS,
      liveness: 'unknown',
      frozen: false,
      answered: false,
      why: '<text>',
      asOf: '2026-01-02T11:59:59.000Z',
      version: '1.0.0',
      protocol: 1,
      startedAt: '2026-01-02T11:58:55.000Z',
      startedBy: 'service',
      socket: '/h/daemon/sock',
      command: '1.0.0',
      repaired: [],
    })
  })
  test('a daemon that comes up, frozen', () => {
    const presence = { kind: 'alive', process: { pid: 10, ticks: 100 }, frozen: true, record: null } as const
    pinned(daemonJson(status({ presence }), '1.0.0'), {
      pid: 10,
      healthy: false,
      http: null,
      parts: [],
      liveness: 'alive',
      frozen: true,
      answered: false,
      why: '<text>',
      asOf: null,
      version: null,
      protocol: null,
      startedAt: null,
      startedBy: null,
      socket: null,
      command: '1.0.0',
      repaired: [],
    })
  })
})

test('the health that the daemon itself answers is pinned', () =>
  pinned(healthJson(health), { at: '2026-01-02T11:59:59.000Z', healthy: true, why: null, parts: PARTS }))

describe('service status --json pins', () => {
  const service: ServiceStatus = {
    name: 'holdfast.service',
    path: '/c/systemd/user/holdfast.service',
    file: 'ours',
    current: true,
    unit: { enabled: true, active: true, state: 'active, running', pid: 10, trouble: null },
    daemon: { process: { pid: 10, ticks: 100 }, startedBy: 'service' },
    unreachable: null,
    runs: 'service',
    disagreement: null,
  }
  test('a service that runs the daemon', () => {
    pinned(serviceJson(service), {
      manager: 'systemd',
      name: 'holdfast.service',
      path: '/c/systemd/user/holdfast.service',
      installed: true,
      file: 'ours',
      current: true,
      enabled: true,
      active: true,
      state: 'active, running',
      servicePid: 10,
      trouble: null,
      unreachable: null,
      runs: 'service',
      pid: 10,
      startedBy: 'service',
      disagreement: null,
    })
  })
  test('a system whose systemd cannot be asked', () => {
    pinned(
      serviceJson({
        ...service,
        file: 'absent',
        current: false,
        unit: null,
        daemon: 'EACCES',
        unreachable: 'no bus',
        runs: 'unknown',
        disagreement: 'd',
      }),
      {
        manager: 'systemd',
        name: 'holdfast.service',
        path: '/c/systemd/user/holdfast.service',
        installed: false,
        file: 'absent',
        current: false,
        enabled: null,
        active: null,
        state: null,
        servicePid: null,
        trouble: null,
        unreachable: 'no bus',
        runs: 'unknown',
        pid: null,
        startedBy: null,
        disagreement: 'd',
      },
    )
  })
})
