/** Bounds of the conversion of an SVG picture. */
export const pictureLimits = {
  /** Bytes of the SVG. */
  svgBytes: 1024 * 1024,
  /** Bytes of the PNG. */
  pngBytes: 3 * 1024 * 1024,
  /** The maximum number of pixels of the longer side of the PNG. Larger pictures are scaled down. */
  side: 2048,
  /** The maximum number of pixels that an SVG may declare for its longer side. */
  declaredSide: 32_768,
} as const;
