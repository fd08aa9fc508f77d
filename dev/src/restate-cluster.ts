// Several Restate nodes joined as one cluster on this machine, each to be killed and started again on its own.
import { join } from "node:path";
import { type RestateOptions, type RestateProcess, startRestate } from "./restate.ts";

export type RestateClusterOptions = {
  dataDir: string;
  /** Ports from here on, three for each node: ingress, admin, fabric. */
  basePort: number;
  nodes?: number;
  /** On how many nodes a record must lie before it counts. Two of three outlive the loss of any one. */
  replication?: number;
  partitions?: number;
  memoryMebibytes?: number;
  settings?: Record<string, string>;
};

export type RestateCluster = {
  /** By index; after `start(index)` the new part stands in the place of the old. */
  nodes: RestateProcess[];
  /** Starts a node again after it was killed or stopped. */
  start(index: number): Promise<RestateProcess>;
  stop(): Promise<void>;
};

export async function startRestateCluster(options: RestateClusterOptions): Promise<RestateCluster> {
  const { dataDir, basePort, nodes: count = 3, replication = 2, ...rest } = options;
  const fabricPort = (index: number) => basePort + index * 3 + 2;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const addresses = indexes.map((index) => `http://127.0.0.1:${fabricPort(index)}/`);
  const nodeOptions = (index: number): RestateOptions => ({
    ...rest,
    dataDir: join(dataDir, `node-${index + 1}`),
    nodeName: `gesso-${index + 1}`,
    ingressPort: basePort + index * 3,
    adminPort: basePort + index * 3 + 1,
    fabricPort: fabricPort(index),
    cluster: { addresses, replication, isFounder: index === 0 },
  });

  // All at once: a node that joins waits for the metadata of the others, and after a full stop each waits for a majority.
  const starts = await Promise.allSettled(indexes.map((index) => startRestate(nodeOptions(index))));
  const nodes = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failure = starts.find((start) => start.status === "rejected");
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const start = async (index: number) => {
    nodes[index] = await startRestate(nodeOptions(index));
    return nodes[index];
  };
  return { nodes, start, stop };
}
