// The Python packages that tests use, at the versions that the guides name.
import { beforeAll, expect, it } from "vitest";
import { installPython, runPython } from "./python.ts";

beforeAll(async () => {
  await installPython();
});

it("installs the Python clients of MCP and OpenAI, and the validator of C2PA, at fixed versions", async () => {
  const program = `
import json, importlib.metadata as installed
import mcp, openai, c2pa
print(json.dumps({name: installed.version(name) for name in ("mcp", "openai", "c2pa-python")}))
`;
  expect(await runPython(program)).toEqual({ mcp: "2.3.0", openai: "3.22.1", "c2pa-python": "0.38.1" });
});
