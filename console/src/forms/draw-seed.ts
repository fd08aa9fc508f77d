// A random seed, over the whole range that the contract allows.
export const drawSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0]!;
