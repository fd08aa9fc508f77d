// Asks the nodes of the engine in turn. Every request is idempotent, so a node that does not respond is skipped and the
// next one is asked; the following requests start there.
import { Fault } from "../faults/faults.ts";

export type NodeResponse = { status: number; text: string };
/** Returns the response of the first node that responds without a server error. */
export type AskEngine = (send: (url: string) => Promise<NodeResponse>) => Promise<NodeResponse>;

/** `urls`: comma-separated. */
export function createEngineNodes(urls: string): AskEngine {
  const nodes = urls.split(",").map((url) => url.trim().replace(/\/$/, ""));
  let first = 0;
  return async (send) => {
    let cause: unknown;
    for (let turn = 0; turn < nodes.length; turn++) {
      const index = (first + turn) % nodes.length;
      try {
        const response = await send(nodes[index]!);
        if (response.status < 500) {
          first = index;
          return response;
        }
        cause = `${response.status} ${response.text.slice(0, 500)}`;
      } catch (thrown) {
        cause = thrown;
      }
    }
    throw new Fault("dependency_unavailable", {}, { cause });
  };
}
