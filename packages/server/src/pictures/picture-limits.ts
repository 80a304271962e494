/** Bounds of the conversion of an SVG picture. */
export const pictureLimits = {
  /** Bytes of the SVG. */
  svgBytes: 1024 * 1024,
  /** Bytes of the PNG. */
  pngBytes: 3 * 1024 * 1024,
  /** Pixels of the longer side of the PNG. A larger picture is scaled down. */
  side: 2048,
  /** Pixels of the longer side that an SVG may declare. */
  declaredSide: 32_768,
} as const;
