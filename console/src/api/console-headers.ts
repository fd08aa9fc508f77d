// Marks requests of this page. A page of another site cannot send this header, so the server refuses its requests.
export const CONSOLE_HEADERS = { "x-gesso-console": "1" };
