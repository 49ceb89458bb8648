import { defineConfig } from 'vitest/config'

/** A limit is for what hangs: a busy machine needs ten times as long as a quiet one. */
const shared = { environment: 'node', testTimeout: 240_000, hookTimeout: 240_000, setupFiles: ['test/seed.ts'] }

/**
 * The folder of a test decides its project.
 * - fast: pure rooms, edges, and use cases in a simulated world.
 * - real: real processes, two files at a time. They wait more than they compute.
 * - alone: signals that follow each other within a millisecond, so one file at a time.
 * - slow: a SIGKILL at every durable step, the lives of a daemon, hostile agents, replaced stores, terminals inside terminals, and runs that cannot be read.
 * - harness: real agent CLIs. long: swarms and races.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'fast',
          sequence: { groupOrder: 0 },
          include: ['test/{app,source,cli,lib,rooms,model,decide,show,observe,record,keep,harness,act,mcp,http,daemon,docs,pins}/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['test/real/**/*.test.ts'],
          globalSetup: ['test/real/setup.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: ['test/alone/**/*.test.ts'],
          globalSetup: ['test/real/setup.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'slow',
          // Hundreds of commands one after the other.
          testTimeout: 600_000,
          include: ['test/slow/**/*.test.ts'],
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
