// Opens WebSockets to providers that push job notifications. The URL comes from the operator's settings.

export type OpenWebSocket = (url: string, headers: Record<string, string>) => WebSocket;

/** Node's WebSocket accepts headers, which the DOM types do not have. */
type WebSocketWithHeaders = new (url: string, options: { headers: Record<string, string> }) => WebSocket;

export const openProviderWebSocket: OpenWebSocket = (url, headers) =>
  new (WebSocket as unknown as WebSocketWithHeaders)(url, { headers });
