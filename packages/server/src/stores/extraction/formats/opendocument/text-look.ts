import { childOf, findAll, type XmlElement } from '../docx/xml-tree.ts';
import type { RunLook } from '../raised-text.ts';

/** How a style of text shows it. */
export interface TextLook extends RunLook {
  readonly hidden: boolean;
}

const plain: TextLook = { raised: false, struck: false, hidden: false };

/** Styles derive from each other; a chain of a damaged file may be a circle. */
const longestChain = 20;

/**
 * Returns the looks of the styles of a document by their names, as far as they mark text. A style that says nothing has the look of
 * its parent. Source: OpenDocument 1.3, part 3, 20.411 (text position), 20.391 (line through), 20.417 (display).
 */
export function findLooks(styles: readonly XmlElement[]): ReadonlyMap<string, TextLook> {
  const all = new Map(
    styles
      .flatMap((each) => [...findAll(each, 'style:style')])
      .map((style) => [style.attributes['style:name'] ?? '', style]),
  );
  const looks = new Map<string, TextLook>();
  for (const name of all.keys()) {
    const look = lookOf(name, all);
    if (look.raised || look.struck || look.hidden) looks.set(name, look);
  }
  return looks;
}

function lookOf(name: string, all: ReadonlyMap<string, XmlElement>): TextLook {
  const own: { -readonly [key in keyof TextLook]?: boolean } = {};
  let style = all.get(name);
  for (let at = 0; style !== undefined && at < longestChain; at += 1) {
    const { attributes } = childOf(style, 'style:text-properties') ?? { attributes: {} as Record<string, string> };
    const position = attributes['style:text-position'];
    const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type'];
    const display = attributes['text:display'];
    if (position !== undefined) own.raised ??= /^(?:super|[1-9])/.test(position);
    if (line !== undefined) own.struck ??= line !== 'none';
    if (display !== undefined) own.hidden ??= display === 'none';
    style = all.get(style.attributes['style:parent-style-name'] ?? '');
  }
  return { ...plain, ...own };
}
