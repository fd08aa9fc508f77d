// The list as a value, for those who walk it.
import * as listed from "./index.ts";
import type { Provider } from "./provider.ts";

export const providers: Provider[] = Object.values(listed);
