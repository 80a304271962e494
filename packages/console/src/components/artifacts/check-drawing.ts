const renamed = 'checked-';

/** The elements that an SVG picture may contain. Their cost grows linearly with their number, except for `use`. */
const allowed = new Set(
  (
    'svg g defs symbol title desc metadata path rect circle ellipse line polyline polygon text tspan textPath ' +
    'linearGradient radialGradient stop clipPath use checked-style switch'
  ).split(' '),
);
const namespace = 'http://www.w3.org/2000/svg';

export const drawingLimits = {
  bytes: 1024 * 1024,
  /** The number of elements, including those that `use` repeats. */
  elements: 20_000,
} as const;

/** CSS that refers to something, blurs or moves, and escapes that could hide it. */
const unsafeStyle = /url|filter|mask|animation|transition|@|\\/i;

export interface Drawing {
  /** The title that the picture names itself; empty without one. */
  readonly title: string;
}

/**
 * Checks an SVG picture of a stranger before a browser draws it. In `<img>`, no script runs and nothing is loaded, but some SVGs
 * take a browser forever: entities, and elements that repeat each other. Parsing it runs and loads nothing.
 * @returns undefined when the picture should not be shown
 */
export function checkDrawing(bytes: Uint8Array): Drawing | undefined {
  if (bytes.length > drawingLimits.bytes) return undefined;
  const text = new TextDecoder().decode(bytes);
  if (/<!ENTITY/i.test(text)) return undefined;
  const { documentElement: root } = new DOMParser().parseFromString(withoutEffect(text), 'image/svg+xml');
  const elements = [root, ...root.getElementsByTagName('*')];
  if (root.localName !== 'svg' || elements.length > drawingLimits.elements) return undefined;
  if (!elements.every(isSafe) || countRepeated(root) > drawingLimits.elements) return undefined;
  const title = root.querySelector(':scope > title')?.textContent ?? '';
  return { title: title.trim().slice(0, 200) };
}

/** Renames styles and event handlers. The policy of the page blocks them in a parsed document, but the browser reports each. */
function withoutEffect(text: string): string {
  return text.replace(/<(\/?)style\b/gi, `<$1${renamed}style`).replace(/\s(style|on[a-z]+)=/gi, ` ${renamed}$1=`);
}

function isSafe(element: Element): boolean {
  // Elements of other languages are not drawn, such as the metadata of an editor.
  if (element.namespaceURI !== namespace) return element.closest('metadata') !== null;
  if (!allowed.has(element.localName)) return false;
  if (element.localName === `${renamed}style` && unsafeStyle.test(element.textContent ?? '')) return false;
  if (['filter', 'mask'].some((name) => element.hasAttribute(name))) return false;
  const isInClip = element.closest('clipPath') !== null;
  if (isInClip && (element.localName === 'use' || element.hasAttribute('clip-path'))) return false;
  return !unsafeStyle.test(element.getAttribute(`${renamed}style`) ?? '');
}

/** The number of elements that all `use` elements draw; infinite when one repeats another. */
function countRepeated(root: Element): number {
  const sizes = new Map<string, number>();
  for (const target of root.querySelectorAll('[id]')) {
    const repeats = target.localName === 'use' || target.querySelector('use') !== null;
    sizes.set(target.id, repeats ? Number.POSITIVE_INFINITY : 1 + target.querySelectorAll('*').length);
  }
  const xlink = 'http://www.w3.org/1999/xlink';
  return [...root.querySelectorAll('use')].reduce((count, use) => {
    const href = use.getAttribute('href') ?? use.getAttributeNS(xlink, 'href') ?? '';
    return count + (sizes.get(href.slice(1)) ?? 0);
  }, 0);
}
