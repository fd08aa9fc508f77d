// The selected tenant, in the URL.
export type TenantsSearch = { tenant?: string };

const ID = /^[0-9a-f-]{36}$/;

export const parseTenantsSearch = ({ tenant }: Record<string, unknown>): TenantsSearch =>
  typeof tenant === "string" && ID.test(tenant) ? { tenant } : {};
