// Bounds the bytes of sent files that an API process holds in memory while isolated processes inspect, decode or verify
// them. Files wait on disk for their turn, and tenants take turns, so one that sends many large files delays only
// itself. How many can wait is bounded by the budget of forms.

export type FileTurns = {
  /** Performs the work when the bytes fit. A file that is larger than the limit has its turn alone. */
  take<T>(tenantId: string, bytes: number, work: () => Promise<T>): Promise<T>;
};

type Waiter = { bytes: number; begin(): void };

export function createFileTurns(maxBytes: number): FileTurns {
  /** The tenant whose turn is next comes first. */
  const queues = new Map<string, Waiter[]>();
  let usedBytes = 0;

  const beginNext = () => {
    for (const [tenantId, [next, ...rest]] of queues) {
      // A large file is not overtaken, or small ones could keep it waiting for ever.
      if (usedBytes > 0 && usedBytes + next!.bytes > maxBytes) return;
      queues.delete(tenantId);
      if (rest.length > 0) queues.set(tenantId, rest);
      usedBytes += next!.bytes;
      next!.begin();
    }
  };
  const wait = (tenantId: string, bytes: number) => {
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    queues.set(tenantId, [...(queues.get(tenantId) ?? []), { bytes, begin }]);
    beginNext();
    return promise;
  };

  return {
    async take(tenantId, bytes, work) {
      await wait(tenantId, bytes);
      try {
        return await work();
      } finally {
        usedBytes -= bytes;
        beginNext();
      }
    },
  };
}
