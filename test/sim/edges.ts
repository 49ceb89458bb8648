import type { Connections, Keepers, Notifiers, Panes } from '../../src/model/index.ts'

// Ports of a world in which nothing is there, complete: a method that is added to a port must be added here.

export const noConnections: Connections = {
  holders: () => ({ pids: [], hasStill: () => false }),
  livesIn: () => true,
  umask: () => null,
  hasOpen: () => false,
  lockHolder: () => null,
}

/** A machine that can start nothing. */
export const noKeepers: Keepers = {
  markerTrouble: () => null,
  scopeTrouble: () => 'simulated',
  spawn: async () => {
    throw new Error('nothing can be spawned here')
  },
  mark: () => true,
  handOver: () => {},
  ask: async () => {},
  outside: async () => 0,
  apart: () => ({ pid: null, code: () => null, trouble: () => 'simulated' }),
}

/** A tmux server that hosts nothing. */
export const noPanes: Panes = {
  socket: () => '/nowhere/sock',
  trouble: () => null,
  leftover: async () => null,
  removeLeftover: async () => null,
  version: async () => 'tmux 3.4',
  namespaces: async () => null,
  isSwept: () => false,
  restore: async () => false,
  spawn: async () => {
    throw new Error('nothing can be hosted here')
  },
  look: async () => null,
  isOpen: async () => false,
  capture: async () => null,
  paste: async () => false,
  press: async () => false,
  leaveMode: async () => false,
  close: async () => true,
  join: () => {},
  switch: async () => false,
  alone: async (_key, _ms, body) => body(),
}

export const noNotifiers: Notifiers = {
  desktopTrouble: () => 'simulated',
  desktop: async () => {},
  bell: () => {},
  command: async () => {},
}
