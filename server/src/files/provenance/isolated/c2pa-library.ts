// Loads the reference implementation of C2PA, which is built for browsers: it reads a blob synchronously, which Node
// cannot do, so a blob here holds its bytes.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { initSync, WasmBuilder, WasmReader } from "@contentauth/c2pa-wasm";

class MemoryBlob extends Blob {
  readonly content: Uint8Array;

  constructor(content: Uint8Array, type: string) {
    super([], { type });
    this.content = content;
  }

  override get size(): number {
    return this.content.byteLength;
  }

  override slice(start = 0, end = this.content.byteLength): Blob {
    return new MemoryBlob(this.content.subarray(start, end), this.type);
  }
}

class MemoryFileReader {
  readAsArrayBuffer(blob: MemoryBlob): ArrayBuffer {
    return Uint8Array.from(blob.content).buffer;
  }
}

export function loadC2paLibrary() {
  Object.assign(globalThis, { FileReaderSync: MemoryFileReader, self: globalThis });
  const path = createRequire(import.meta.url).resolve("@contentauth/c2pa-wasm/c2pa.wasm");
  initSync({ module: readFileSync(path) });
  return {
    Builder: WasmBuilder,
    Reader: WasmReader,
    toBlob: (content: Uint8Array, type: string): Blob => new MemoryBlob(content, type),
  };
}
export type C2paLibrary = ReturnType<typeof loadC2paLibrary>;
