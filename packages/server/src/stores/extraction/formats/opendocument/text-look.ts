import { childOf, childrenOf, findAll, type XmlElement } from '../docx/xml-tree.ts';
import type { RunLook } from '../raised-text.ts';
import { isWhite, leastPoints } from '../unseen-look.ts';

/** How text shows against the paper. Undefined: as the text around it. */
export interface PaperLook {
  /** The colour of the paper. */
  readonly white: boolean | undefined;
  /** Whether another colour lies behind it. */
  readonly backed: boolean | undefined;
  /** Smaller than people can read. */
  readonly tiny: boolean | undefined;
}

/** How a style of text shows it. */
export interface TextLook extends RunLook, PaperLook {
  readonly hidden: boolean;
}

export const plainLook: PaperLook = { white: undefined, backed: undefined, tiny: undefined };

/** Styles derive from each other; a chain of a damaged file may be a circle. */
const longestChain = 20;

/**
 * Returns the looks of the styles of a document by their names, as far as they differ from the text around. A style that says nothing has the
 * look of its parent. Source: OpenDocument 1.3, part 3, 20.411 (text position), 20.391 (line through), 20.417 (display).
 */
export function findLooks(
  styles: readonly XmlElement[],
  ...families: readonly string[]
): ReadonlyMap<string, TextLook> {
  const all = createStyles(styles, ...families);
  const looks = new Map<string, TextLook>();
  for (const name of all.names) {
    const look = lookOf(all.chain(name));
    if (Object.values(look).some((value) => value === true) || look.white === false || look.tiny === false)
      looks.set(name, look);
  }
  return looks;
}

interface Styles {
  readonly names: Iterable<string>;
  /** A style and those that it derives from. */
  chain(name: string): readonly XmlElement[];
}

/** Finds the styles of some families. A style of a damaged file may have none. */
export function createStyles(styles: readonly XmlElement[], ...families: readonly string[]): Styles {
  const all = new Map(
    styles
      .flatMap((each) => [...findAll(each, 'style:style')])
      .filter(({ attributes: { 'style:family': family } }) => family === undefined || families.includes(family))
      .map((style) => [style.attributes['style:name'] ?? '', style]),
  );
  return {
    names: all.keys(),
    chain: (name) => {
      const chain: XmlElement[] = [];
      let style = all.get(name);
      for (; style !== undefined && chain.length < longestChain; ) {
        chain.push(style);
        style = all.get(style.attributes['style:parent-style-name'] ?? '');
      }
      return chain;
    },
  };
}

type Attributes = XmlElement['attributes'];
type Own = { -readonly [key in keyof TextLook]: TextLook[key] | undefined };

function lookOf(chain: readonly XmlElement[]): TextLook {
  const own: Own = { ...plainLook, raised: undefined, struck: undefined, hidden: undefined };
  for (const style of chain) {
    const { attributes } = childOf(style, 'style:text-properties') ?? { attributes: {} as Attributes };
    const position = attributes['style:text-position'];
    const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type'];
    const display = attributes['text:display'];
    if (position !== undefined) own.raised ??= /^(?:super|[1-9])/.test(position);
    if (line !== undefined) own.struck ??= line !== 'none';
    if (display !== undefined) own.hidden ??= display === 'none';
    own.white ??= whiteOf(attributes);
    own.tiny ??= tinyOf(attributes['fo:font-size']);
    own.backed ??= backedOf(style);
  }
  const { hidden = false, raised = false, struck = false } = own;
  return { ...own, hidden, raised, struck };
}

function whiteOf({ 'fo:color': color, 'style:use-window-font-color': isAutomatic }: Attributes): boolean | undefined {
  if (isAutomatic === 'true') return false;
  return color === undefined ? undefined : isWhite(color);
}

function tinyOf(size: string | undefined): boolean | undefined {
  return size?.endsWith('pt') === true ? Number.parseFloat(size) < leastPoints : undefined;
}

/** Whether the properties of a style give its text, box, cell or page another colour than that of paper. */
function backedOf(style: XmlElement | undefined): boolean | undefined {
  let backed: boolean | undefined;
  for (const properties of childrenOf(style)) {
    const {
      'fo:background-color': color,
      'draw:fill': fill,
      'draw:fill-color': fillColor = '',
    } = properties.attributes;
    const hasPicture = childOf(properties, 'style:background-image')?.attributes['xlink:href'] !== undefined;
    const isFilled = fill !== undefined && fill !== 'none' && !(fill === 'solid' && isWhite(fillColor));
    if (hasPicture || isFilled || (color !== undefined && color !== 'transparent' && !isWhite(color))) return true;
    if (color !== undefined || fill !== undefined) backed = false;
  }
  return backed;
}

/** Tells whether a style puts another colour behind text. Undefined: it does not say so. */
export type Fills = (style: string) => boolean | undefined;

export function createFills(styles: readonly XmlElement[], ...families: readonly string[]): Fills {
  const all = createStyles(styles, ...families);
  return (name) => {
    for (const style of all.chain(name)) {
      const backed = backedOf(style);
      if (backed !== undefined) return backed;
    }
    return undefined;
  };
}

/** Whether the pages have a colour, or something lies behind their text. */
export function hasBackdrop(styles: readonly XmlElement[]): boolean {
  const name = 'office:automatic-styles';
  const automatic = styles.map((each) => (each.name === name ? each : childOf(each, name)));
  return automatic.some(
    (each) =>
      [...findAll(each, 'style:page-layout')].some((layout) => backedOf(layout) === true) ||
      [...findAll(each, 'style:graphic-properties')].some(
        ({ attributes }) => attributes['style:run-through'] === 'background',
      ),
  );
}
