// Words of the webhooks page.
export const webhooksText = {};
