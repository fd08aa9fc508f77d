// Removes secrets from the environment of this process after its settings are read. `delete process.env.X` alone leaves
// the value in the memory block that the kernel shows to others as /proc/<pid>/environ, so that block is overwritten.
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|DATABASE_URL|DSN|OTLP_HEADERS/i;

/** Fields of /proc/self/stat, counted after the name of the program: the bounds of the environment block. */
const BLOCK_START_FIELD = 47;
const BLOCK_END_FIELD = 48;

/**
 * `environment` is that of this process. `keep` decides which secrets other libraries still read from it, such as
 * PGPASSWORD. Returns false if the
 * kernel still shows a secret to other processes.
 */
export function clearEnvironment(environment: NodeJS.ProcessEnv, keep: (name: string) => boolean): boolean {
  const secrets = Object.entries(environment).filter(([name]) => SECRET_NAME.test(name));
  for (const [name] of secrets) delete environment[name];
  try {
    if (process.platform === "linux") overwriteBlock();
    return !readFileSync("/proc/self/environ", "latin1").split("\0").some(isSecretEntry);
  } catch {
    return process.platform !== "linux";
  } finally {
    // The new values are copies outside the block.
    for (const [name, value] of secrets) if (keep(name)) environment[name] = value;
  }
}

const isSecretEntry = (entry: string) => entry !== "" && SECRET_NAME.test(entry.split("=", 1)[0]!);

function overwriteBlock(): void {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = Number(fields[BLOCK_START_FIELD]);
  const block = Buffer.alloc(Number(fields[BLOCK_END_FIELD]) - start);
  const memory = openSync("/proc/self/mem", "r+");
  try {
    readSync(memory, block, 0, block.length, start);
    let offset = 0;
    for (const entry of block.toString("latin1").split("\0")) {
      if (isSecretEntry(entry)) writeSync(memory, Buffer.alloc(entry.length), 0, entry.length, start + offset);
      offset += entry.length + 1;
    }
  } finally {
    closeSync(memory);
  }
}
