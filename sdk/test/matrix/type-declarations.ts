// Checks the type declarations: compiles programs of each kind against the installed package and documents all exports.
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { programPath, type SuiteResult } from "./runtimes.ts";

const run = (program: "tsc" | "typedoc", parameters: string[], cwd: string) =>
  promisify(execFile)(programPath("node24"), [programPath(program), ...parameters], { cwd, timeout: 120_000 });

const USE = `
export const made: Client.Client = new Client.Client({ baseUrl: "http://127.0.0.1:7788" });
const input: Client.ImagesGenerateInput = { prompt: "a red bicycle", model_type: "flux-dev" };
export const image: Promise<Client.FinishedRun> = made.images.generate(input).wait();
export const bytes: Promise<Client.Media> = made.images.removeBackground({ image: new Uint8Array() });
export const word = (error: unknown) => (Client.ValidationError.isInstance(error) ? error.forField("width") : []);
// @ts-expect-error: a prompt is required
made.images.generate({ width: 64 });
// @ts-expect-error: there is no such field
made.images.generate({ prompt: "x", widht: 64 });
`;

const MODULE = `
import Default, * as Client from "@gesso/client";
import { gesso } from "@gesso/client/ai-sdk";
import { unwrap, WebhookVerificationError } from "@gesso/client/webhooks";
export const other: Default = new Default();
export const models = gesso(other).image("flux-dev");
export const event = unwrap("{}", new Headers(), "secret").catch((error) => error instanceof WebhookVerificationError);
${USE}`;

const REQUIRED = `
import Client = require("@gesso/client");
import webhooks = require("@gesso/client/webhooks");
export const other = new Client.default();
export const event = webhooks.unwrap("{}", new Headers(), "secret");
${USE}`;

const OPTIONS = {
  module: "nodenext",
  target: "es2022",
  lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
};

const toSuiteResult = (work: Promise<unknown>): Promise<SuiteResult> =>
  work.then(
    () => ({ passed: 1, failed: [] }),
    (thrown: { stdout?: string; stderr?: string }) => ({ passed: 0, failed: [`${thrown.stdout}\n${thrown.stderr}`] }),
  );

/** `import` and `require` resolve the same types, also with older compilers. */
export function checkCompilation(folder: string): Promise<SuiteResult> {
  writeFileSync(join(folder, "use.mts"), MODULE);
  writeFileSync(join(folder, "use.cts"), REQUIRED);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: OPTIONS, files: ["use.mts", "use.cts"] }),
  );
  return toSuiteResult(run("tsc", ["-p", "."], folder));
}

/** No export without a sentence of its own. */
export function checkDocumentation(folder: string): Promise<SuiteResult> {
  const own = join(folder, "typedoc");
  mkdirSync(own);
  const entries = ["index.d.ts", "webhooks.d.ts", "ai-sdk.d.ts"];
  for (const file of entries) copyFileSync(join(folder, "node_modules/@gesso/client/cjs", file), join(own, file));
  writeFileSync(join(own, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, files: entries }));
  const flags = [
    "--name",
    "client",
    "--disableSources",
    "--emit",
    "none",
    "--treatWarningsAsErrors",
    "--validation.notDocumented",
    "--validation.notExported",
    "false",
  ];
  const kinds = ["Class", "Function", "Variable", "TypeAlias", "Method", "Accessor"];
  const input = kinds.flatMap((kind) => ["--requiredToBeDocumented", kind]);
  return toSuiteResult(
    run("typedoc", [...flags, ...input, ...entries.flatMap((file) => ["--entryPoints", file])], own),
  );
}
