/** How the samples of a row of pixels are stored. */
export interface SampleLayout {
  /** Bits of one sample: 1, 2, 4, 8 or 16. */
  readonly depth: number;
  readonly channels: number;
  readonly color: 'gray' | 'rgb' | 'cmyk' | readonly number[];
  /** The channel that says how opaque a pixel is. */
  readonly alpha?: number | undefined;
  /** Whether the lowest value of grey is white. */
  readonly isInverted?: boolean;
  /** Whether the lower byte of a sample of 16 bits comes first. */
  readonly isLittleEndian?: boolean;
}

export const white = 255;

/** The brightness of a colour on white paper. */
export function brightness(red: number, green: number, blue: number, opacity = 255): number {
  return Math.round(white + ((0.299 * red + 0.587 * green + 0.114 * blue - white) * opacity) / 255);
}

/**
 * Converts one row of pixels to shades of grey. Only the upper byte of a sample of 16 bits counts.
 * @param target receives the pixels, from `start` in steps of `step`
 */
export function toGrayRow(
  row: Uint8Array,
  count: number,
  layout: SampleLayout,
  { target, start, step }: { readonly target: Uint8Array; readonly start: number; readonly step: number },
): void {
  const { channels, color, alpha, isInverted = false } = layout;
  const sampleAt = sampleReader(row, layout);
  for (let x = 0; x < count; x += 1) {
    const at = x * channels;
    const opacity = alpha === undefined ? 255 : sampleAt(at + alpha);
    target[start + x * step] = grayOf(at, opacity);
  }

  function grayOf(at: number, opacity: number): number {
    const first = sampleAt(at);
    if (typeof color === 'object') return color[first] ?? white;
    if (color === 'gray') {
      const value = isInverted ? 255 - first : first;
      return brightness(value, value, value, opacity);
    }
    const [second, third] = [sampleAt(at + 1), sampleAt(at + 2)];
    if (color === 'rgb') return brightness(first, second, third, opacity);
    const ink = 255 - sampleAt(at + 3);
    return brightness(
      ...([first, second, third].map((value) => ((255 - value) * ink) / 255) as [number, number, number]),
    );
  }
}

/** Returns samples as values up to 255; indexes of a palette stay as they are. */
function sampleReader(row: Uint8Array, { depth, color, isLittleEndian = false }: SampleLayout) {
  if (depth === 8) return (index: number) => row[index] ?? 0;
  if (depth === 16) return (index: number) => row[2 * index + (isLittleEndian ? 1 : 0)] ?? 0;
  const most = 2 ** depth - 1;
  const scale = typeof color === 'object' ? 1 : 255 / most;
  return (index: number) => {
    const bit = index * depth;
    return (((row[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & most) * scale;
  };
}
