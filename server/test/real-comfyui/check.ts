// `npm run proof -- comfyui`: tests the adapter, and the whole service, against a real ComfyUI, without any model files
// and without a GPU.
//
// With URLs, it uses servers that run already: `npm run proof -- comfyui http://127.0.0.1:8188`. With `--comfyui
// FOLDER`, it starts two servers from that folder of ComfyUI, and can therefore kill them; `--python PROGRAM` is the
// Python that runs it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createChecklist } from "../support/checklist.ts";
import { checkAdapter } from "./adapter-checks.ts";
import { createAdapterClient } from "./adapter-client.ts";
import { type ComfyuiProcess, startComfyui } from "./comfyui-process.ts";
import { checkServerLoss } from "./server-loss-checks.ts";
import { checkService } from "./service-checks.ts";
import { writeWeightlessGraphs } from "./weightless-graphs.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { comfyui: { type: "string" }, python: { type: "string", default: "python3" } },
});
if (!values.comfyui && positionals.length === 0) {
  console.log("Name running servers, or a folder of ComfyUI to start two servers from:");
  console.log("  npm run proof -- comfyui http://127.0.0.1:8188");
  console.log("  npm run proof -- comfyui --comfyui ../ComfyUI --python ../ComfyUI/.venv/bin/python");
  process.exit(2);
}

// The servers are killed when this process exits.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const { check, counts } = createChecklist();
const graphs = writeWeightlessGraphs();
const folder = mkdtempSync(join(tmpdir(), "gesso-comfyui-"));
const servers: ComfyuiProcess[] = [];
try {
  if (values.comfyui) {
    const installation = { source: values.comfyui, python: values.python };
    for (const name of ["first", "second"]) servers.push(await startComfyui(installation, join(folder, name)));
  }
  const urls = values.comfyui ? servers.map(({ url }) => url) : positionals;
  await checkAdapter(check, createAdapterClient(urls.slice(0, 1), graphs), urls);
  if (servers.length > 0) {
    await checkServerLoss(check, servers, graphs);
    await checkService(check, servers, graphs);
  }
} finally {
  for (const server of servers) await server.kill();
  rmSync(graphs, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}
const { passed, failed } = counts();
console.log(`comfyui:check: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
