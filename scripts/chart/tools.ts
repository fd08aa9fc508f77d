// Builds helm, kubeconform and helm-unittest from their Go modules, in fixed versions, into one folder. Tools that the
// folder already has are not built again. Go's checksum database verifies the modules.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const KUBECONFORM = { name: "kubeconform", program: "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0" };
/**
 * helm-unittest and the helm that it requires, built as one module: they share hundreds of packages of Kubernetes,
 * which two versions of helm would compile twice.
 */
const HELM = { name: "helm", program: "helm.sh/helm/v3/cmd/helm" };
const UNITTEST = { name: "helm-unittest", program: "./cmd/helm-unittest" };
const UNITTEST_MODULE = "github.com/helm-unittest/helm-unittest@v1.1.2";
/** The types of Kubernetes 1.37. */
const CLIENT_GO = "k8s.io/client-go@v0.37.0";

export type ChartTools = { helm: string; kubeconform: string; unittest: string; clientGoFolder: string };

function downloadModule(module: string): string {
  const told = execFileSync("go", ["mod", "download", "-json", module], { cwd: tmpdir(), encoding: "utf8" });
  return (JSON.parse(told) as { Dir: string }).Dir;
}

function buildHelm(folder: string): void {
  const source = mkdtempSync(join(tmpdir(), "gesso-chart-tool-"));
  try {
    cpSync(downloadModule(UNITTEST_MODULE), source, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", source]);
    // The command line of helm needs modules that helm-unittest does not list.
    const build = ["build", "-mod=mod", "-o", `${folder}/`, HELM.program, UNITTEST.program];
    execFileSync("go", build, { cwd: source, stdio: "inherit" });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

export function buildTools(): ChartTools {
  const folder = resolve(process.env.CHART_TOOLS ?? "node_modules/.cache/chart-tools");
  mkdirSync(folder, { recursive: true });
  const [helm, unittest, kubeconform] = [HELM, UNITTEST, KUBECONFORM].map(({ name }) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  if (!existsSync(kubeconform))
    execFileSync("go", ["install", KUBECONFORM.program], { env: { ...process.env, GOBIN: folder }, stdio: "inherit" });
  if (!existsSync(helm) || !existsSync(unittest)) buildHelm(folder);
  return { helm, kubeconform, unittest, clientGoFolder: downloadModule(CLIENT_GO) };
}
