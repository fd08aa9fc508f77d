// All tests of all packages, on real parts. Each file has a process of its own, because some of them start programs and
// kill them; two at a time, because those programs need the rest of the machine.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{server,sandbox,dev,cli,docs,sdk,examples}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/.gesso/**"],
    globalSetup: "./server/test/support/shared-postgres.ts",
    pool: "forks",
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    testTimeout: 45_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // A test that is meant to run alone and got committed would hide all others.
    allowOnly: false,
  },
});
