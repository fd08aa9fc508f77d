// Builds what is published: every file once as a module and once for `require`, side by side, so that bundlers drop what
// is not used and the archive, which compresses equal neighbours away, stays small.
import { rmSync, writeFileSync } from "node:fs";
import { build } from "tsdown";

process.chdir(import.meta.dirname);
rmSync("dist", { recursive: true, force: true });
for (const [format, type] of [
  ["esm", "module"],
  ["cjs", "commonjs"],
] as const) {
  await build({
    entry: ["src/index.ts", "src/webhooks.ts"],
    outDir: `dist/${format}`,
    format,
    platform: "neutral",
    target: "es2022",
    unbundle: true,
    dts: true,
    minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
    outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
    tsconfig: "tsconfig.json",
    config: false,
    clean: false,
    logLevel: "warn",
  });
  writeFileSync(`dist/${format}/package.json`, `{"type":"${type}"}\n`);
}
