// Lets the heap of a server triple between two major garbage collections. V8 chooses a factor by how fast a process
// allocates: a server that waits most of the time gets 1.1, and then collects 60 MB after every few images.
import { setFlagsFromString } from "node:v8";

/** V8 itself lets the heap of a busy process grow by 300 percent. The maximum size of the heap stays as it is. */
const GROWTH_PERCENT = 200;

export const allowHeapGrowth = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
