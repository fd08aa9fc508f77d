// The tests that mutants of the image gate have to get past.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["server/src/media/{image-layout,layout-jpeg,layout-png,layout-webp,inspect}.test.ts"], pool: "forks", testTimeout: 20_000 },
});
