// Who may import whom. A line in a table is a decision: change it in its own commit. Rooms of the server first, then the
// packages, then what only one room may know of the outside, and last that nothing runs in circles.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type SourceFile, sourceFiles } from "./sources.ts";

/** A room may import these rooms; `type x` means its types only. */
const MAY: Record<string, string[]> = {
  faults: [],
  observe: [],
  kit: ["faults"],
  models: ["kit"],
  operations: ["kit", "models"],
  providers: ["kit", "faults", "models"],
  catalogue: ["kit", "faults", "providers", "models"],
  db: ["kit", "faults"],
  media: ["faults"],
  access: ["kit", "db", "faults"],
  runs: ["kit", "models", "operations", "providers", "db", "media", "access", "faults", "observe"],
  events: ["runs", "kit", "db", "faults"],
  // Messages are made of what has happened to runs, and sent by the way out that media guards.
  webhooks: ["runs", "access", "kit", "db", "media", "faults"],
  // The dispatcher and the duties around the runs are queues in PostgreSQL, so the engine room reads its tables.
  engine: ["runs", "webhooks", "db", "faults", "observe"],
  doctor: ["kit", "faults", "providers", "models", "catalogue", "db", "media"],
  http: ["kit", "operations", "providers", "runs", "events", "webhooks", "access", "faults", "observe", "type db"],
};

/** These put the house together and may import any room. Who may import them is told here. */
const ROOF: Record<string, string[]> = { config: ["world", "main"], world: ["main"], main: [] };

/** A package's sources, and its tests, may import these packages of ours. */
const PACKAGES: Record<string, { src: string[]; test: string[] }> = {
  server: { src: [], test: ["dev", "sandbox", "client"] },
  sandbox: { src: [], test: [] },
  dev: { src: [], test: [] },
  cli: { src: ["dev", "client"], test: ["dev", "client"] },
  sdk: { src: [], test: ["dev", "server", "scripts", "examples", "client"] },
};

/** What of the outside only some rooms of the server know. */
const ONLY: [outside: RegExp, rooms: string[]][] = [
  [/^@restatedev\//, ["engine"]],
  [/^(hono|@hono\/|@fastify\/)/, ["http", "main"]],
  [/^pg$/, ["db"]],
  [/^@aws-sdk\//, ["media"]],
  [/^pino$/, ["observe"]],
  [/^yaml$/, ["catalogue"]],
  // Our own machine is a provider too: its models live in files and work in processes of their own.
  [/^node:(fs|child_process)\b/, ["catalogue", "db", "media", "http", "engine", "runs", "providers", "main", "world"]],
  [/^node:(net|http|https|dns|tls)\b/, ["db", "media", "http", "engine", "runs", "main", "world"]],
];

/** A plan must be the same today and after a crash, so these rooms know of nothing but schemas. */
const PURE = ["kit", "models", "operations", "faults"];
const PURE_MAY = ["zod"];

type Import = { to: string; isType: boolean; names: string };

const importsOf = ({ text }: SourceFile): Import[] => [
  ...[...text.matchAll(/^(?:import|export)\s+(type\s+)?((?:[^;"'`]|\n)*?)\s*from\s*"([^"]+)"/gm)].map(
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
const roomOf = (path: string) => path.split("/")[2]!.replace(/\.ts$/, "");
const targetOf = (file: SourceFile, to: string) => (to.startsWith(".") ? join(dirname(file.path), to) : undefined);

function brokenRooms(file: SourceFile): string[] {
  if (!file.path.startsWith("server/src/") || file.isTest) return [];
  const room = roomOf(file.path);
  if (!MAY[room] && !ROOF[room]) return [`${file.path}: the room ${room} has no line in the table`];
  return importsOf(file).flatMap(({ to, isType }) => {
    const target = targetOf(file, to);
    if (!target?.startsWith("server/src/")) return [];
    const other = roomOf(target);
    if (other === room) return [];
    const mayBeImported = ROOF[other]?.includes(room) ?? true;
    const mayImport = ROOF[room] !== undefined || MAY[room]!.includes(other);
    const asType = isType && MAY[room]?.includes(`type ${other}`);
    return mayBeImported && (mayImport || asType) ? [] : [`${file.path}: ${room} may not import ${other} (${to})`];
  });
}

function brokenOutside(file: SourceFile): string[] {
  if (!file.path.startsWith("server/src/") || file.isTest) return [];
  const room = roomOf(file.path);
  return importsOf(file)
    .filter(({ to }) => !to.startsWith(".") && !to.startsWith("@gesso/"))
    .flatMap(({ to }) => {
      if (PURE.includes(room)) return PURE_MAY.includes(to) ? [] : [`${file.path}: ${room} is pure, no ${to}`];
      const rule = ONLY.find(([outside]) => outside.test(to));
      return !rule || rule[1].includes(room) ? [] : [`${file.path}: only ${rule[1].join(", ")} may know ${to}`];
    });
}

function brokenPackages(file: SourceFile): string[] {
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
function circles(files: SourceFile[]): string[] {
  const arrows = new Map(
    files.map((file) => [file.path, importsOf(file).flatMap(({ to }) => targetOf(file, to) ?? [])]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]) => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) found.push(`circle: ${[...trail.slice(seenAt), path].join(" -> ")}`);
    if (seenAt >= 0 || done.has(path)) return;
    for (const next of arrows.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of arrows.keys()) visit(path, []);
  return found;
}

const files = sourceFiles(Object.keys(PACKAGES));
const dangling = files.flatMap((file) =>
  importsOf(file).flatMap(({ to }) => {
    const target = targetOf(file, to);
    return target && !existsSync(target) ? [`${file.path}: there is no ${to}`] : [];
  }),
);
const broken = [
  ...files.flatMap((file) => [...brokenRooms(file), ...brokenOutside(file), ...brokenPackages(file)]),
  ...circles(files),
  ...dangling,
];
const arrows = files.reduce((count, file) => count + importsOf(file).filter(({ to }) => to.startsWith(".")).length, 0);
console.log(broken.join("\n") || `${files.length} files, ${arrows} arrows, no circle`);
process.exit(broken.length > 0 ? 1 : 0);
