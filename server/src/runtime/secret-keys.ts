// The keys of one purpose, derived from the server's secrets. The first key signs and encrypts; all of them verify and
// decrypt, so that a secret can be rotated while everything it signed stays valid.
export type SecretKeys = readonly [current: Uint8Array, ...accepted: Uint8Array[]];
