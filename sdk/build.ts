// Builds what is published into `dist`, or into the folder that is named: modules, the same for `require`, and one set
// of types. The code for `require` is the code of the modules, letter for letter, with other lines for import and
// export: npm puts files of one name side by side, so the archive holds it once.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build, type InlineConfig } from "tsdown";
import { nameSources, shiftFirstLine } from "./build-source-maps.ts";

const ENTRIES = ["index", "webhooks", "ai-sdk"];
/** What the printed operations stand on directly: beside them it needs no names to be exported. */
const SEPARATE_MODULES = [...ENTRIES, "call", "schema-builders"];
const REPOSITORY = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8")).homepage.replace(
  "#readme",
  "",
);
const target = resolve(process.argv[2] ?? join(import.meta.dirname, "dist"));
const [ESM, CJS] = [join(target, "esm"), join(target, "cjs")];

const SETTINGS: InlineConfig = {
  format: "esm",
  platform: "neutral",
  target: "es2022",
  tsconfig: "tsconfig.json",
  config: false,
  clean: false,
  logLevel: "error",
  outExtensions: () => ({ js: ".js", dts: ".d.ts" }),
};

process.chdir(import.meta.dirname);
rmSync(target, { recursive: true, force: true });
mkdirSync(CJS, { recursive: true });
await buildModules();
for (const file of readdirSync(ESM).filter((name) => name.endsWith(".js"))) writeCommonJs(file);
for (const entry of ENTRIES) await buildTypes(entry);
writeFileSync(join(CJS, "package.json"), '{"type":"commonjs"}\n');
writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
copyFileSync("../LICENSE", join(target, "LICENSE"));
writeFileSync(join(target, "README.md"), packageReadme(readFileSync("README.md", "utf8")));

/** Few files, none of them larger than what the archive looks back on; the errors alone, for the webhooks. */
async function buildModules(): Promise<void> {
  const isBehind = (id: string) => !id.includes("/generated/") && !SEPARATE_MODULES.includes(basename(id, ".ts"));
  await build({
    ...SETTINGS,
    entry: ENTRIES.map((entry) => `src/${entry}.ts`),
    outDir: ESM,
    dts: false,
    minify: true,
    sourcemap: true,
    outputOptions: {
      exports: "named",
      chunkFileNames: "[name].js",
      codeSplitting: {
        groups: [
          { name: "errors", test: /\/errors\.ts$/, priority: 2 },
          { name: "connection", test: isBehind, priority: 1 },
        ],
      },
    },
  });
}

function writeCommonJs(file: string): void {
  const [code = "", comment = ""] = readFileSync(join(ESM, file), "utf8").split(/^(?=\/\/# sourceMappingURL=)/m);
  const written = toCommonJs(code);
  writeFileSync(join(CJS, file), `${written.trimEnd()}\n${comment}`);
  // The code between imports and exports is the same: its place in both says how far it has moved.
  const [, body = ""] = /^(?:import\{[^}]*\}from"[^"]+";)*(.{40})/.exec(code) ?? [];
  if (body === "" || !comment) throw new Error(`${file} has no source map, or nothing to find in it`);
  const map = nameSources(readFileSync(join(ESM, `${file}.map`), "utf8"));
  writeFileSync(join(ESM, `${file}.map`), map);
  writeFileSync(join(CJS, `${file}.map`), shiftFirstLine(map, written.indexOf(body) - code.indexOf(body)));
}

/** A module for `require`. Its imports stand at the head and its exports at the end, because it has been bundled. */
function toCommonJs(code: string): string {
  const renamed = (names: string) => names.replaceAll(" as ", ":");
  const body = code
    .replaceAll(/import\{([^}]*)\}from("[^"]+");/g, (_, names, from) => `const{${renamed(names)}}=require(${from});`)
    .replace(/export\{([^}]*)\};?\s*$/, (_, names: string) =>
      names
        .split(",")
        .map((each) => {
          const [own, name = own] = each.split(" as ");
          return `exports.${name}=${own};`;
        })
        .join(""),
    );
  if (/^(import|export)\b|[;}](import|export)[{ "*]/.test(body)) throw new Error("not all of a module was understood");
  return `"use strict";Object.defineProperty(exports,"__esModule",{value:true});${body}`;
}

/** The types of an entry, each exported where it stands. Those of a module are those for `require`, and its default. */
async function buildTypes(entry: string): Promise<void> {
  await build({
    ...SETTINGS,
    entry: [`src/${entry}.ts`],
    outDir: CJS,
    dts: { emitDtsOnly: true },
    ...(entry !== "index" && { deps: { neverBundle: [/^\.\//] } }),
  });
  const file = join(CJS, `${entry}.d.ts`);
  const text = readFileSync(file, "utf8").replaceAll(/from "\.\/[^"]+"/g, 'from "./index.js"');
  writeFileSync(file, inlineTypeExports(text));
  const own = entry === "index" ? `export { Client as default } from "../cjs/index.js";\n` : "";
  writeFileSync(join(ESM, `${entry}.d.ts`), `export * from "../cjs/${entry}.js";\n${own}`);
}

function inlineTypeExports(text: string): string {
  const [list = "", names = ""] = /^export \{([^}]*)\};\s*$/m.exec(text) ?? [];
  const renamed: string[] = [];
  let result = text.replace(list, "");
  for (const each of names.split(",").map((name) => name.trim().replace(/^type /, ""))) {
    const [own = "", name] = each.split(" as ");
    const declared = new RegExp(`^((?:declare )?(?:abstract )?(?:type|class|const|function) ${own}\\b)`, "gm");
    if (name) renamed.push(each);
    else if (declared.test(result)) result = result.replaceAll(declared, "export $1");
    else throw new Error(`${own} is exported but not declared`);
  }
  // Without a list, however short, everything in a file of types counts as exported.
  return `${result.trimEnd()}\nexport { ${renamed.join(", ")} };\n`;
}

/** Without the assertions of the documentation tests, and with links that work outside the repository. */
function packageReadme(page: string): string {
  const text = page
    .replaceAll(/<!-- test[\s\S]*?-->\n\n?/g, "")
    .replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, `](${REPOSITORY}/blob/main/sdk/$1)`);
  return text.replaceAll("/sdk/../", "/");
}

function manifest(): object {
  const { name, version, description, license, homepage, repository, bugs, engines } = JSON.parse(
    readFileSync("package.json", "utf8"),
  );
  const entry = (file: string) => ({
    import: { types: `./esm/${file}.d.ts`, default: `./esm/${file}.js` },
    require: { types: `./cjs/${file}.d.ts`, default: `./cjs/${file}.js` },
  });
  return {
    name,
    version,
    description,
    license,
    homepage,
    repository,
    bugs,
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
}
