// The tests that mutants have to get past: those of the rooms that are mutated, and only quick ones.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["server/src/media/{addresses,url-policy,guarded-connector,fetch,read-body,sign,resolve}.test.ts"],
    pool: "forks",
    testTimeout: 20_000,
  },
});
