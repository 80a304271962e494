import { isWhite, leastPoints } from '../unseen-look.ts';
import { childOf, childrenOf, findAll, isOn, valOf, type XmlElement } from './xml-tree.ts';

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
  /** How the styles of a paragraph let its text look. */
  paragraphLook(properties: XmlElement | undefined): Look;
  /** Returns how a run looks. @param paragraph the look of its paragraph */
  look(properties: XmlElement | undefined, paragraph: Look): Look;
  isMarkHidden(paragraphProperties: XmlElement | undefined): boolean;
  /** Whether a style of tables gives cells another colour. */
  shadesTables(style: string | undefined): boolean;
  /** The list that a list style stands for. */
  numberingOfStyle(style: string): string | undefined;
}

/** What decides whether and how text is shown. */
export interface Look {
  readonly hidden: boolean;
  readonly struck: boolean;
  readonly raised: boolean;
  /** The colour of the paper. */
  readonly white: boolean;
  /** Whether another colour lies behind it. */
  readonly backed: boolean;
  /** Smaller than two points. */
  readonly tiny: boolean;
}
export const plainLook: Look = {
  hidden: false,
  struck: false,
  raised: false,
  white: false,
  backed: false,
  tiny: false,
};
type OwnLook = { readonly [name in keyof Look]: boolean | undefined };

interface Style {
  readonly own: OwnLook;
  readonly hasShades: boolean;
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

  const defaults = childOf(childOf(childOf(childOf(part, 'w:styles'), 'w:docDefaults'), 'w:rPrDefault'), 'w:rPr');
  const usual = withLook(plainLook, ownLook(defaults));
  const looks = new Map<string, OwnLook>();

  function lookOfStyle(id: string): OwnLook {
    const known = looks.get(id);
    if (known !== undefined) return known;
    const own = [...chain(id)].map((style) => style.own);
    const first = (name: keyof Look) => own.find((look) => look[name] !== undefined)?.[name];
    const look = {
      hidden: first('hidden'),
      struck: first('struck'),
      raised: first('raised'),
      white: first('white'),
      backed: first('backed'),
      tiny: first('tiny'),
    };
    looks.set(id, look);
    return look;
  }

  function paragraphLook(properties: XmlElement | undefined): Look {
    const id = valOf(properties, 'w:pStyle') ?? standard;
    const styled = id === undefined ? usual : withLook(usual, lookOfStyle(id));
    return { ...styled, backed: isShaded(properties) ?? styled.backed };
  }

  function look(properties: XmlElement | undefined, paragraph: Look): Look {
    if (properties === undefined) return paragraph;
    const id = valOf(properties, 'w:rStyle');
    const styled = id === undefined ? paragraph : toggled(paragraph, lookOfStyle(id));
    return withLook(styled, ownLook(properties));
  }

  return {
    paragraphLook,
    look,
    isMarkHidden: (properties) => look(childOf(properties, 'w:rPr'), paragraphLook(properties)).hidden,
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
    shadesTables: (id) => [...chain(id)].some((style) => style.hasShades),
  };
}

function readStyle(element: XmlElement): Style {
  const properties = childOf(element, 'w:pPr');
  const own = ownLook(childOf(element, 'w:rPr'));
  return {
    own: { ...own, backed: own.backed ?? isShaded(properties) },
    hasShades: element.attributes.type === 'table' && findAll(element, 'w:shd').some(isDark),
    name: valOf(element, 'w:name') ?? '',
    basedOn: valOf(element, 'w:basedOn'),
    outline: toLevel(valOf(properties, 'w:outlineLvl')),
    numbering: readNumbering(properties),
  };
}

function withLook(look: Look, own: OwnLook): Look {
  if (own === nothingOwn) return look;
  return {
    hidden: own.hidden ?? look.hidden,
    struck: own.struck ?? look.struck,
    raised: own.raised ?? look.raised,
    white: own.white ?? look.white,
    backed: own.backed ?? look.backed,
    tiny: own.tiny ?? look.tiny,
  };
}

/** A property that the styles of the paragraph and of the run both set is off (ECMA-376 17.7.3). */
function toggled(look: Look, own: OwnLook): Look {
  const { hidden = false, struck = false } = own;
  return { ...withLook(look, own), hidden: look.hidden !== hidden, struck: look.struck !== struck };
}

function ownLook(properties: XmlElement | undefined): OwnLook {
  if (properties === undefined) return nothingOwn;
  const align = valOf(properties, 'w:vertAlign');
  const lift = Number(valOf(properties, 'w:position'));
  const [color, size] = [valOf(properties, 'w:color'), valOf(properties, 'w:sz')];
  const isSet = (name: string) => childOf(properties, name) !== undefined;
  return {
    hidden: isSet('w:vanish') ? isOn(properties, 'w:vanish') : undefined,
    struck:
      isSet('w:strike') || isSet('w:dstrike')
        ? isOn(properties, 'w:strike') || isOn(properties, 'w:dstrike')
        : undefined,
    raised: align === undefined ? (lift >= leastLift ? true : undefined) : align === 'superscript',
    white: color === undefined ? undefined : isWhite(color),
    backed: isShaded(properties),
    tiny: size === undefined ? undefined : Number(size) < 2 * leastPoints,
  };
}
const nothingOwn: OwnLook = {
  hidden: undefined,
  struck: undefined,
  raised: undefined,
  white: undefined,
  backed: undefined,
  tiny: undefined,
};
/** Whether the properties of a run, a paragraph, a cell or a table give it another colour than that of the paper. */
export function isShaded(properties: XmlElement | undefined): boolean | undefined {
  const shade = childOf(properties, 'w:shd');
  const light = valOf(properties, 'w:highlight');
  if (light !== undefined) return light !== 'none' && light !== 'white';
  return shade === undefined ? undefined : isDark(shade);
}

function isDark({ attributes: { val = 'clear', fill = 'auto' } }: XmlElement): boolean {
  return !/^(?:clear|nil)$/.test(val) || !(fill === 'auto' || isWhite(fill));
}

/** Half points. */
const leastLift = 4;

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
