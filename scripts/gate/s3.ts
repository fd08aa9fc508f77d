// The S3 server that all test files share: a Ceph gateway, which takes a minute to start.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./run-command.ts";

const READY_SECONDS = 300;

export type GateS3 = {
  /** The endpoint, or undefined if the server does not start; then the tests that need it fail. */
  ready(): Promise<string | undefined>;
  stop(): Promise<void>;
};

export function startS3(folder: string): GateS3 {
  const [endpointFile, pidFile, log] = ["s3.endpoint", "s3.pid", "s3.log"].map((name) => join(folder, name));
  const serve = `echo $$ > ${pidFile}; exec node_modules/.bin/node scripts/serve-s3.ts > ${endpointFile} 2> ${log}`;
  let hasExited = false;
  const exited = runCommand({ name: "S3 server", command: ["bash", "-c", serve], limitSeconds: 7200 }).then(
    (result) => {
      hasExited = true;
      return result;
    },
  );
  const readEndpoint = () => (existsSync(endpointFile!) ? readFileSync(endpointFile!, "utf8").trim() : "");
  return {
    async ready() {
      for (let tries = 0; tries < READY_SECONDS * 10 && !hasExited && !readEndpoint(); tries++) await sleep(100);
      if (!readEndpoint()) console.log(existsSync(log!) ? readFileSync(log!, "utf8") : "the S3 server did not start");
      return readEndpoint() || undefined;
    },
    async stop() {
      if (!hasExited) process.kill(Number(readFileSync(pidFile!, "utf8")), "SIGTERM");
      await exited;
    },
  };
}
