import { childOf, childrenOf, valOf, type XmlElement } from './xml-tree.ts';

export interface NumberingReference {
  readonly id: string | undefined;
  readonly level: number | undefined;
}

/** The structure that paragraph styles define. */
export interface Styles {
  /** 1 to 6; undefined for text. */
  headingLevel(properties: XmlElement | undefined): number | undefined;
  /** The list of a paragraph, from the paragraph or its style; undefined without a list. */
  numbering(properties: XmlElement | undefined): { readonly id: string; readonly level: number } | undefined;
  /** The list that a list style stands for. */
  numberingOfStyle(style: string): string | undefined;
}

interface Style {
  readonly name: string;
  readonly basedOn: string | undefined;
  readonly outline: number | undefined;
  readonly numbering: NumberingReference;
}

/** The maximum length of a chain of styles, which may be circular. */
const longestChain = 30;

export function readStyles(part: XmlElement | undefined): Styles {
  const styles = new Map<string, Style>();
  let standard: string | undefined;
  for (const element of childrenOf(childOf(part, 'w:styles'), 'w:style')) {
    const { styleId = '', type, default: isDefault } = element.attributes;
    styles.set(styleId, readStyle(element));
    if (type === 'paragraph' && /^(?:1|true|on)$/.test(isDefault ?? '')) standard = styleId;
  }

  function* chain(id: string | undefined): Generator<Style> {
    let next = id;
    for (let length = 0; next !== undefined && length < longestChain; length += 1) {
      const style = styles.get(next);
      if (style === undefined) return;
      yield style;
      next = style.basedOn;
    }
  }

  return {
    headingLevel: (properties) => {
      const own = toLevel(valOf(properties, 'w:outlineLvl'));
      if (own !== undefined) return own > 9 ? undefined : Math.min(own, 6);
      for (const { name, outline } of chain(valOf(properties, 'w:pStyle') ?? standard)) {
        const level = levelOfName(name) ?? outline;
        // A style that only removes itself from the table of contents still looks like its base style.
        if (level !== undefined && level <= 9) return Math.min(level, 6);
      }
      return undefined;
    },
    numbering: (properties) => {
      const own = readNumbering(properties);
      const inherited = [...chain(valOf(properties, 'w:pStyle') ?? standard)].map((style) => style.numbering);
      const all = [own, ...inherited];
      const id = all.find((reference) => reference.id !== undefined)?.id;
      const level = all.find((reference) => reference.level !== undefined)?.level ?? 0;
      return id === undefined || id === '0' ? undefined : { id, level };
    },
    numberingOfStyle: (id) => styles.get(id)?.numbering.id,
  };
}

function readStyle(element: XmlElement): Style {
  const properties = childOf(element, 'w:pPr');
  return {
    name: valOf(element, 'w:name') ?? '',
    basedOn: valOf(element, 'w:basedOn'),
    outline: toLevel(valOf(properties, 'w:outlineLvl')),
    numbering: readNumbering(properties),
  };
}

function readNumbering(properties: XmlElement | undefined): NumberingReference {
  const reference = childOf(properties, 'w:numPr');
  const level = Number.parseInt(valOf(reference, 'w:ilvl') ?? '', 10);
  return { id: valOf(reference, 'w:numId'), level: Number.isNaN(level) ? undefined : level };
}

/** The file counts levels from 0; 9 stands for text. */
function toLevel(value: string | undefined): number | undefined {
  const level = Number.parseInt(value ?? '', 10);
  return Number.isNaN(level) ? undefined : level + 1;
}

function levelOfName(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const match = /^heading ([1-9])$/i.exec(name);
  return match === null ? undefined : Number(match[1]);
}
