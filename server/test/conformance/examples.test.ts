// Every example of the generated contract is sent unchanged, with existing images and runs, and succeeds.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createResourceFor, isRefusedByState, queryFor, withEventPosition } from "./fixtures.ts";
import { useOwnSuite } from "./suite.ts";

type Operation = {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Record<string, { example?: Record<string, unknown> }> };
};
const contract = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

// Some examples act on the whole installation, such as pausing its work.
const suite = useOwnSuite();

/** Images come from the test's own server, runs exist; everything else is as in the contract. */
const settle = (value: unknown, runId: string): unknown => {
  if (typeof value === "string" && /^https:\/\/example\.com\/.*\.(png|jpg|webp|mp4)$/.test(value))
    return suite.imageUrl();
  if (typeof value === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(value)) return runId;
  if (Array.isArray(value)) return value.map((each) => settle(each, runId));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, settle(each, runId)]));
};

const NEED_OPEN_RUN = ["runs.cancel", "admin.end", "admin.retry", "admin.quarantine"];

/** What a path names must be there, and some operations need an open run. */
const thingFor = async ({ operationId }: Operation, path: string): Promise<string> => {
  if (!NEED_OPEN_RUN.includes(operationId)) return (await createResourceFor(suite, path)) ?? suite.uploadImage();
  return (await suite.caller.generate({ prompt: "[sandbox:delay=5] x", width: 64, height: 64 })).body.run_id;
};

describe("the examples of the contract", () => {
  it("exist for every operation that accepts JSON", () => {
    const without = operations
      .filter(({ operation }) => operation.requestBody?.content["application/json"])
      .filter(({ operation }) => !operation.requestBody!.content["application/json"]!.example);
    expect(without.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  for (const { path, method, operation } of operations) {
    const json = operation.requestBody?.content["application/json"];
    if (operation.requestBody && !json) continue;
    it(`${operation.operationId} is answered`, async () => {
      const id = await thingFor(operation, path);
      const at = path.replaceAll(/\{\w+\}/g, id) + queryFor(operation.operationId);
      const body = json && (await withEventPosition(suite, settle(json.example, await suite.uploadImage())));
      const response = await suite.caller.send(method, at, { ...(body !== undefined && { body }) });
      const isSuccess = response.status >= 200 && response.status < 300;
      const isAnswered = isSuccess || isRefusedByState(operation.operationId, response.body?.code);
      expect([response.status, isAnswered || response.body]).toEqual([response.status, true]);
    });
  }
});
