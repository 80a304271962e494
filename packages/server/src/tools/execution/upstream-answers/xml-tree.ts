import { Parser } from 'htmlparser2';

/** An XML element as data that JMESPath can walk. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The element's own text without that of its children, trimmed. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const maxDepth = 100;
const maxElements = 200_000;
const maxAttributes = 200_000;

interface OpenElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly texts: string[];
  readonly children: XmlElement[];
}

/**
 * Parses XML into a tree. It knows the five entities of XML and numeric ones. A DTD is skipped, so no entity expands.
 * @returns the root element, or why the text cannot be parsed
 */
export function parseXml(text: string): { readonly root: XmlElement } | { readonly wrong: string } {
  const top: OpenElement = { name: '', attributes: {}, texts: [], children: [] };
  const open: OpenElement[] = [top];
  let elements = 0;
  let attributes = 0;
  let wrong: string | null = null;
  const parser = new Parser(
    {
      onattribute() {
        attributes += 1;
        if (attributes > maxAttributes) throw new XmlTooLarge(`more than ${maxAttributes} attributes`);
      },
      onopentag(name, ownAttributes) {
        elements += 1;
        // Stops early, because the parser's work grows with the square of the depth.
        if (open.length > maxDepth) throw new XmlTooLarge(`nested deeper than ${maxDepth}`);
        if (elements > maxElements) throw new XmlTooLarge(`more than ${maxElements} elements`);
        if (wrong === null)
          open.push({ name, attributes: Object.fromEntries(Object.entries(ownAttributes)), texts: [], children: [] });
      },
      ontext(piece) {
        open.at(-1)?.texts.push(piece);
      },
      onclosetag(_name, isImplied) {
        // The parser reports `<a/>` as implicitly closed too.
        const isEmptyTag = text.startsWith('/>', parser.endIndex - 1);
        if (isImplied && !isEmptyTag) wrong ??= 'an element is not closed';
        if (wrong !== null || open.length < 2) return;
        const closed = open.pop();
        if (closed !== undefined) open.at(-1)?.children.push(close(closed));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  try {
    parser.end(text);
  } catch (error) {
    if (error instanceof XmlTooLarge) return { wrong: error.message };
    throw error;
  }
  const [root] = top.children;
  if (wrong !== null) return { wrong };
  return root === undefined ? { wrong: 'no element' } : { root };
}

class XmlTooLarge extends Error {}

function close({ name, attributes, texts, children }: OpenElement): XmlElement {
  return { name, attributes, text: texts.join('').trim(), children };
}
