// The settings of a Restate node on this machine: loopback only, small, quiet, and everything kept on disk.

export type RestateNode = {
  dataDir: string;
  ingressPort: number;
  adminPort: number;
  fabricPort: number;
  nodeName: string;
  partitions: number;
  /** For RocksDB. Under load the process takes about 150 MB more. */
  memoryMebibytes: number;
  cluster?: RestateMembership;
};

export type RestateMembership = {
  /** The fabric addresses of all nodes, this one too. */
  addresses: string[];
  replication: number;
  /** True for exactly one node: the one that founds the cluster when there is none. */
  isFounder: boolean;
};

/** As environment variables, which Restate reads as `RESTATE_SECTION__KEY`. */
export function restateSettings(node: RestateNode): Record<string, string> {
  const address = (port: number) => `127.0.0.1:${port}`;
  return {
    RESTATE_BASE_DIR: node.dataDir,
    RESTATE_NODE_NAME: node.nodeName,
    RESTATE_CLUSTER_NAME: "gesso",
    // Besides TCP it would open unix sockets in the data directory, whose path may be too long for one.
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_ADDRESS: address(node.fabricPort),
    RESTATE_ADVERTISED_ADDRESS: `http://${address(node.fabricPort)}/`,
    RESTATE_INGRESS__BIND_ADDRESS: address(node.ingressPort),
    RESTATE_INGRESS__ADVERTISED_ADDRESS: `http://${address(node.ingressPort)}/`,
    RESTATE_ADMIN__BIND_ADDRESS: address(node.adminPort),
    RESTATE_ADMIN__ADVERTISED_ADDRESS: `http://${address(node.adminPort)}/`,
    RESTATE_DEFAULT_NUM_PARTITIONS: String(node.partitions),
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: `${node.memoryMebibytes} MiB`,
    RESTATE_BIFROST__RECORD_CACHE_MEMORY_SIZE: "16 MiB",
    RESTATE_ADMIN__QUERY_ENGINE__MEMORY_SIZE: "128 MiB",
    RESTATE_SHUTDOWN_TIMEOUT: "8s",
    RESTATE_DISABLE_TELEMETRY: "true",
    // It asks GitHub for newer versions, which cannot be switched off: without a network that is an error in the log.
    // And our question whether it is ready is a warning as long as the answer is no.
    RESTATE_LOG_FILTER: "warn,restate=info,restate_admin::query_utils=error,octocrab=off",
    RESTATE_LOG_FORMAT: "compact",
    RESTATE_LOG_DISABLE_ANSI_CODES: "true",
    ...(node.cluster && membership(node.cluster)),
  };
}

function membership(cluster: RestateMembership): Record<string, string> {
  return {
    RESTATE_AUTO_PROVISION: String(cluster.isFounder),
    RESTATE_DEFAULT_REPLICATION: String(cluster.replication),
    RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(cluster.addresses),
    // How long a node that came (back) is not trusted yet. Five seconds is right between machines; on loopback it only
    // keeps a cluster without a leader for that long, and lets the loss of a second node stall it.
    RESTATE_GOSSIP_SUSPECT_INTERVAL: "500ms",
  };
}
