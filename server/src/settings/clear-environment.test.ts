import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";

const MODULE = fileURLToPath(new URL("./clear-environment.ts", import.meta.url));
const started: { kill(): void }[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill();
});

/** A process that clears its environment, prints what it still sees, and stays. */
async function startCleared(env: Record<string, string>) {
  const program = `
    import { clearEnvironment } from ${JSON.stringify(MODULE)};
    const isClear = clearEnvironment(process.env, (name) => name.startsWith("PG"));
    console.log(JSON.stringify({ isClear, env: process.env }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { env });
  started.push(child);
  const [line] = await once(child.stdout, "data");
  const environ = readFileSync(`/proc/${child.pid}/environ`, "utf8");
  return { ...JSON.parse(String(line)), environ };
}

const secrets = { GESSO_SECRET: "abcdef-1", DATABASE_URL: "postgres://u:abcdef-2@h/d", FAL_KEY: "abcdef-3" };

it("removes secrets from what other processes can read of it, and keeps the rest", async () => {
  const { isClear, env, environ } = await startCleared({ HOST: "::1", ...secrets, PUBLIC_URL: "http://h" });
  expect(isClear).toBe(true);
  expect(environ.split("\0").filter(Boolean)).toEqual(["HOST=::1", "PUBLIC_URL=http://h"]);
  expect(env).toEqual({ HOST: "::1", PUBLIC_URL: "http://h" });
});

it("keeps a secret of another library readable for this process only", async () => {
  const { env, environ } = await startCleared({ PGPASSWORD: "abcdef-4", ...secrets });
  expect(env).toEqual({ PGPASSWORD: "abcdef-4" });
  expect(environ).not.toContain("abcdef");
});
