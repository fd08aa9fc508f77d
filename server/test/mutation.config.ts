// The tests that mutants have to get past: those of the rooms that are mutated, and only quick ones.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "server/src/media/{addresses,url-policy,guarded-connector,fetch,fetch-failures,read-body,sign,resolve}.test.ts",
      "server/src/media/{inspect,inspect-upload,image-layout,layout-jpeg,layout-png,layout-webp}.test.ts",
    ],
    pool: "forks",
    testTimeout: 20_000,
  },
});
