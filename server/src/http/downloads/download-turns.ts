// Shares the event loop between file downloads and all other requests: of all downloads together, only a few read a
// chunk at a time. Without it, a thousand downloads would each handle a chunk in every turn of the event loop.

/** Chunks of 64 KiB that are read at the same time: about 250 MB/s, and about a millisecond per turn. */
const MAX_CHUNKS = 8;

/** Returns a stream with the same bytes, which waits for its turn before each chunk. */
export type TakeTurns = (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;

export function createDownloadTurns(maxChunks = MAX_CHUNKS): TakeTurns {
  let active = 0;
  const waiting: (() => void)[] = [];
  const begin = (): Promise<void> => {
    if (active < maxChunks) {
      active++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  /** The next chunk is read in the next turn of the event loop, after other requests had theirs. */
  const end = () =>
    setImmediate(() => {
      const next = waiting.shift();
      if (next) next();
      else active--;
    });

  return (body) => {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await begin();
          try {
            const { done, value } = await reader.read();
            if (done) controller.close();
            else controller.enqueue(value);
          } finally {
            end();
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      // Nothing is read before the client has taken the chunk before.
      { highWaterMark: 0 },
    );
  };
}
