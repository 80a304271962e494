import { readPlainFile } from './plain-file.ts';

/** The checked icon of a bundle. */
export interface BundleIcon {
  readonly content: Buffer;
  readonly mediaType: 'image/svg+xml' | 'image/png';
}

const maxIconBytes = 64 * 1024;
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads the icon that a manifest names. The refusal is a sentence. */
export async function readIcon({
  folder,
  name,
}: {
  readonly folder: string;
  readonly name: string;
}): Promise<{ icon: BundleIcon } | { refusal: string }> {
  const file = await readPlainFile({ folder, name, maxBytes: maxIconBytes });
  if ('refusal' in file) return file;
  const { content } = file;
  if (name.endsWith('.png')) {
    if (!content.subarray(0, 8).equals(pngSignature)) return { refusal: `${name} is not a PNG image.` };
    return { icon: { content, mediaType: 'image/png' } };
  }
  if (!/<svg[\s>]/.test(content.subarray(0, 4096).toString('utf8'))) return { refusal: `${name} is not an SVG image.` };
  const forbidden = findForbidden(content.toString('utf8'));
  if (forbidden !== null) return { refusal: `${name} contains ${forbidden}, which is not allowed in an icon.` };
  return { icon: { content, mediaType: 'image/svg+xml' } };
}

const drawing = new Set(
  `svg g path rect circle ellipse line polyline polygon text tspan title desc defs symbol use clipPath mask pattern
  linearGradient radialGradient stop`.split(/\s+/),
);

/**
 * Finds the first part of an SVG image that does more than draw: an element outside the list, a document type, an event attribute
 * or an external reference. Comments and text are searched too, so the result does not depend on how a browser parses the image.
 */
function findForbidden(svg: string): string | null {
  for (const [, name = ''] of svg.matchAll(/<([^\s<>/]+)/g)) {
    const isHarmless = name === '?xml' || name.startsWith('!--') || drawing.has(name);
    if (!isHarmless) return `<${name.slice(0, 30)}>`;
  }
  if (/\son[a-z]+\s*=/i.test(svg)) return 'an event attribute';
  for (const [, value = ''] of svg.matchAll(/href\s*=\s*["']([^"']*)/gi)) {
    if (!value.startsWith('#')) return 'a reference to another file';
  }
  return null;
}
