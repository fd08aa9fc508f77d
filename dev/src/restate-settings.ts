// Settings of a Restate node on this machine: loopback only, little memory, few log lines, all state on disk.

export type RestateNode = {
  dataDir: string;
  ingressPort: number;
  adminPort: number;
  fabricPort: number;
  nodeName: string;
  partitions: number;
  /** Memory of RocksDB. Under load the process uses about 150 MB more. */
  memoryMebibytes: number;
  cluster?: RestateMembership;
};

export type RestateMembership = {
  /** The fabric addresses of all nodes, including this one. */
  addresses: string[];
  replication: number;
  /** True for exactly one node: it provisions the cluster on the first start. */
  isFounder: boolean;
};

/** Environment variables in the form `RESTATE_SECTION__KEY`. */
export function restateSettings(node: RestateNode): Record<string, string> {
  const address = (port: number) => `127.0.0.1:${port}`;
  return {
    RESTATE_BASE_DIR: node.dataDir,
    RESTATE_NODE_NAME: node.nodeName,
    RESTATE_CLUSTER_NAME: "gesso",
    // Without this Restate also opens Unix sockets in the data directory, whose path may be too long for a socket.
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
    // Restate checks GitHub for newer versions, which cannot be disabled and logs an error when offline. The readiness
    // query logs a warning until the node is ready.
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
    // How long a node that has (re)joined stays suspect. The default of 5 s suits separate machines; on loopback it
    // only delays the election of a leader and lets the loss of a second node stall the cluster.
    RESTATE_GOSSIP_SUSPECT_INTERVAL: "500ms",
  };
}
