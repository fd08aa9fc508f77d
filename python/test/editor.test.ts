// What an editor shows for programs with the Python client: Pyright, the checker of VS Code, finds no error in the
// client and completes the names of operations, fields, models and results.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPythonSources, PYTHON_CLIENT } from "./python-package.ts";

type Message = { id?: number; method?: string; params?: unknown; result?: unknown };
type Editor = {
  /** Opens a file and returns its errors. */
  open(path: string, text: string): Promise<string[]>;
  /** The names that the editor offers at the end of the text. */
  complete(text: string): Promise<string[]>;
  close(): void;
};

let editor: Editor;

beforeAll(async () => {
  const { interpreter } = await openPythonSources();
  editor = await startEditor(interpreter);
});

afterAll(() => editor?.close());

const SAMPLE = `from gesso import AsyncGesso, Gesso, ImageRun

client = Gesso()


def draw(prompt: str) -> ImageRun:
    return client.images.generate(prompt=prompt, seed=7, model_type="flux-dev").wait(on_progress=print)


async def draw_all(prompts: list[str]) -> list[str]:
    async with AsyncGesso() as own:
        runs = await own.gather(*(own.images.generate(prompt=each) for each in prompts), limit=8)
        return [str(await run.image.save_to("a.png")) for run in runs]
`;

it("has no error in a program with both clients", async () => {
  expect(await editor.open("sample.py", SAMPLE)).toEqual([]);
});

it("reports a wrong field, a wrong type and a missing field", async () => {
  const lines = [
    'a = client.images.generate(prompt="a", sed=7)',
    "b = client.images.generate(prompt=7)",
    "c = client.images.generate()",
  ];
  const errors = await editor.open("wrong.py", `from gesso import Gesso\n\nclient = Gesso()\n${lines.join("\n")}\n`);
  expect(errors).toHaveLength(3);
  expect(errors[0]).toContain('No parameter named "sed"');
  expect(errors[2]).toContain('Argument missing for parameter "prompt"');
});

it.each(["_sync/_client.py", "_sync/_connection.py", "_sync/_runs.py", "_async/_runs.py", "_sources.py"])(
  "has no error in %s",
  async (name) => {
    const path = join("src/gesso", name);
    expect(await editor.open(path, readFileSync(join(PYTHON_CLIENT, path), "utf8"))).toEqual([]);
  },
);

it.each([
  ["operations", "client.images.", ["generate", "edit", "describe", "background_remove"]],
  ["operations of a group that is one too", "client.images.edit.", ["gemini25", "flux_kontext"]],
  ["fields", 'client.images.generate(prompt="a", se', ["seed="]],
  ["models", 'client.images.generate(prompt="a", model_type="', ['"flux-dev"', '"nanobanana"']],
  ["results", 'client.images.generate(prompt="a").wait().image.', ["save_to", "pil", "numpy", "bytes"]],
  ["parts of a result", "client.images.describe(run_id='a').wait().", ["description", "cost", "outputs"]],
])("completes %s", async (_, text, names) => {
  expect(await editor.complete(`${SAMPLE}\n${text}`)).toEqual(expect.arrayContaining(names));
});

/** A language server that is spoken to as an editor does. */
async function startEditor(interpreter: string): Promise<Editor> {
  const server = createRequire(import.meta.url).resolve("pyright/langserver.index.js");
  const child = spawn(process.execPath, [server, "--stdio"], { cwd: PYTHON_CLIENT });
  const answers = new Map<number, (result: unknown) => void>();
  const diagnostics = new Map<string, (errors: string[]) => void>();
  let received = Buffer.alloc(0);
  let count = 0;
  const send = (message: Message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const ask = <T>(method: string, params: unknown) =>
    new Promise<T>((resolve) => {
      answers.set(++count, resolve as (result: unknown) => void);
      send({ id: count, method, params });
    });
  const receive = ({ id, method, params, result }: Message) => {
    if (method === undefined) return answers.get(id!)?.(result);
    if (method === "textDocument/publishDiagnostics") {
      const { uri, diagnostics: found } = params as {
        uri: string;
        diagnostics: { message: string; severity: number }[];
      };
      const errors = found.filter(({ severity }) => severity === 1).map(({ message }) => message);
      return diagnostics.get(uri)?.(errors);
    }
    const settings = { pythonPath: interpreter, analysis: { extraPaths: ["src"], diagnosticMode: "openFilesOnly" } };
    const items = (params as { items?: unknown[] } | undefined)?.items ?? [];
    if (id !== undefined) send({ id, result: method === "workspace/configuration" ? items.map(() => settings) : null });
  };
  child.stdout.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const head = received.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(received.subarray(0, Math.max(head, 0)).toString())?.[1]);
      if (head < 0 || received.length < head + 4 + length) return;
      receive(JSON.parse(received.subarray(head + 4, head + 4 + length).toString()) as Message);
      received = received.subarray(head + 4 + length);
    }
  });
  const rootUri = pathToFileURL(PYTHON_CLIENT).href;
  const capabilities = { workspace: { configuration: true, workspaceFolders: true } };
  await ask("initialize", {
    processId: process.pid,
    rootUri,
    capabilities,
    workspaceFolders: [{ uri: rootUri, name: "python" }],
  });
  send({ method: "initialized", params: {} });
  const uriOf = (path: string) => pathToFileURL(join(PYTHON_CLIENT, path)).href;
  const open = (path: string, text: string) =>
    new Promise<string[]>((resolve) => {
      diagnostics.set(uriOf(path), resolve);
      send({
        method: "textDocument/didOpen",
        params: { textDocument: { uri: uriOf(path), languageId: "python", version: 1, text } },
      });
    });
  return {
    open,
    async complete(text) {
      const path = `completion-${++count}.py`;
      void open(path, text);
      const lines = text.split("\n");
      const position = { line: lines.length - 1, character: lines.at(-1)!.length };
      const list = await ask<{ items: { label: string }[] } | null>("textDocument/completion", {
        textDocument: { uri: uriOf(path) },
        position,
      });
      return (list?.items ?? []).map(({ label }) => label);
    },
    close: () => child.kill(),
  };
}
