// Builds helm, kubeconform and helm-unittest from their Go modules, in fixed versions, into one folder. Tools that the
// folder already has are not built again. Go's checksum database verifies the modules.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const HELM = { name: "helm", program: "helm.sh/helm/v3/cmd/helm@v3.22.0" };
const KUBECONFORM = { name: "kubeconform", program: "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0" };
/** Its go.mod replaces modules, which `go install` refuses: it is built as the main module. */
const UNITTEST = { name: "helm-unittest", module: "github.com/helm-unittest/helm-unittest@v1.1.2" };
/** The types of Kubernetes 1.37. */
const CLIENT_GO = "k8s.io/client-go@v0.37.0";

export type ChartTools = { helm: string; kubeconform: string; unittest: string; clientGoFolder: string };

function downloadModule(module: string): string {
  const told = execFileSync("go", ["mod", "download", "-json", module], { cwd: tmpdir(), encoding: "utf8" });
  return (JSON.parse(told) as { Dir: string }).Dir;
}

function buildAsMainModule(module: string, target: string): void {
  const source = mkdtempSync(join(tmpdir(), "gesso-chart-tool-"));
  try {
    cpSync(downloadModule(module), source, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", source]);
    execFileSync("go", ["build", "-o", target, "./cmd/helm-unittest"], { cwd: source, stdio: "inherit" });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

export function buildTools(): ChartTools {
  const folder = resolve(process.env.CHART_TOOLS ?? "node_modules/.cache/chart-tools");
  mkdirSync(folder, { recursive: true });
  for (const { name, program } of [HELM, KUBECONFORM]) {
    if (existsSync(join(folder, name))) continue;
    execFileSync("go", ["install", program], { env: { ...process.env, GOBIN: folder }, stdio: "inherit" });
  }
  const unittest = join(folder, UNITTEST.name);
  if (!existsSync(unittest)) buildAsMainModule(UNITTEST.module, unittest);
  return {
    helm: join(folder, HELM.name),
    kubeconform: join(folder, KUBECONFORM.name),
    unittest,
    clientGoFolder: downloadModule(CLIENT_GO),
  };
}
