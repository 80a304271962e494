import { Parser } from 'htmlparser2';
import { fileDamaged } from '../../extraction-error.ts';

/** An element. Names have the usual prefix of their namespace, independent of the prefix in the document. */
export interface XmlElement {
  readonly name: string;
  /** WordprocessingML attributes have no prefix. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Array<XmlElement | string>;
}

/** Transitional and strict documents, by the part of the namespace they share. */
const namespaces: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/wordprocessingml(?:\/2006)?\/main$/, 'w'],
  [/\/officeDocument(?:\/2006)?\/math$/, 'm'],
  [/\/officeDocument(?:\/2006)?\/relationships$/, 'r'],
  [/\/drawingml(?:\/2006)?\/main$/, 'a'],
  [/\/drawingml(?:\/2006)?\/chart$/, 'c'],
  [/\/drawingml(?:\/2006)?\/wordprocessingDrawing$/, 'wp'],
  [/\/presentationml(?:\/2006)?\/main$/, 'p'],
  [/^urn:schemas-microsoft-com:vml$/, 'v'],
  [/\/drawingml(?:\/2006)?\/diagram$/, 'dgm'],
  [/\/markup-compatibility\/2006$/, 'mc'],
  [/\/word\/2010\/wordml$/, 'w14'],
  [/\/package\/2006\/relationships$/, ''],
  [/^urn:oasis:names:tc:opendocument:xmlns:office:1\.0$/, 'office'],
  [/^urn:oasis:names:tc:opendocument:xmlns:text:1\.0$/, 'text'],
  [/^urn:oasis:names:tc:opendocument:xmlns:table:1\.0$/, 'table'],
  [/^urn:oasis:names:tc:opendocument:xmlns:style:1\.0$/, 'style'],
  [/^urn:oasis:names:tc:opendocument:xmlns:presentation:1\.0$/, 'presentation'],
  [/^urn:oasis:names:tc:opendocument:xmlns:chart:1\.0$/, 'chart'],
  [/^urn:oasis:names:tc:opendocument:xmlns:drawing:1\.0$/, 'draw'],
  [/^urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1\.0$/, 'svg'],
  [/^http:\/\/www\.w3\.org\/1998\/Math\/MathML$/, ''],
];

/** Namespaces of extensions, of which at least the text is read. */
const extensions = /^(?:http:\/\/schemas\.(?:microsoft\.com\/office|openxmlformats\.org)\/|urn:schemas-microsoft-com:)/;

const deepest = 500;
const pieceBytes = 2 ** 18;

/**
 * Parses a part; damaged XML gives a partial result. With `each`, the children of the elements of that name are passed
 * on one by one and not stored, because a body may exceed the memory.
 * @throws ExtractionError when elements are nested deeper than any program writes them.
 */
export function parseXml(
  bytes: Uint8Array,
  each?: { readonly of: string; readonly take: (element: XmlElement) => void },
): XmlElement {
  const prefixes = new Map<string, string>();
  const root: XmlElement = { name: '', attributes: {}, children: [] };
  const open: XmlElement[] = [root];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        if (open.length > deepest) throw fileDamaged('Office', 'its elements are nested too deep');
        learn(prefixes, attributes);
        const element = { name: usual(prefixes, name), attributes: withUsual(prefixes, attributes), children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      onclosetag: () => {
        const element = open.pop();
        const parent = open.at(-1);
        if (element === undefined || parent === undefined || parent.name !== each?.of) return;
        parent.children.pop();
        each.take(element);
      },
      ontext: (text) => {
        const siblings = open.at(-1)?.children ?? [];
        const last = siblings.at(-1);
        if (typeof last === 'string') siblings[siblings.length - 1] = last + text;
        else siblings.push(text);
      },
    },
    { xmlMode: true },
  );
  const decoder = new TextDecoder(encodingOf(bytes));
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    parser.write(decoder.decode(bytes.subarray(at, at + pieceBytes), { stream: true }));
  }
  parser.end(decoder.decode());
  return root;
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child): child is XmlElement => typeof child !== 'string' && child.name === name);
}

export function childrenOf(element: XmlElement | undefined, name?: string): XmlElement[] {
  const elements = element?.children.filter((child): child is XmlElement => typeof child !== 'string') ?? [];
  return name === undefined ? elements : elements.filter((child) => child.name === name);
}

/** The `val` of a child; undefined when there is none. */
export function valOf(element: XmlElement | undefined, name: string): string | undefined {
  return childOf(element, name)?.attributes.val;
}

/** A switch is on when the element exists, unless its value turns it off. */
export function isOn(element: XmlElement | undefined, name: string): boolean {
  const child = childOf(element, name);
  return child !== undefined && !/^(?:0|false|off|none)$/.test(child.attributes.val ?? '');
}

/** Finds elements of that name below this one, but not within a match. */
export function* findAll(element: XmlElement | undefined, name: string): Generator<XmlElement> {
  for (const child of childrenOf(element)) {
    if (child.name === name) yield child;
    else yield* findAll(child, name);
  }
}

/** The name without the prefix, which differs from document to document. */
export function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Finds elements of that name, whatever their prefix. */
export function* elementsOf(element: XmlElement | undefined, name: string): Generator<XmlElement> {
  for (const child of childrenOf(element)) {
    if (localName(child) === name) yield child;
    yield* elementsOf(child, name);
  }
}

export function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

function learn(prefixes: Map<string, string>, attributes: Record<string, string>): void {
  for (const [name, uri] of Object.entries(attributes)) {
    if (!name.startsWith('xmlns')) continue;
    const prefix = name.slice(6);
    const known = namespaces.find(([pattern]) => pattern.test(uri));
    if (known !== undefined) prefixes.set(prefix, known[1]);
    else if (extensions.test(uri)) prefixes.set(prefix, prefix);
  }
}

function usual(prefixes: Map<string, string>, name: string): string {
  const colon = name.indexOf(':');
  const prefix = prefixes.get(colon === -1 ? '' : name.slice(0, colon));
  if (prefix === undefined) return name;
  return prefix === '' ? name.slice(colon + 1) : `${prefix}:${name.slice(colon + 1)}`;
}

function withUsual(prefixes: Map<string, string>, attributes: Record<string, string>): Record<string, string> {
  const renamed: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    // An attribute without a prefix has no namespace.
    const full = name.includes(':') ? usual(prefixes, name) : name;
    const isNeed = name === 'Requires';
    renamed[full.replace(/^(?:w|m|w14):/, '')] = isNeed ? unknownOf(prefixes, value) : value;
  }
  return renamed;
}

/** Returns the prefixes that stand for no known namespace. */
function unknownOf(prefixes: Map<string, string>, names: string): string {
  return names
    .split(/\s+/)
    .filter((name) => name !== '' && !prefixes.has(name))
    .join(' ');
}

/** Returns the alternatives of the same content in order; those that need an unknown namespace are left out (ECMA-376 part 3). */
export function alternativesOf(element: XmlElement | undefined): XmlElement[] {
  const choices = childrenOf(element, 'mc:Choice').filter(({ attributes }) => (attributes.Requires ?? '') === '');
  return [...choices, ...childrenOf(element, 'mc:Fallback')];
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  return 'utf-8';
}
