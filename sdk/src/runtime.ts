// What the runtime offers: environment variables, the file system, and whether the code runs in a browser page.
type Process = {
  env?: Record<string, string | undefined>;
  versions?: { node?: string };
  getBuiltinModule?(name: string): unknown;
};

const process = () => (globalThis as { process?: Process }).process;

export function readVariable(name: string): string | undefined {
  try {
    return process()?.env?.[name]?.trim() || undefined;
  } catch {
    // Deno asks for permission and may be refused.
    return undefined;
  }
}

/** A page: whoever looks at it can read the key in it. */
export const isBrowser = (): boolean => typeof (globalThis as { document?: unknown }).document !== "undefined";

/** Node, Bun and Deno can send a body while it is being read. */
export const canStreamBodies = (): boolean => process()?.versions?.node !== undefined;

type FileSystem = {
  openAsBlob(path: string): Promise<Blob>;
  promises: { writeFile(path: string, bytes: Uint8Array): Promise<void> };
};

/** The file system, without a line that a bundler for browsers would stumble over. */
export async function loadFileSystem(): Promise<FileSystem> {
  const name = "node:fs";
  const files =
    process()?.getBuiltinModule?.(name) ?? (await import(/* @vite-ignore */ /* webpackIgnore: true */ name));
  return files as FileSystem;
}
