// File sizes, in the units of the API's limits.
const KIB = 1024;
const MIB = KIB * 1024;
const GIB = MIB * 1024;
const TIB = GIB * 1024;

export function formatBytes(bytes: number): string {
  if (bytes < MIB) return `${Math.ceil(bytes / KIB)} KiB`;
  if (bytes < GIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return bytes < TIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${(bytes / TIB).toFixed(1)} TiB`;
}
