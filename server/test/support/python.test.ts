// The Python clients that tests use, at the versions that the guides name.
import { beforeAll, expect, it } from "vitest";
import { installPython, runPython } from "./python.ts";

beforeAll(async () => {
  await installPython();
}, 300_000);

it("installs the Python clients of MCP and OpenAI at fixed versions", async () => {
  const program = `
import json, importlib.metadata as installed
import mcp, openai
print(json.dumps({name: installed.version(name) for name in ("mcp", "openai")}))
`;
  expect(await runPython(program)).toEqual({ mcp: "2.3.0", openai: "3.22.1" });
});
