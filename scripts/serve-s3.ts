// A real S3 server for as long as this process lives: whoever runs several suites starts it once and hands its address
// to all of them in TEST_S3_ENDPOINT. Prints that address when it answers.
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
