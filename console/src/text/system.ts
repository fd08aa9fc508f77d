// Words of the system page.
export const systemText = {};
