// Lets the heap of a server double between two major garbage collections. V8 chooses a factor by how fast a process
// allocates: a server that waits most of the time gets 1.1, and then collects 60 MB after every few images.
import { setFlagsFromString } from "node:v8";

/** V8 lets the heap of a busy process grow by up to 300 percent, and its maximum size stays as it is. */
const GROWTH_PERCENT = 100;

export const allowHeapGrowth = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
