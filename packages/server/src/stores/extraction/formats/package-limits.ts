/** Bounds of an Office package, whatever its directory claims. The ratio is that of a part of some size. */
export const packageLimits = {
  entries: 10_000,
  unpackedBytes: 500 * 2 ** 20,
  ratio: 300,
  ratioFromBytes: 32 * 2 ** 20,
};
export type PackageLimits = typeof packageLimits;
