// Builds what is published into `dist`, or into the folder that is named; it is a package of its own: every file once as a module and once for `require`,
// side by side, so that bundlers drop what is not used and the archive, which compresses equal neighbours away, is small.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "tsdown";

const FORMATS = { esm: "module", cjs: "commonjs" } as const;

const target = resolve(process.argv[2] ?? join(import.meta.dirname, "dist"));
process.chdir(import.meta.dirname);
rmSync(target, { recursive: true, force: true });
for (const [format, type] of Object.entries(FORMATS) as [keyof typeof FORMATS, string][]) {
  await build({
    entry: ["src/index.ts", "src/webhooks.ts", "src/ai-sdk.ts"],
    outDir: join(target, format),
    format,
    platform: "neutral",
    target: "es2022",
    unbundle: true,
    dts: true,
    minify: true,
    outputOptions: { exports: "named" },
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
    tsconfig: "tsconfig.json",
    config: false,
    clean: false,
    logLevel: "error",
  });
  writeFileSync(join(target, format, "package.json"), `{"type":"${type}"}\n`);
}

const { name, version, description, license, engines } = JSON.parse(readFileSync("package.json", "utf8"));
const entry = (file: string) =>
  Object.fromEntries(
    [
      ["import", "esm"],
      ["require", "cjs"],
    ].map(([how, folder]) => [how, { types: `./${folder}/${file}.d.ts`, default: `./${folder}/${file}.js` }]),
  );
const published = {
  name,
  version,
  description,
  license,
  engines,
  type: "module",
  sideEffects: false,
  main: "./cjs/index.js",
  types: "./cjs/index.d.ts",
  exports: {
    ".": entry("index"),
    "./webhooks": entry("webhooks"),
    "./ai-sdk": entry("ai-sdk"),
    "./package.json": "./package.json",
  },
};
writeFileSync(join(target, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
copyFileSync("README.md", join(target, "README.md"));
