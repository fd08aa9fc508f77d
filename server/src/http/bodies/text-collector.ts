// Decodes a UTF-8 body while it arrives, in blocks. Decoding a large body at once would block all other requests, and a
// body of many tiny chunks takes no more memory than its text.
import { Fault } from "../../faults/faults.ts";

const BLOCK_BYTES = 64 * 1024;

export type TextCollector = {
  /** Returns a fault if the bytes are not UTF-8. */
  add(chunk: Uint8Array): Fault | undefined;
  /** Frees what was collected. */
  discard(): void;
  /** Throws a fault if the text ends within a character. */
  end(): string;
};

export function createTextCollector(): TextCollector {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let block: Uint8Array | undefined;
  let filled = 0;

  const decode = (bytes: Uint8Array, stream: boolean): Fault | undefined => {
    try {
      text += decoder.decode(bytes, { stream });
      return undefined;
    } catch (thrown) {
      return new Fault("invalid_json", {}, { cause: thrown });
    }
  };
  const takeBlock = () => {
    const bytes = block?.subarray(0, filled) ?? new Uint8Array();
    filled = 0;
    return bytes;
  };

  return {
    add(chunk) {
      for (let at = 0; at < chunk.length; ) {
        block ??= new Uint8Array(BLOCK_BYTES);
        const part = chunk.subarray(at, at + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        at += part.length;
        const fault = filled === BLOCK_BYTES ? decode(takeBlock(), true) : undefined;
        if (fault) return fault;
      }
      return undefined;
    },
    discard() {
      text = "";
      block = undefined;
      filled = 0;
    },
    end() {
      const fault = decode(takeBlock(), false);
      if (fault) throw fault;
      return text;
    },
  };
}
