// Errors of a PostgreSQL that speaks another language than English. A proxy translates the severity in the responses of
// a real server, as `lc_messages` does. Only the field V of the protocol stays English, which the driver does not read.
import { connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { connectDatabase, type Database, isRolledBack } from "./connect.ts";
import { gather } from "./gather.ts";

const GERMAN: Record<string, string> = { ERROR: "FEHLER", FATAL: "FATAL", PANIC: "PANIK" };
const ERROR_RESPONSE = "E".charCodeAt(0);

const translateSeverity = (message: Buffer): Buffer => {
  const fields = message
    .subarray(5)
    .toString("latin1")
    .replace(/^S([A-Z]+)/, (_, severity: string) => `S${GERMAN[severity]}`);
  const translated = Buffer.concat([message.subarray(0, 5), Buffer.from(fields, "latin1")]);
  translated.writeUInt32BE(translated.length - 1, 1);
  return translated;
};

/** Forwards everything, and translates error responses. */
const startTranslatingProxy = async (targetPort: number) => {
  const server = createServer((client) => {
    const upstream = connect(targetPort, "127.0.0.1");
    let received = Buffer.alloc(0);
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => {
      received = Buffer.concat([received, data]);
      while (received.length >= 5 && received.length > received.readUInt32BE(1)) {
        const message = received.subarray(0, 1 + received.readUInt32BE(1));
        received = received.subarray(message.length);
        client.write(message[0] === ERROR_RESPONSE ? translateSeverity(message) : message);
      }
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      socket.on("error", () => {}).on("close", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as { port: number }).port, close: () => void server.close() };
};

let database: TestDatabase;
let proxy: Awaited<ReturnType<typeof startTranslatingProxy>>;
let db: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  const url = new URL(database.url);
  proxy = await startTranslatingProxy(Number(url.port));
  url.port = String(proxy.port);
  db = connectDatabase({ DATABASE_URL: url.href, DATABASE_POOL: 2 }, null);
  await db.query("test.create", "create table small_numbers (number int primary key check (number < 100))");
});
afterAll(async () => {
  await db?.close();
  proxy?.close();
  await database?.stop();
});

const failureOf = (sql: string) =>
  db.query("", sql).then(
    () => undefined,
    (thrown) => thrown,
  );
const causeOf = (thrown: { cause?: object }) => thrown.cause ?? thrown;

describe("with a PostgreSQL that speaks another language", () => {
  it("only the refused row of a gathered statement fails", async () => {
    const insert = gather<number, number>({
      keyOf: String,
      async execute(on, numbers) {
        await on.query("test.insert", "insert into small_numbers select unnest($1::int[])", [numbers]);
        return numbers;
      },
    });
    const ends = await Promise.allSettled([1, 2, 500, 4, 5].map((number) => insert(db, number)));
    expect(ends.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, true]);
    expect(ends[2]).toMatchObject({ reason: { severity: "FEHLER", code: "23514" } });
  });

  it.each([
    ["a violated constraint", "insert into small_numbers values (500)", "23514"],
    ["a division by zero", "select 1 / 0", "22012"],
    ["a raised exception", "do $$ begin raise exception 'no'; end $$", "P0001"],
    ["a serialization failure", "do $$ begin raise exception using errcode = '40001'; end $$", "40001"],
    ["a canceled statement", "set statement_timeout = 1; select pg_sleep(10)", "57014"],
  ])("%s was rolled back", async (_, sql, code) => {
    const failure = await failureOf(sql);
    expect(causeOf(failure)).toMatchObject({ severity: "FEHLER", code });
    expect(isRolledBack(failure)).toBe(true);
  });

  it("a statement whose session the server ended may have been committed", async () => {
    const failure = await failureOf("select pg_terminate_backend(pg_backend_pid())");
    expect(causeOf(failure)).toMatchObject({ code: "57P01" });
    expect(isRolledBack(failure)).toBe(false);
  });

  it.each(["08006", "25P04", "53100", "57P02", "58030", "XX000"])(
    "an error with SQLSTATE %s may have ended the session, so it says nothing about the statement",
    async (code) => {
      const failure = await failureOf(`do $$ begin raise exception using errcode = '${code}'; end $$`);
      expect(causeOf(failure)).toMatchObject({ severity: "FEHLER", code });
      expect(isRolledBack(failure)).toBe(false);
    },
  );
});
