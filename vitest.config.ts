// All tests of all packages. Each file runs in its own process, because some start and kill other programs; only a few
// files run at a time, because those programs need the rest of the machine.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{server,sandbox,dev,cli,docs,sdk,examples,scripts}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.gesso/**"],
    globalSetup: "./server/test/support/shared-postgres.ts",
    pool: "forks",
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    testTimeout: 45_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // A committed `it.only` would hide all other tests.
    allowOnly: false,
  },
});
