// Marks the error of a request of which no byte was sent. Only the client that owns the socket knows it: an error code
// does not tell, because a connected socket fails with EHOSTUNREACH too, after its request has left.

export const unsentRequest = (cause: unknown): Error =>
  Object.assign(new Error("the request was not sent", { cause }), { isUnsent: true });

export const isUnsentRequest = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown as { isUnsent?: boolean }).isUnsent === true;
