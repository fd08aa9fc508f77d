// Reads the declarations of a package (.d.ts) by syntax alone and finds a type by its name, as TypeScript would:
// through namespaces, imports and renamed exports. Nothing is executed, so any version of a package can be read.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Class, type Directive, parseSync, type Statement } from "oxc-parser";

/** What declares a type. The names in it mean what they mean in `scope`. */
export type Declaration = { node: TypeDeclaration; scope: Scope; name: string };
export type TypeDeclaration =
  | Extract<Statement, { type: "TSInterfaceDeclaration" | "TSTypeAliasDeclaration" | "TSEnumDeclaration" }>
  | (Class & { type: "ClassDeclaration" });

/** The names of a file or of a namespace. `star`: files that are exported again as a whole. */
export type Scope = { file: string; parent: Scope | undefined; names: Map<string, Name>; star: string[] };
type Name = {
  declarations: Declaration[];
  namespace?: Scope;
  /** `name` is undefined for a whole module. */
  imported?: { from: string; name: string | undefined };
  /** Another name of the scope around it. */
  alias?: string;
};

const files = new Map<string, Scope>();

export function readDeclarations(file: string): Scope {
  const known = files.get(file);
  if (known) return known;
  const { program } = parseSync(file, readFileSync(file, "utf8"), { lang: "dts" });
  const scope: Scope = { file, parent: undefined, names: new Map(), star: [] };
  files.set(file, scope);
  readStatements(program.body, scope);
  return scope;
}

function nameIn(scope: Scope, name: string): Name {
  const known = scope.names.get(name) ?? { declarations: [] };
  scope.names.set(name, known);
  return known;
}

function readStatements(statements: readonly (Statement | Directive)[], scope: Scope): void {
  for (const statement of statements) readStatement(statement as Statement, scope);
}

function readStatement(statement: Statement, scope: Scope): void {
  switch (statement.type) {
    case "ExportNamedDeclaration":
      if (statement.declaration) readStatement(statement.declaration as Statement, scope);
      for (const { local, exported } of statement.specifiers) {
        const [from, to] = [textOf(local), textOf(exported)];
        if (statement.source) nameIn(scope, to).imported = { from: statement.source.value, name: from };
        else if (from !== to || scope.parent) nameIn(scope, to).alias = from;
      }
      return;
    case "ExportDefaultDeclaration":
      readStatement(statement.declaration as Statement, scope);
      return;
    case "ExportAllDeclaration":
      if (statement.exported)
        nameIn(scope, textOf(statement.exported)).imported = { from: statement.source.value, name: undefined };
      else scope.star.push(statement.source.value);
      return;
    case "ImportDeclaration":
      for (const specifier of statement.specifiers) {
        const name = specifier.type === "ImportSpecifier" ? textOf(specifier.imported) : undefined;
        nameIn(scope, specifier.local.name).imported = { from: statement.source.value, name };
      }
      return;
    case "TSModuleDeclaration": {
      const name = statement.id.type === "Identifier" ? statement.id.name : undefined;
      // `declare module "name"`: the whole file.
      const own = name === undefined ? undefined : nameIn(scope, name);
      if (own) own.namespace ??= { file: scope.file, parent: scope, names: new Map(), star: [] };
      readStatements((statement.body as { body: Statement[] }).body, own?.namespace ?? scope);
      return;
    }
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSEnumDeclaration":
    case "ClassDeclaration": {
      const name = statement.id?.name ?? "";
      nameIn(scope, name).declarations.push({ node: statement as TypeDeclaration, scope, name });
    }
  }
}

const textOf = (node: { type: string }): string =>
  (node as { name?: string }).name ?? String((node as { value?: unknown }).value);

/** `a.b.c` as its parts. */
export function partsOf(node: { type: string }): string[] {
  if (node.type === "TSQualifiedName") {
    const { left, right } = node as unknown as { left: { type: string }; right: { type: string } };
    return [...partsOf(left), textOf(right)];
  }
  if (node.type === "MemberExpression") {
    const { object, property } = node as unknown as { object: { type: string }; property: { type: string } };
    return [...partsOf(object), textOf(property)];
  }
  return [textOf(node)];
}

/** All declarations of a name: an interface can have several. Empty if the name comes from another package. */
export function findDeclarations(scope: Scope, [first = "", ...rest]: string[]): Declaration[] {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found = findIn(at, [first, ...rest]);
    if (found.length > 0) return found;
  }
  return [];
}

function findIn(scope: Scope, [first = "", ...rest]: string[]): Declaration[] {
  const name = scope.names.get(first);
  if (name) {
    const { declarations, namespace, imported, alias } = name;
    if (rest.length === 0 && declarations.length > 0) return declarations;
    if (rest.length > 0 && namespace) {
      const found = findIn(namespace, rest);
      if (found.length > 0) return found;
    }
    if (alias !== undefined) return findDeclarations(alias === first ? scope.parent! : scope, [alias, ...rest]);
    if (imported) {
      const file = findFile(scope.file, imported.from);
      if (!file) return [];
      return findIn(readDeclarations(file), imported.name === undefined ? rest : [imported.name, ...rest]);
    }
  }
  for (const from of scope.star) {
    const file = findFile(scope.file, from);
    const found = file ? findIn(readDeclarations(file), [first, ...rest]) : [];
    if (found.length > 0) return found;
  }
  return [];
}

/** Undefined for another package. */
function findFile(file: string, from: string): string | undefined {
  if (!from.startsWith(".")) return undefined;
  const path = join(dirname(file), from.replace(/\.[cm]?js$/, ""));
  return [`${path}.d.ts`, join(path, "index.d.ts")].find((each) => existsSync(each));
}
