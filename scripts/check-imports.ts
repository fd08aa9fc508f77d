// Checks the import rules: between modules of the server, between workspace packages, external packages reserved for
// one module, and no circles between folders or files. Change a table only in its own commit.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFilesWithGenerated, listSourceFiles, type SourceFile } from "./source-files.ts";

/** A module may import these modules; `type x` means its types only. */
const ALLOWED_IMPORTS: Record<string, string[]> = {
  faults: [],
  // Time, timers and keys, which are handed in, and what they are made of.
  runtime: [],
  // What the API accepts, shows and plans, as schemas and types.
  contract: ["faults", "runtime"],
  // Only the shape of the figures that gauges show.
  observe: ["type db", "type runtime"],
  // Operations that create runs: their plans are pure, so these files are, too.
  operations: ["contract"],
  // Operations that create no run have a handler, which uses what the life of a run and its neighbours offer.
  queries: [
    ...["operations", "contract", "type runtime", "faults", "idempotency", "access", "db", "type storage"],
    ...["runs", "money", "library", "webhooks", "admin"],
  ],
  // Sizes of images are read from headers; work on pixels is handed to isolated processes.
  providers: ["contract", "runtime", "faults", "formats", "images", "prices"],
  catalogue: ["contract", "type providers", "prices"],
  // Schemas that providers publish: what comes from outside is judged, then compiled, without I/O.
  models: ["contract", "type faults"],
  prices: ["contract"],
  storage: ["runtime", "faults", "formats"],
  outbound: ["runtime", "faults"],
  // Headers of files, read without decoding anything.
  formats: ["faults"],
  images: ["runtime", "faults", "formats"],
  // What a provider reported is stored with the output of a request.
  db: ["type contract", "runtime", "faults", "type prices"],
  // Manifests are read and written in isolated processes, as images are.
  provenance: ["type contract", "runtime", "faults", "formats", "images"],
  // Used by every creating operation.
  idempotency: ["contract", "type runtime", "db", "faults"],
  access: ["contract", "type runtime", "db", "faults"],
  // What runs cost and tenants have spent.
  money: ["access", "type contract", "type runtime", "providers", "prices", "db", "faults", "type observe"],
  runs: [
    ...["idempotency", "contract", "runtime", "operations", "providers", "db", "access", "money", "faults"],
    ...["type observe", "storage", "outbound", "formats", "images", "provenance", "prices", "models"],
  ],
  // Reads and small stores, built on top of the life of a run.
  library: [
    ...["runs", "idempotency", "contract", "type runtime", "operations", "providers", "db", "access"],
    ...["type storage", "formats", "images", "type provenance", "faults", "prices", "models"],
  ],
  // What operators do to runs and parts of the installation.
  admin: ["runs", "webhooks", "type access", "type contract", "type runtime", "db", "faults"],
  events: ["runs", "type contract", "type runtime", "db", "faults"],
  // Webhook messages render runs and are posted by the guarded HTTP client of `outbound`.
  webhooks: ["runs", "type access", "type contract", "type runtime", "db", "outbound", "faults"],
  // The dispatcher and the background duties work on queues in PostgreSQL, so `engine` reads its tables.
  // Providers push notifications over connections of `outbound`, which the engine gives to their adapters.
  engine: ["runs", "webhooks", "type contract", "type runtime", "type outbound", "db", "faults", "type observe"],
  // The doctor compares imported models with what their providers publish.
  doctor: ["contract", "runtime", "prices", "providers", "db", "storage", "outbound", "images", "models"],
  // The OpenAI-compatible API translates model names and sizes, so `http` knows the list of models.
  http: [
    ...["contract", "runtime", "operations", "queries", "providers", "runs", "money", "library"],
    ...["type idempotency", "events", "webhooks", "access", "faults", "type observe", "type db"],
  ],
};

/** Composition files may import any module; the list says which modules may import them. */
const COMPOSITION_FILES: Record<string, string[]> = {
  settings: ["compose", "roles", "main"],
  compose: ["roles"],
  roles: ["main"],
  main: [],
};

/** The workspace packages that a package's sources and tests may import. */
const PACKAGES: Record<string, { src: string[]; test: string[] }> = {
  server: { src: [], test: ["dev", "sandbox", "client"] },
  sandbox: { src: [], test: [] },
  dev: { src: [], test: [] },
  cli: { src: ["dev", "client"], test: ["dev", "server", "client"] },
  sdk: { src: [], test: ["dev", "server", "scripts", "examples", "client"] },
  console: { src: ["client"], test: ["client", "server"] },
};

/** An area of the console may import these areas. Pages know the parts, never the reverse; only `app` knows all. */
const CONSOLE_AREAS: Record<string, string[]> = {
  text: [],
  format: [],
  assets: [],
  generated: [],
  parts: ["text", "format"],
  api: [],
  login: ["api", "parts", "text", "assets"],
  forms: ["api", "parts", "text", "format", "generated"],
  tray: ["api", "parts", "text", "format"],
  shell: ["api", "parts", "text", "format", "tray"],
  palette: ["api", "forms", "shell", "parts", "text"],
  "any-model": ["api", "forms", "shell", "parts", "text", "format"],
  make: ["any-model", "api", "forms", "tray", "shell", "parts", "text", "format", "assets"],
  "run-search": ["parts", "text"],
  gallery: ["api", "run-search", "tray", "shell", "parts", "text", "format"],
  run: ["api", "forms", "tray", "shell", "pixels", "parts", "text", "format"],
  pixels: ["api", "parts", "text"],
  compare: ["api", "shell", "pixels", "parts", "text", "format"],
  paint: ["api", "forms", "make", "pixels", "shell", "tray", "parts", "text", "format"],
  keys: ["api", "forms", "shell", "parts", "text", "format"],
  people: ["api", "forms", "shell", "parts", "text", "format"],
  usage: ["api", "shell", "parts", "text", "format"],
  webhooks: ["api", "forms", "shell", "parts", "text", "format"],
  system: ["api", "shell", "parts", "text", "format", "generated"],
  tenants: ["api", "forms", "shell", "parts", "text", "format"],
  runs: ["api", "run-search", "shell", "parts", "text", "format"],
  models: ["api", "forms", "shell", "parts", "text", "format"],
};
const CONSOLE_COMPOSITION = ["app", "main", "styles"];

/** External packages that only some modules may import. */
const RESTRICTED_PACKAGES: [name: RegExp, modules: string[]][] = [
  [/^@restatedev\//, ["engine"]],
  [/^(hono|@hono\/|@fastify\/)/, ["http", "roles"]],
  [/^pg$/, ["db"]],
  [/^@aws-sdk\//, ["storage"]],
  [/^pino$/, ["observe"]],
  [/^yaml$/, ["catalogue"]],
  [/^(ajv|re2js)(\/|$)/, ["models"]],
  [/^@modelcontextprotocol\//, ["http"]],
  // Local models are a provider: their files are installed beside the server and run in child processes.
  [
    /^node:(fs|child_process)\b/,
    [
      ...["catalogue", "db", "storage", "images", "outbound", "http", "engine", "runs", "library", "providers"],
      ...["provenance", "settings"],
    ],
  ],
];

/**
 * Only `outbound` opens sockets to other hosts. The clients of PostgreSQL, S3 and Restate are packages listed above.
 */
const SOCKETS = /^(node:(net|tls|http|https|http2|dgram|dns)(\/promises)?|undici|ws)$/;
const SOCKET_FILES: Record<string, string> = {
  "server/src/engine/worker-endpoint.ts": "listens for Restate",
  "server/src/engine/engine-client.ts": "calls the ingress of Restate",
  "server/src/engine/engine-admin.ts": "calls the admin API of Restate",
};

/** Plans are the same before and after a crash, so these modules do no I/O and know only schemas. */
const PURE_MODULES = ["contract", "runtime", "operations", "faults", "prices"];
const PURE_MODULE_PACKAGES = ["zod"];

/**
 * Files of these folders run only in isolated processes, which decode untrusted images. Nothing else may load the
 * decoder library: the API and the worker hold every secret.
 */
const ISOLATED = /^server\/src\/(files\/images|files\/provenance|providers\/local)\/isolated\//;
const DECODER_LIBRARY = /^(sharp|onnxruntime-node|@techstark\/opencv-js|@contentauth\/c2pa-wasm)$/;

const files = listSourceFiles(Object.keys(PACKAGES));

/** What declares a handler, and the lists of all operations. */
const QUERY_FILES = new Set(
  files
    .filter(({ path }) => path.startsWith("server/src/operations/"))
    .filter(({ path, text }) => /operations\/(define-query|index|all)\.ts$/.test(path) || /\bdefineQuery\(/.test(text))
    .map(({ path }) => path),
);

type Import = { to: string; isType: boolean; names: string };

const importsOf = ({ text }: SourceFile): Import[] => [
  ...[...text.matchAll(/^(?:import|export)\s+(type\s+)?([^;"'`]*?)\s*from\s*"([^"]+)"/gm)].map(
    ([, type, names = "", to = ""]) => ({ to, isType: Boolean(type) || onlyTypes(names), names }),
  ),
  ...[...text.matchAll(/^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm)].map(([, plain, lazy]) => ({
    to: plain ?? lazy ?? "",
    isType: false,
    names: "",
  })),
];

/** `{ type A, type B }` is as good as `type { A, B }`: nothing of it is left at run time. */
const onlyTypes = (names: string) =>
  names.startsWith("{") &&
  names
    .replace(/[{}]/g, "")
    .split(",")
    .filter((name) => name.trim())
    .every((name) => /^\s*type\s/.test(name));

const packageOf = (path: string) => path.split("/")[0]!;
/**
 * The folder of a file. `operations` has two kinds of files: the pure ones, and those with handlers (`queries`). The
 * folders of `files` are modules of their own.
 */
const moduleOf = (path: string) => {
  const [, , top = "", next = ""] = path.split("/");
  const folder = top === "files" ? next : top.replace(/\.ts$/, "");
  return folder === "operations" && QUERY_FILES.has(path) ? "queries" : folder;
};
const targetOf = (file: SourceFile, to: string) => (to.startsWith(".") ? join(dirname(file.path), to) : undefined);

function findModuleViolations(file: SourceFile): string[] {
  if (!file.path.startsWith("server/src/") || file.isTest) return [];
  const module = moduleOf(file.path);
  if (!ALLOWED_IMPORTS[module] && !COMPOSITION_FILES[module])
    return [`${file.path}: module ${module} is missing in ALLOWED_IMPORTS`];
  return importsOf(file).flatMap(({ to, isType }) => {
    const target = targetOf(file, to);
    if (!target?.startsWith("server/src/")) return [];
    const other = moduleOf(target);
    if (other === module) return [];
    const mayBeImported = COMPOSITION_FILES[other]?.includes(module) ?? true;
    const mayImport = COMPOSITION_FILES[module] !== undefined || ALLOWED_IMPORTS[module]!.includes(other);
    const asType = isType && ALLOWED_IMPORTS[module]?.includes(`type ${other}`);
    return mayBeImported && (mayImport || asType) ? [] : [`${file.path}: ${module} may not import ${other} (${to})`];
  });
}

function findPackageViolations(file: SourceFile): string[] {
  if (!file.path.startsWith("server/src/") || file.isTest) return [];
  const module = moduleOf(file.path);
  return importsOf(file)
    .filter(({ to }) => !to.startsWith(".") && !to.startsWith("@gesso/"))
    .flatMap(({ to, isType }) => {
      if (SOCKETS.test(to) && !isType && module !== "outbound" && !SOCKET_FILES[file.path])
        return [`${file.path}: only outbound may open sockets (${to})`];
      if (PURE_MODULES.includes(module))
        return PURE_MODULE_PACKAGES.includes(to) ? [] : [`${file.path}: ${module} is pure, no ${to}`];
      const rule = RESTRICTED_PACKAGES.find(([name]) => name.test(to));
      return !rule || rule[1].includes(module) ? [] : [`${file.path}: only ${rule[1].join(", ")} may import ${to}`];
    });
}

/** Types are not loaded, so they may be imported everywhere. */
function findIsolationViolations(file: SourceFile): string[] {
  if (!file.path.startsWith("server/src/") || file.isTest || ISOLATED.test(file.path)) return [];
  return importsOf(file)
    .filter(({ to, isType }) => !isType && (DECODER_LIBRARY.test(to) || ISOLATED.test(targetOf(file, to) ?? "")))
    .map(({ to }) => `${file.path}: only isolated processes may load ${to}`);
}

function findConsoleViolations(file: SourceFile): string[] {
  if (!file.path.startsWith("console/src/")) return [];
  const areaOf = (path: string) => path.split("/")[2]!.replace(/\.tsx?$/, "");
  const area = areaOf(file.path);
  const isComposition = CONSOLE_COMPOSITION.includes(area);
  if (!isComposition && !CONSOLE_AREAS[area]) return [`${file.path}: area ${area} is missing in CONSOLE_AREAS`];
  return importsOf(file).flatMap(({ to }) => {
    const target = targetOf(file, to);
    if (!target?.startsWith("console/src/")) return [];
    const other = areaOf(target);
    if (other === area || isComposition || CONSOLE_AREAS[area]?.includes(other)) return [];
    return [`${file.path}: ${area} may not import ${other} (${to})`];
  });
}

function findWorkspaceViolations(file: SourceFile): string[] {
  const own = packageOf(file.path);
  const may = PACKAGES[own]?.[file.isTest ? "test" : "src"];
  if (!may) return [];
  return importsOf(file).flatMap(({ to }) => {
    const target = targetOf(file, to);
    const other = target ? packageOf(target) : /^@gesso\/(\w+)/.exec(to)?.[1];
    if (!other || other === own || may.includes(other)) return [];
    return [`${file.path}: ${own} may not import ${other}`];
  });
}

/** The packages whose folders import each other in one direction only. */
const LAYERED_PACKAGES = ["server", "console", "dev"];

/** Arrows between the entries of one folder, each with an import that it stands for. */
type Drawing = Map<string, Map<string, string>>;

/**
 * Circles in the drawing of any folder, whose files and folders are connected by what they import. Without one, no two
 * folders and no two files import each other by any detour. Types and generated files count: a circle of types is as
 * hard to think about. In tests and other packages, only circles of files count.
 */
function findCircles(files: SourceFile[]): string[] {
  const drawings = new Map<string, Drawing>();
  for (const file of files) {
    for (const { to } of importsOf(file)) {
      const target = targetOf(file, to);
      if (!target) continue;
      const isLayered = LAYERED_PACKAGES.includes(packageOf(file.path)) && !file.isTest;
      const [folder, from, entry] = isLayered ? arrowOf(file.path, target) : ["files", file.path, target];
      const drawing: Drawing = drawings.get(folder) ?? new Map();
      const arrows = drawing.get(from) ?? new Map<string, string>();
      drawings.set(folder, drawing.set(from, arrows.set(entry, `${file.path} imports ${to}`)));
    }
  }
  return [...drawings].flatMap(([folder, drawing]) => findCirclesOf(folder, drawing));
}

/** The nearest folder that has both files, and the entries of this folder in which they are. */
function arrowOf(from: string, to: string): [folder: string, from: string, to: string] {
  const [path, target] = [from.split("/"), to.split("/")];
  const depth = path.findIndex((name, index) => name !== target[index]);
  // The two kinds of operations count as two folders.
  const entryOf = (file: string, entry: string) => (entry === "operations" ? moduleOf(file) : entry);
  return [path.slice(0, depth).join("/"), entryOf(from, path[depth]!), entryOf(to, target[depth]!)];
}

function findCirclesOf(folder: string, drawing: Drawing): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (entry: string, trail: string[]) => {
    const circle = trail.includes(entry) ? [...trail.slice(trail.indexOf(entry)), entry] : [];
    const imports = circle.slice(1).map((next, index) => `  ${drawing.get(circle[index]!)!.get(next)}`);
    if (circle.length > 0) found.push([`circle in ${folder}: ${circle.join(" -> ")}`, ...imports].join("\n"));
    if (circle.length > 0 || done.has(entry)) return;
    for (const next of drawing.get(entry)?.keys() ?? []) visit(next, [...trail, entry]);
    done.add(entry);
  };
  for (const entry of drawing.keys()) visit(entry, []);
  return found;
}

const unresolvedImports = files.flatMap((file) =>
  importsOf(file).flatMap(({ to }) => {
    const target = targetOf(file, to);
    return target && !existsSync(target) ? [`${file.path}: imported file not found: ${to}`] : [];
  }),
);
const violations = [
  ...files.flatMap((file) => [
    ...findModuleViolations(file),
    ...findPackageViolations(file),
    ...findIsolationViolations(file),
    ...findConsoleViolations(file),
    ...findWorkspaceViolations(file),
  ]),
  ...findCircles(listFilesWithGenerated(Object.keys(PACKAGES))),
  ...unresolvedImports,
];
const imports = files.reduce((count, file) => count + importsOf(file).filter(({ to }) => to.startsWith(".")).length, 0);
console.log(violations.join("\n") || `${files.length} files, ${imports} imports, no circles`);
process.exit(violations.length > 0 ? 1 : 0);
