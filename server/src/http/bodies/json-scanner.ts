// Bounds a JSON body while it arrives, before it is parsed. Long strings may be base64 images and are bounded by the
// size of the body; everything else (structure, numbers, short strings) and the number of values have limits of their
// own, because parsing and validating them costs time and memory per value.
import { Fault } from "../../faults/faults.ts";

export type JsonBounds = { maxPlainBytes: number; maxValues: number };

/** Strings up to this length count as plain bytes; a longer one can only be an image or an error. */
const SHORT_STRING_BYTES = 4096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = [0x5b, 0x7b];

/** Returns a function that takes the body chunk by chunk and returns a fault as soon as a bound is exceeded. */
export function createJsonScanner({ maxPlainBytes, maxValues }: JsonBounds): (chunk: Uint8Array) => Fault | undefined {
  let plainBytes = 0;
  let values = 1;
  let isInString = false;
  let stringBytes = 0;
  let isEscaped = false;

  /** Returns the position after the closing quote, or the end of the chunk. */
  const skipString = (chunk: Uint8Array, start: number): number => {
    let at = start;
    if (isEscaped && at < chunk.length) {
      isEscaped = false;
      at++;
    }
    while (at < chunk.length) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      let backslashes = 0;
      while (end - 1 - backslashes >= at && chunk[end - 1 - backslashes] === BACKSLASH) backslashes++;
      if (quote < 0) {
        isEscaped = backslashes % 2 === 1;
        return end;
      }
      at = quote + 1;
      if (backslashes % 2 === 0) {
        isInString = false;
        return at;
      }
    }
    return at;
  };

  const scan = (chunk: Uint8Array): void => {
    for (let at = 0; at < chunk.length; ) {
      if (isInString) {
        const next = skipString(chunk, at);
        stringBytes += next - at;
        at = next;
        if (!isInString && stringBytes <= SHORT_STRING_BYTES) plainBytes += stringBytes;
        continue;
      }
      const byte = chunk[at++]!;
      plainBytes++;
      if (byte === QUOTE) {
        isInString = true;
        stringBytes = 0;
      } else if (byte === COMMA || OPENING.includes(byte)) values++;
    }
  };

  return (chunk) => {
    scan(chunk);
    if (plainBytes > maxPlainBytes) return new Fault("payload_too_large");
    return values > maxValues ? new Fault("invalid_json", { reason: "too_many_values" }) : undefined;
  };
}
