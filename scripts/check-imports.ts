// Checks the import rules: between modules of the server, between workspace packages, external packages reserved for
// one module, and no import cycles. Change a table only in its own commit.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { listSourceFiles, type SourceFile } from "./source-files.ts";

/** A module may import these modules; `type x` means its types only. */
const ALLOWED_IMPORTS: Record<string, string[]> = {
  faults: [],
  // Only the shape of the figures that gauges show.
  observe: ["type db", "type kit"],
  kit: ["faults"],
  models: ["kit"],
  operations: ["kit", "models"],
  // Sizes of images are read from headers; work on pixels is handed to isolated processes.
  providers: ["kit", "faults", "models", "images"],
  catalogue: ["kit", "faults", "providers", "models"],
  storage: ["kit", "faults"],
  outbound: ["kit", "faults"],
  images: ["kit", "faults"],
  db: ["kit", "faults"],
  // Manifests are read and written in isolated processes, as images are.
  provenance: ["kit", "faults", "images"],
  // Used by every creating operation.
  idempotency: ["kit", "db", "faults"],
  access: ["idempotency", "kit", "db", "faults"],
  runs: [
    ...["idempotency", "kit", "models", "operations", "providers", "db", "access", "faults", "observe"],
    ...["storage", "outbound", "images", "provenance"],
  ],
  // Reads and small stores, built on top of the life of a run.
  library: [
    ...["runs", "idempotency", "kit", "models", "operations", "providers", "db", "access"],
    ...["storage", "images", "provenance", "faults"],
  ],
  // What operators do to runs and parts of the installation.
  admin: ["runs", "webhooks", "access", "kit", "db", "faults"],
  events: ["runs", "kit", "db", "faults"],
  // Webhook messages render runs and are posted by the guarded HTTP client of `outbound`.
  webhooks: ["runs", "library", "idempotency", "access", "kit", "db", "outbound", "faults"],
  // The dispatcher and the background duties work on queues in PostgreSQL, so `engine` reads its tables.
  engine: ["runs", "webhooks", "type kit", "db", "faults", "observe"],
  doctor: ["kit", "faults", "providers", "models", "catalogue", "db", "storage", "outbound", "images"],
  // The OpenAI-compatible API translates model names and sizes, so `http` knows the list of models.
  http: [
    "kit",
    "models",
    "operations",
    "providers",
    "runs",
    "library",
    "idempotency",
    "events",
    "webhooks",
    "admin",
    "access",
    "faults",
    "observe",
    "type db",
    "type idempotency",
  ],
};

/** Composition files may import any module; the list says which files may import them. */
const COMPOSITION_FILES: Record<string, string[]> = {
  "clear-environment": ["config"],
  "setting-files": ["config"],
  config: ["compose", "main", "config-listing"],
  "config-listing": ["main"],
  compose: ["main"],
  "heap-growth": ["main"],
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
  make: ["api", "forms", "tray", "shell", "parts", "text", "format", "assets"],
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
  system: ["api", "shell", "parts", "text", "format"],
  tenants: ["api", "forms", "shell", "parts", "text", "format"],
  runs: ["api", "run-search", "shell", "parts", "text", "format"],
  models: ["api", "forms", "shell", "parts", "text", "format"],
};
const CONSOLE_COMPOSITION = ["app", "main", "styles"];

/** External packages that only some modules may import. */
const RESTRICTED_PACKAGES: [name: RegExp, modules: string[]][] = [
  [/^@restatedev\//, ["engine"]],
  [/^(hono|@hono\/|@fastify\/)/, ["http", "main"]],
  [/^pg$/, ["db"]],
  [/^@aws-sdk\//, ["storage"]],
  [/^pino$/, ["observe"]],
  [/^yaml$/, ["catalogue"]],
  [/^@modelcontextprotocol\//, ["http"]],
  // Local models are a provider: their files are installed beside the server and run in child processes.
  [
    /^node:(fs|child_process)\b/,
    [
      ...["catalogue", "db", "storage", "images", "outbound", "http", "engine", "runs", "library", "providers"],
      ...["provenance", "main", "compose", "clear-environment", "setting-files"],
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
const PURE_MODULES = ["kit", "models", "operations", "faults"];
const PURE_MODULE_PACKAGES = ["zod"];

/**
 * Files of these folders run only in isolated processes, which decode untrusted images. Nothing else may load the
 * decoder library: the API and the worker hold every secret.
 */
const ISOLATED = /^server\/src\/(images|provenance|providers\/local)\/isolated\//;
const DECODER_LIBRARY = /^(sharp|onnxruntime-node|@techstark\/opencv-js|@contentauth\/c2pa-wasm)$/;

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
const moduleOf = (path: string) => path.split("/")[2]!.replace(/\.ts$/, "");
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

/** Circles of files; types count, because a circle of types is as hard to think about. */
function findImportCycles(files: SourceFile[]): string[] {
  const arrows = new Map(
    files.map((file) => [file.path, importsOf(file).flatMap(({ to }) => targetOf(file, to) ?? [])]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]) => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) found.push(`import cycle: ${[...trail.slice(seenAt), path].join(" -> ")}`);
    if (seenAt >= 0 || done.has(path)) return;
    for (const next of arrows.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of arrows.keys()) visit(path, []);
  return found;
}

const files = listSourceFiles(Object.keys(PACKAGES));
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
  ...findImportCycles(files),
  ...unresolvedImports,
];
const imports = files.reduce((count, file) => count + importsOf(file).filter(({ to }) => to.startsWith(".")).length, 0);
console.log(violations.join("\n") || `${files.length} files, ${imports} imports, no cycles`);
process.exit(violations.length > 0 ? 1 : 0);
