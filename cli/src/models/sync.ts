// `gesso models sync`: reads what the providers publish about the imported models again. Names and prices stay.
import { type Client, ConnectionError, GessoError, type ImportedModelSummary } from "@gesso/client";
import { Command } from "commander";
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { commandError, EXIT_CODES, runCommand } from "../exit-codes.ts";
import {
  type OutputFlags,
  paint,
  selectOutputMode,
  toHarmlessText,
  toJsonLine,
  writeData,
  writeNote,
} from "../output/terminal.ts";
import { addOutputFlags } from "../run-flags.ts";
import { findRefusal } from "./get-model.ts";
import { shortHash } from "./render-model.ts";

type Flags = ConnectionFlags & OutputFlags;

/** One request of an import. */
export type Import = { model: string; aliases: string[] };
export type Synced = { model: string; hashes: string[]; imports: Import[] };
export type SyncResult = {
  model: string;
  state: "unchanged" | "changed" | "failed";
  schema_hash?: string;
  previous?: string[];
  reason?: string;
};

const MAX_NAMES = 5000;
/** Gesso takes at most as many aliases in one request. */
const MAX_ALIASES = 10;

const EXAMPLES = `
Examples:
  gesso models sync                          all imported models
  gesso models sync fal:fal-ai/veo3.1/fast

Exit code 1: a document could not be read or used. Its model stays as it was.`;

export const syncCommand = (): Command =>
  withConnection(
    addOutputFlags(
      new Command("sync")
        .description("Read what the providers publish about imported models again (operator).")
        .argument("[models...]", "names of models or aliases (default: all)"),
    ).optionsGroup("Connection:"),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (names: string[], flags: Flags) => {
      process.exitCode = await runCommand(
        "gesso models sync",
        () => resolveConnection(flags),
        (connection) => sync(createCliClient(connection), names, flags),
      );
    });

async function sync(client: Client, names: string[], flags: Flags): Promise<number> {
  const mode = selectOutputMode(flags);
  const pins = await client.catalogue.listModels({ limit: 100 }).toArray({ limit: MAX_NAMES });
  const unknown = names.find((name) => !pins.some((pin) => pin.name === name));
  if (unknown !== undefined) throw commandError("usage", `There is no imported model ${unknown}.`);
  const wanted = new Set(
    pins.filter(({ name }) => names.length === 0 || names.includes(name)).map(({ model }) => model),
  );
  const results: SyncResult[] = [];
  for (const model of wanted) {
    const result = await syncModel(client, planSync(model, pins));
    results.push(result);
    if (mode === "text") writeData(renderResult(result, Math.max(...[...wanted].map(({ length }) => length))));
  }
  if (mode === "quiet")
    for (const { model, state } of results) if (state === "changed") writeData(toHarmlessText(model));
  if (mode === "json" || mode === "brief") writeData(toJsonLine({ data: results }));
  if (mode === "text") writeNote(summarize(results));
  return results.some(({ state }) => state === "failed") ? EXIT_CODES.failed : EXIT_CODES.ok;
}

/**
 * All names of a model, without a price: each name keeps its own. No imports if the model's own name was removed: an
 * import would bring it back.
 */
export function planSync(model: string, pins: readonly ImportedModelSummary[]): Synced {
  const own = pins.filter((pin) => pin.model === model);
  const aliases = own.filter(({ name }) => name !== model).map(({ name }) => name);
  const chunks = Array.from({ length: Math.max(1, Math.ceil(aliases.length / MAX_ALIASES)) }, (_, index) =>
    aliases.slice(index * MAX_ALIASES, (index + 1) * MAX_ALIASES),
  );
  const imports = chunks.map((chunk): Import => ({ model, aliases: chunk }));
  const hashes = [...new Set(own.map(({ schema_hash }) => schema_hash))];
  return { model, hashes, imports: aliases.length < own.length ? imports : [] };
}

async function syncModel(client: Client, { model, hashes, imports }: Synced): Promise<SyncResult> {
  if (imports.length === 0)
    return { model, state: "failed", reason: `It has aliases only. Add it again: gesso models add ${model}` };
  try {
    let schema_hash = "";
    for (const request of imports) ({ schema_hash } = await client.system.importModel(request));
    const isSame = hashes.every((hash) => hash === schema_hash);
    return { model, state: isSame ? "unchanged" : "changed", schema_hash, ...(!isSame && { previous: hashes }) };
  } catch (thrown) {
    const isAboutModel = GessoError.isInstance(thrown) && !isAboutAll(thrown);
    if (!isAboutModel) throw thrown;
    return { model, state: "failed", reason: findRefusal(thrown) ?? thrown.message };
  }
}

/** No other model would fare better. */
const isAboutAll = (thrown: GessoError): boolean =>
  [401, 403].includes(thrown.status ?? 0) || (ConnectionError.isInstance(thrown) && thrown.status === undefined);

function renderResult({ model, state, schema_hash, previous = [], reason }: SyncResult, width: number): string {
  const name = toHarmlessText(model).padEnd(width);
  if (state === "failed") return `${name}  ${paint("red", "failed", process.stdout)}: ${toHarmlessText(reason ?? "")}`;
  if (state === "unchanged") return `${name}  unchanged`;
  const change = `schema ${previous.map(shortHash).join(", ")} → ${shortHash(schema_hash ?? "")}`;
  return `${name}  ${paint("yellow", "changed", process.stdout)}: ${change}`;
}

function summarize(results: SyncResult[]): string {
  if (results.length === 0) return "No model is imported yet. Add one: gesso models add fal:fal-ai/veo3.1/fast";
  const count = (state: SyncResult["state"]) => results.filter((each) => each.state === state).length;
  const models = results.length === 1 ? "1 model" : `${results.length} models`;
  return paint(
    "dim",
    `${models}: ${count("unchanged")} unchanged, ${count("changed")} changed, ${count("failed")} failed`,
  );
}
