// Every operation of the contract can be called in every way: with the clients in TypeScript and Python, on the command
// line and by an agent.
import { readFileSync } from "node:fs";
import { createClient } from "@gesso/client";
import { expect, it } from "vitest";
import { HAND_WRITTEN } from "../cli/src/command-names.ts";
import { listOperationCommands } from "../cli/src/commands/operations.ts";
import { createProgram } from "../cli/src/program.ts";
import { openPythonSources } from "../python/test/python-package.ts";
import { describeOperationTool } from "../server/src/http/mcp/tools/describe-operation.ts";

type Contract = { paths: Record<string, Record<string, { operationId: string }>> };
const contract: Contract = JSON.parse(readFileSync("api/openapi.json", "utf8"));
const OPERATIONS = Object.values(contract.paths)
  .flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
  .sort();

/** Tools wait for a run with `get_run`, and take images as URLs, run IDs or data URIs. */
const NOT_FOR_AGENTS = ["events.stream", "images.upload", "provenance.verify", "runs.events"];

it("the contract has all operations", () => {
  expect(OPERATIONS.length).toBeGreaterThan(80);
  expect(new Set(OPERATIONS).size).toBe(OPERATIONS.length);
});

it("the client has a method for every operation", () => {
  const client: unknown = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key" });
  const find = (name: string) =>
    name.split(".").reduce<unknown>((part, word) => (part as Record<string, unknown> | undefined)?.[word], client);
  expect(OPERATIONS.filter((name) => typeof find(name) !== "function")).toEqual([]);
});

it("the Python client has a method for every operation, synchronous and asynchronous", async () => {
  const program = `
import gesso, json, re, sys
names = json.loads(sys.argv[1])
def find(client, name):
    for word in name.split("."):
        client = getattr(client, re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), word), None)
    return client
print(json.dumps([name for kind in (gesso.Gesso, gesso.AsyncGesso) for name in names if not callable(find(kind(), name))]))`;
  const python = await openPythonSources();
  expect(JSON.parse(await python.run(["-c", program, JSON.stringify(OPERATIONS)]))).toEqual([]);
  expect(JSON.parse(await python.run(["-c", program, '["runs.unknown"]']))).toHaveLength(2);
});

it("the command line has a command for every operation", async () => {
  const hasCommand = async (words: string[]) => {
    let command: Awaited<ReturnType<typeof createProgram>> | undefined = await createProgram(words);
    for (const word of words) command = command?.commands.find((each) => each.name() === word);
    return command !== undefined;
  };
  const commands = new Map([
    ...Object.entries(HAND_WRITTEN),
    ...listOperationCommands().flatMap(({ command, operations }) =>
      operations.map(({ operation }) => [operation.name, command] as const),
    ),
  ]);
  for (const words of commands.values()) expect([words, await hasCommand(words.split(" "))]).toEqual([words, true]);
  expect(OPERATIONS.filter((name) => !commands.has(name))).toEqual([]);
});

it("an agent can call every operation, except streams and uploads of files", () => {
  const { content } = describeOperationTool.describe!({}, () => true);
  const known = new Set((content.operations as { name: string }[]).map(({ name }) => name));
  expect(OPERATIONS.filter((name) => !known.has(name))).toEqual(NOT_FOR_AGENTS);
});
