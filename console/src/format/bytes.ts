// File sizes, in the units of the API's limits.
const KIB = 1024;
const MIB = KIB * 1024;

export const formatBytes = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`;
