// Fetched source images of this process until they are stored. Steps that need the same source at the same time share
// one fetch, and the bytes stay in memory as long as one of them uses them. The total is bounded by the byte budget,
// which results use too: a fetch waits until there is space for the largest possible source.
import type { ByteBudget, ByteReservation } from "../outputs/byte-budget.ts";

/** `release` is called when the bytes are stored or given up. */
export type HeldSource = { bytes: Uint8Array; release(): void };

export type SourceBuffer = {
  /** Waits for space and calls `load`, unless the source is held already. Throws when `signal` is aborted. */
  hold(sourceId: string, load: () => Promise<Uint8Array>, signal: AbortSignal): Promise<HeldSource>;
};

type BufferEntry = { bytes: Promise<Uint8Array>; users: number; reservation: ByteReservation };

export function createSourceBuffer(budget: ByteBudget, maxSourceBytes: number): SourceBuffer {
  const entries = new Map<string, BufferEntry>();

  const use = (entry: BufferEntry): BufferEntry => {
    entry.users++;
    return entry;
  };
  const open = (sourceId: string, load: () => Promise<Uint8Array>, reservation: ByteReservation): BufferEntry => {
    const entry: BufferEntry = { bytes: load(), users: 0, reservation };
    entries.set(sourceId, entry);
    entry.bytes.then(
      ({ byteLength }) => reservation.shrink(byteLength),
      () => undefined,
    );
    return entry;
  };

  /** Another step may open the entry while this one waits for space. */
  const useOrOpen = async (sourceId: string, load: () => Promise<Uint8Array>, signal: AbortSignal) => {
    const held = entries.get(sourceId);
    if (held) return use(held);
    const reservation = await budget.reserve(maxSourceBytes, signal);
    const opened = entries.get(sourceId);
    if (!opened) return use(open(sourceId, load, reservation));
    reservation.release();
    return use(opened);
  };

  const leave = (sourceId: string, entry: BufferEntry) => {
    if (--entry.users > 0) return;
    entries.delete(sourceId);
    entry.reservation.release();
  };

  return {
    async hold(sourceId, load, signal) {
      signal.throwIfAborted();
      const entry = await useOrOpen(sourceId, load, signal);
      try {
        return { bytes: await entry.bytes, release: () => leave(sourceId, entry) };
      } catch (thrown) {
        leave(sourceId, entry);
        throw thrown;
      }
    },
  };
}
