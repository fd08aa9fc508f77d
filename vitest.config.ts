// All tests of all packages. Only a few files run at a time, because the programs that tests start need the rest of the
// machine. No test has a limit of its own: each file has one in CPU time, so a busy machine fails no test.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const UNIT_TESTS = "{server,console}/src/**/*.test.ts";
const CONSOLE_TESTS = "console/test/**/*.test.ts";
/** Only a test that hangs takes this long, on the busiest machine. A planted fault that lets one hang is seen sooner. */
const HANGING_MS = Number(process.env.HANGING_TEST_MS ?? 900_000);
const options = {
  pool: "forks",
  testTimeout: HANGING_MS,
  hookTimeout: HANGING_MS,
  expect: { poll: { timeout: HANGING_MS / 3, interval: 50 } },
  setupFiles: "./server/test/support/file-cost.ts",
} as const;
const CONSOLE_SETUP = ["build-console", "shared-browser"];

// Tests start the server, the sandbox and the command line tool hundreds of times. Each start takes a second less if
// Node finds the compiled modules here.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/node-compile-cache");

export default defineConfig({
  test: {
    globalSetup: "./server/test/support/shared-services.ts",
    // Two more than two processors: most files wait most of the time, for leases, intervals and timeouts.
    maxWorkers: Math.max(4, Math.floor(availableParallelism() / 2)),
    teardownTimeout: 30_000,
    // A committed `it.only` would hide all other tests.
    allowOnly: false,
    projects: [
      {
        // The unit tests share their processes: loading the modules anew for each file takes longer than
        // most of the files.
        test: { ...options, name: "server", include: [UNIT_TESTS], isolate: false },
      },
      {
        // Each of the other files runs in its own process, because some start and kill other programs.
        test: {
          ...options,
          name: "system",
          include: ["{server,sandbox,dev,cli,docs,sdk,console,examples,python,scripts}/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/.gesso/**", UNIT_TESTS, CONSOLE_TESTS],
        },
      },
      // Tests of the console in Chromium, which need its build.
      {
        test: {
          ...options,
          name: "console",
          include: [CONSOLE_TESTS],
          globalSetup: CONSOLE_SETUP.map((name) => `./console/test/support/${name}.ts`),
        },
      },
    ],
  },
});
