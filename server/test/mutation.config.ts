// The tests that mutants have to get past: those of the rooms that are mutated, and only quick ones.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "server/src/outbound/{ip-ranges,url-policy,pinned-connector,url-fetcher,url-fetcher-failures,response-body,dns-resolver}.test.ts",
      "server/src/storage/asset-urls.test.ts",
      "server/src/images/{image-decoder,image-decoder-normalize,image-structure,jpeg-structure,png-structure,webp-structure}.test.ts",
    ],
    pool: "forks",
    testTimeout: 20_000,
  },
});
