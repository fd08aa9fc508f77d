// Candidates that the server knows: recent runs, custom models and imported models. The server gets a short time to
// respond; without a response there are no candidates.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { listProfileNames } from "../credentials.ts";
import { resolveConnection } from "../resolve-connection.ts";
import type { Candidate } from "./completion-index.ts";

const MAX_MS = 800;
const MAX_RUNS = 20;
const MAX_DESCRIPTION = 60;

type RunRow = { run_id: string; status: string; run_type: string; inputs?: { prompt?: unknown } };
type ModelRow = { id: string; name: string };
type ImportedRow = { name: string; title: string | null };

export async function findLiveValues(kind: string, flags: Record<string, string>): Promise<Candidate[]> {
  if (kind === "profile") return listProfileNames().map((value) => ({ value, description: "" }));
  if (kind === "run" || kind === "image") {
    const rows = await getPage<RunRow>(`/runs?limit=${MAX_RUNS}`, flags);
    return rows.map(({ run_id, status, run_type, inputs }) => ({
      value: run_id,
      description: [status, run_type, typeof inputs?.prompt === "string" ? inputs.prompt : ""]
        .filter(Boolean)
        .join(" ")
        .slice(0, MAX_DESCRIPTION),
    }));
  }
  if (kind === "custom_model") {
    const rows = await getPage<ModelRow>("/models?limit=100", flags);
    return rows.map(({ id, name }) => ({ value: id, description: name.slice(0, MAX_DESCRIPTION) }));
  }
  if (kind === "imported_model") {
    const rows = await getPage<ImportedRow>("/catalogue/models?limit=100", flags);
    return rows.map(({ name, title }) => ({ value: name, description: (title ?? "").slice(0, MAX_DESCRIPTION) }));
  }
  return [];
}

/** Node's own module, because loading `fetch` takes longer than the request. */
function getPage<Row>(path: string, flags: Record<string, string>): Promise<Row[]> {
  const { url, key } = resolveConnection({
    ...(flags["--url"] && { url: flags["--url"] }),
    ...(flags["--profile"] && { profile: flags["--profile"] }),
    ...(flags["--data"] && { data: flags["--data"] }),
  });
  const target = new URL(`${url}/api/v1${path}`);
  return new Promise((resolve, reject) => {
    const send = target.protocol === "https:" ? requestHttps : requestHttp;
    const sent = send(target, { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(MAX_MS) });
    sent.on("error", reject).on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      response.on("end", () => {
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
        resolve((JSON.parse(Buffer.concat(chunks).toString()) as { data: Row[] }).data);
      });
    });
    sent.end();
  });
}
