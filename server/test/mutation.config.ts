// The tests that must notice mutants: those of the mutated modules, without the ones that start a whole service. Some
// use the PostgreSQL that mutation.ts starts.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "server/src/outbound/{ip-ranges,url-policy,pinned-connector,url-fetcher,url-fetcher-failures,response-body,dns-resolver}.test.ts",
      "server/src/files/storage/asset-urls.test.ts",
      "server/src/files/images/{image-decoder,image-decoder-normalize}.test.ts",
      "server/src/files/formats/{image-structure,jpeg,png,webp}.test.ts",
      "server/src/access/*.test.ts",
      "server/test/access/token-corpus.test.ts",
      "server/src/idempotency/*.test.ts",
      "server/src/webhooks/{message-signature,secret-cipher}.test.ts",
      "server/src/http/provider-callbacks.test.ts",
      "server/src/runs/{offers/cost,offers/billable-quantity,outputs/finish}.test.ts",
    ],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
