// Runs a real S3 server until this process is stopped, and prints its URL when it is ready. To share it between several
// test runs, pass the URL in TEST_S3_ENDPOINT.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@gesso/dev/components";
import { startS3Server } from "../server/test/support/s3-server.ts";

const folder = await mkdtemp(join(tmpdir(), "gesso-s3-"));
const server = await startS3Server(join(folder, "rgw"), await freePort());

const stop = async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
console.log(server.endpoint);
