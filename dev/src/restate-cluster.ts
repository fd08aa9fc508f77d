// Runs a Restate cluster of several nodes on this machine. Each node can be killed and restarted on its own.
import { join } from "node:path";
import { type RestateOptions, type RestateProcess, startRestate } from "./restate.ts";

export type RestateClusterOptions = {
  dataDir: string;
  /** First of the ports to use, three for each node: ingress, admin, fabric. */
  basePort: number;
  nodes?: number;
  /** Nodes that must store a record before it is committed. Two of three survive the loss of any one node. */
  replication?: number;
  partitions?: number;
  memoryMebibytes?: number;
  settings?: Record<string, string>;
};

export type RestateCluster = {
  /** By index; `start(index)` replaces the process at that index. */
  nodes: RestateProcess[];
  /** Restarts a node that was killed or stopped. */
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

  // All nodes start in parallel: a joining node waits for the metadata of the others, and after a full stop for a
  // quorum.
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
