// What a burst of downloads does to the statements that every request needs.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { connectDatabase, type Database } from "../../db/connect.ts";
import { fileRoutes } from "./files.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connectDatabase({ DATABASE_URL: database.url, DATABASE_POOL: 1 });
});
afterAll(async () => {
  await db.close();
  await database.stop();
});

it("a burst of downloads does not delay statements such as those of authentication", async () => {
  const services = { database: db, assets: { verifySignature: () => true }, log: { warn() {}, info() {} } };
  const app = fileRoutes(services as never, () => {});
  let found = 0;
  const downloads = Array.from({ length: 100 }, async () => {
    const response = await app.request(`/files/${crypto.randomUUID()}/signature.png`);
    found++;
    return response.status;
  });
  await db.query("test.one", "select 1");
  expect(found).toBeLessThan(10);
  expect(new Set(await Promise.all(downloads))).toEqual(new Set([404]));
});
