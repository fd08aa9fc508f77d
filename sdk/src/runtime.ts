// Features of the runtime: environment variables, the file system, and whether the code runs in a browser page.
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
    // Deno throws if the permission to read the environment is denied.
    return undefined;
  }
}

/** Whether the code runs in a browser page, where every visitor can read the key. */
export const isBrowser = (): boolean => typeof (globalThis as { document?: unknown }).document !== "undefined";

/** Node.js, Bun and Deno can stream request bodies. */
export const canStreamBodies = (): boolean => process()?.versions?.node !== undefined;

type FileSystem = {
  openAsBlob(path: string): Promise<Blob>;
  promises: { writeFile(path: string, bytes: Uint8Array): Promise<void> };
};

/** Loads the file system module in a way that bundlers for browsers ignore. */
export async function loadFileSystem(): Promise<FileSystem> {
  const name = "node:fs";
  const files =
    process()?.getBuiltinModule?.(name) ?? (await import(/* @vite-ignore */ /* webpackIgnore: true */ name));
  return files as FileSystem;
}
