// Fetched source images of this process until they are stored. Steps that need the same source at the same time share
// one fetch, and the bytes stay in memory as long as one of them uses them. The total is bounded: a fetch waits until
// there is space for the largest possible source.

/** `release` is called when the bytes are stored or given up. */
export type HeldSource = { bytes: Uint8Array; release(): void };

export type SourceBuffer = {
  /** Waits for space and calls `load`, unless the source is held already. Throws when `signal` is aborted. */
  hold(sourceId: string, load: () => Promise<Uint8Array>, signal: AbortSignal): Promise<HeldSource>;
};

type BufferEntry = { bytes: Promise<Uint8Array>; users: number; reservedBytes: number };

export function createSourceBuffer(limits: { maxBytes: number; maxSourceBytes: number }): SourceBuffer {
  const entries = new Map<string, BufferEntry>();
  const waiting = new Set<() => void>();
  let usedBytes = 0;

  const reserve = (bytes: number) => {
    usedBytes += bytes;
    if (bytes < 0) for (const wake of waiting) wake();
  };
  // One source always fits, however small the limit is.
  const hasSpace = () => usedBytes === 0 || usedBytes + limits.maxSourceBytes <= limits.maxBytes;

  const waitForRelease = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener("abort", wake);
    });

  const open = (sourceId: string, load: () => Promise<Uint8Array>): BufferEntry => {
    const entry: BufferEntry = { bytes: load(), users: 0, reservedBytes: limits.maxSourceBytes };
    entries.set(sourceId, entry);
    reserve(entry.reservedBytes);
    entry.bytes.then(
      ({ byteLength }) => {
        reserve(byteLength - entry.reservedBytes);
        entry.reservedBytes = byteLength;
      },
      () => undefined,
    );
    return entry;
  };

  const leave = (sourceId: string, entry: BufferEntry) => {
    if (--entry.users > 0) return;
    entries.delete(sourceId);
    reserve(-entry.reservedBytes);
  };

  return {
    async hold(sourceId, load, signal) {
      signal.throwIfAborted();
      // A source that another step holds needs no further space.
      while (!entries.has(sourceId) && !hasSpace()) {
        await waitForRelease(signal);
        signal.throwIfAborted();
      }
      const entry = entries.get(sourceId) ?? open(sourceId, load);
      entry.users++;
      try {
        return { bytes: await entry.bytes, release: () => leave(sourceId, entry) };
      } catch (thrown) {
        leave(sourceId, entry);
        throw thrown;
      }
    },
  };
}
