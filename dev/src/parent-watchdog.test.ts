import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, it } from "vitest";
import { killAfterTest, temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { isAlive } from "./process-info.ts";
import { waitUntil } from "./readiness-probe.ts";

const PARENT = fileURLToPath(new URL("../test/start-postgres.ts", import.meta.url));

it("kills a component within seconds after kill -9 of its parent, and its data can be opened again", async () => {
  const dataDir = temporaryDirectory();
  const port = await freePort();
  const parent = spawn(process.execPath, [PARENT, dataDir, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number(String((await once(parent.stdout, "data"))[0]));
  expect(isAlive(pid)).toBe(true);

  parent.kill("SIGKILL");
  expect(await waitUntil(async () => !isAlive(pid), 5)).toBe(true);

  const again = killAfterTest(await startPostgres({ dataDir, port }));
  const client = new pg.Client(again.url);
  await client.connect();
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
});
