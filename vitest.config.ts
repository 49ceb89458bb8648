import { defineConfig } from 'vitest/config'

const shared = { environment: 'node', testTimeout: 60_000, hookTimeout: 60_000 } as const

/** Signals that follow each other within a millisecond: nobody else shall keep the machine busy. */
const ALONE = 'test/real/{signals,foreground,keeper}.test.ts'

/** A SIGKILL at every durable step, a daemon through its lives and beside everything, what is told when nobody answers for long: minutes, so they have a command of their own. */
const SLOW = 'test/real/{*crash,beside-daemon,daemon-life,service,tmux-send,tmux-trouble,waiting}.test.ts'

/** fast: pure rooms and edges · real: real processes, two files at a time (they wait more than they compute) · alone: one at a time · slow: killed at each step, and other lives of a daemon · harness: real agent CLIs · long: swarms and races. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          sequence: { groupOrder: 0 },
          include: ['test/{rooms,model,decide,show,observe,record,keep,harness,act,mcp,http,daemon,docs,cli}/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['test/real/**/*.test.ts'],
          exclude: [ALONE, SLOW],
          globalSetup: ['test/real/setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: [ALONE],
          globalSetup: ['test/real/setup.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'slow',
          include: [SLOW],
          globalSetup: ['test/real/setup.ts'],
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...shared,
          name: 'harness',
          include: ['test/agents/**/*.test.ts'],
          globalSetup: ['test/agents/setup.ts'],
          fileParallelism: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          globalSetup: ['test/real/setup.ts'],
          fileParallelism: false,
          testTimeout: 1_800_000,
        },
      },
    ],
  },
})
