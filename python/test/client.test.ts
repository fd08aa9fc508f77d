// The Python client, installed from its wheel, against a running Gesso.
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startResettingProxy } from "../../cli/test/support/resetting-proxy.ts";
import { readSandboxLedger } from "../../server/test/support/api-caller.ts";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import { installPythonPackage, PYTHON_CLIENT, type PythonPackage } from "./python-package.ts";

/** The samples of the documentation are checked with the same cache. */
const CACHE = resolve("node_modules/.cache/mypy");
/** LOST_RESPONSES=200 makes more. */
const CALLS = Number(process.env.LOST_RESPONSES ?? 20);
const MAX_WHEEL_BYTES = 150_000;

let environment: Installation;
let python: PythonPackage;

beforeAll(async () => {
  [environment, python] = await Promise.all([openSharedInstallation(), installPythonPackage()]);
});

afterAll(async () => {
  python?.remove();
  await environment?.stop();
});

const variables = () => ({ GESSO_URL: environment.url, GESSO_API_KEY: environment.key });
const runProgram = async (program: string, env: Record<string, string> = {}): Promise<unknown> => {
  const output = await python.run(["-c", program], { ...variables(), ...env });
  return JSON.parse(output.trim().split("\n").at(-1)!);
};

it.each(["test_runs.py", "test_inputs.py"])("passes its own tests in %s", async (file) => {
  const output = await python.run(["-m", "pytest", "-q", "-p", "no:cacheprovider", `test/${file}`], variables());
  expect(output).toMatch(/\d+ passed/);
});

describe("the package", () => {
  it("is small, has types, and depends on httpx only", async () => {
    expect(statSync(python.wheel).size).toBeLessThan(MAX_WHEEL_BYTES);
    const required = `import json, importlib.metadata as m; print(json.dumps([m.requires("gesso-client"),
      any(f.name == "py.typed" for f in m.files("gesso-client"))]))`;
    const [requires, hasTypes] = (await runProgram(required)) as [string[], boolean];
    expect(requires.filter((each) => !each.includes("extra =="))).toEqual(["httpx<1,>=0.27"]);
    expect(hasTypes).toBe(true);
  });

  it("has the version of the repository", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(readFileSync(join(PYTHON_CLIENT, "pyproject.toml"), "utf8")).toContain(`\nversion = "${version}"\n`);
  });

  it("has types without errors, in strict mode, and so have its tests", async () => {
    const parameters = ["--strict", "--python-version", "3.10", "--cache-dir", CACHE, "src/gesso", "test"];
    expect(await python.run(["-m", "mypy", ...parameters], { PYTHONPATH: "src" })).toContain("Success");
  });
});

it("runs the notebook of the examples: image, edit with a mask, tree and cost in at most 10 cells", async () => {
  const notebook = join(python.folder, "notebook.ipynb");
  copyFileSync("examples/notebook.ipynb", notebook);
  // The kernel is that of this environment, not one that the machine has.
  const kernels = {
    JUPYTER_PATH: join(dirname(dirname(python.interpreter)), "share/jupyter"),
    IPYTHONDIR: join(python.folder, "ipython"),
  };
  const env = { ...variables(), ...kernels, JUPYTER_RUNTIME_DIR: python.folder };
  const printed = await python.run([join(PYTHON_CLIENT, "test/run_notebook.py"), notebook], env);
  const { cells, outputs, texts } = JSON.parse(printed.trim().split("\n").at(-1)!);
  expect(cells).toBeLessThanOrEqual(10);
  const image = ["image/jpeg", "image/png", "text/plain"];
  expect(outputs.map((each: string[][]) => each[0]?.filter((type) => image.includes(type)))).toMatchObject([
    ...[undefined, expect.arrayContaining(["image/png"]), ["text/plain"]],
    ...[expect.arrayContaining(["image/png"]), expect.arrayContaining(["image/png"]), ["text/plain"], ["text/plain"]],
  ]);
  expect(texts.at(-2)).toMatch(/image-generation.*completed.*image-edit/s);
  expect(Number(texts.at(-1))).toBe(0);
});

describe("lost responses", () => {
  const program = (body: string) => `
import asyncio, json
from gesso import AsyncGesso, Gesso
COUNT = ${CALLS}
${body}
print(json.dumps(ids))`;
  const SYNCHRONOUS = `
client = Gesso()
calls = [lambda n=n: client.images.generate(prompt=f"lost {n} SYNC", width=64, height=64) for n in range(COUNT)]
ids = [run.run_id for run in client.gather(*calls, limit=16)]`;
  const ASYNCHRONOUS = `
async def main():
    async with AsyncGesso() as client:
        calls = [client.images.generate(prompt=f"lost {n} ASYNC", width=64, height=64) for n in range(COUNT)]
        return [run.run_id for run in await client.gather(*calls, limit=16)]
ids = asyncio.run(main())`;

  it.each([
    ["SYNC", SYNCHRONOUS],
    ["ASYNC", ASYNCHRONOUS],
  ])(
    `create ${CALLS} runs and ${CALLS} jobs for ${CALLS} calls, each reset before its first response (%s)`,
    async (kind, body) => {
      const proxy = await startResettingProxy(Number(new URL(environment.url).port));
      const ids = (await runProgram(program(body), { GESSO_URL: proxy.url })) as string[];
      expect(proxy.resetCount()).toBe(CALLS);
      proxy.close();
      const rows = await environment.query<{ run_id: string }>(
        "select run_id from runs where tenant_id = $1 and inputs->>'prompt' like $2",
        [environment.tenantId, `lost % ${kind}`],
      );
      expect(rows.map(({ run_id }) => run_id).sort()).toEqual([...ids].sort());
      const jobs = (await readSandboxLedger(environment)).filter(({ request }) =>
        String(request.prompt).match(new RegExp(`^lost \\d+ ${kind}$`)),
      );
      expect([new Set(ids).size, jobs.length]).toEqual([CALLS, CALLS]);
    },
  );
});
