// Words of the tenants page.
export const tenantsText = {};
