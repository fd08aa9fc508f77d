// Bounds the bytes of sources and results that one process holds in memory. A step reserves bytes before it reads them,
// and waits while other steps hold too much; reservations are granted in the order in which they were asked for.

export type ByteReservation = {
  /** Keeps only this much of the reservation. */
  shrink(bytes: number): void;
  /** Enlarges the reservation if that is possible without waiting. A wait would hold what others may wait for. */
  tryGrow(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
};

export type ByteBudget = {
  /**
   * Waits until the bytes are free. A reservation that is larger than the budget is granted when nothing else is
   * reserved, so everything gets its turn. Throws when `signal` is aborted.
   */
  reserve(bytes: number, signal?: AbortSignal): Promise<ByteReservation>;
};

type Waiter = { bytes: number; grant(): void };

export function createByteBudget(maxBytes: number): ByteBudget {
  const waiting: Waiter[] = [];
  let usedBytes = 0;

  const hasSpace = (bytes: number) => usedBytes === 0 || usedBytes + bytes <= maxBytes;
  const grantNext = () => {
    for (let next = waiting[0]; next && hasSpace(next.bytes); next = waiting[0]) {
      waiting.shift();
      usedBytes += next.bytes;
      next.grant();
    }
  };
  const open = (bytes: number): ByteReservation => {
    let heldBytes = bytes;
    const keep = (kept: number) => {
      usedBytes -= heldBytes - kept;
      heldBytes = kept;
      grantNext();
    };
    return {
      shrink: (kept) => keep(Math.min(kept, heldBytes)),
      tryGrow(wanted) {
        const added = wanted - heldBytes;
        const isAlone = usedBytes === heldBytes;
        if (added > 0 && !isAlone && (waiting.length > 0 || usedBytes + added > maxBytes)) return false;
        usedBytes += Math.max(added, 0);
        heldBytes += Math.max(added, 0);
        return true;
      },
      release: () => keep(0),
    };
  };

  return {
    reserve: (bytes, signal) =>
      new Promise((resolve, reject) => {
        const refuse = () => {
          const index = waiting.indexOf(waiter);
          if (index < 0) return;
          waiting.splice(index, 1);
          reject(signal?.reason);
          grantNext();
        };
        const grant = () => {
          signal?.removeEventListener("abort", refuse);
          resolve(open(bytes));
        };
        const waiter: Waiter = { bytes, grant };
        waiting.push(waiter);
        if (signal?.aborted) return refuse();
        signal?.addEventListener("abort", refuse);
        grantNext();
      }),
  };
}
