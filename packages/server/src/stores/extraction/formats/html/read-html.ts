import { cut } from '../../cut-text.ts';
import type { Document } from '../../document.ts';
import { decodeText } from '../../encoding/decode-text.ts';
import { createHtmlBlocks, type HtmlContent } from './html-blocks.ts';

/** `charset` is that of a Content-Type header. It precedes the declaration in the page. */
export function readHtml(bytes: Uint8Array, charset?: string): Document {
  const { text, facts: encoding, warnings } = decodeText(bytes, [charset, declaredCharset(bytes)]);
  const { blocks, title, dropped, unseen } = isDeep(text) ? readPage(flatten(text)) : readPage(text);
  const facts = { ...encoding, ...(title === '' ? {} : { title: cut(title, 500) }) };
  return { blocks, facts: { ...facts, dropped: { ...dropped } }, warnings: [...warnings, ...describeUnseen(unseen)] };
}

function describeUnseen(characters: number): string[] {
  if (characters === 0) return [];
  return [
    `text_unseen: A style gives ${characters} characters no size, no opacity or the colour of their background. They were read, although people may not see them.`,
  ];
}

/** A page that shows less than this, and omits more, may be filled by its scripts. */
const fewestCharacters = 250;

/** The hidden text of a page that shows nothing without scripts is its content, and so is its text for other browsers. */
function readPage(html: string): HtmlContent {
  const page = readOnce(html, false);
  const { hidden, embedded } = page.dropped;
  const isFilled = hidden + embedded >= (/<script[\s>]/i.test(html) ? fewestCharacters : 4 * fewestCharacters);
  if (!isFilled || charactersOf(page) >= fewestCharacters) return page;
  const whole = readOnce(html, true);
  return charactersOf(whole) > charactersOf(page) ? whole : page;
}

function readOnce(html: string, showsHidden: boolean): HtmlContent {
  const reader = createHtmlBlocks({ showsHidden });
  // As in a browser, such a section ends at the next `>`.
  reader.write(html.replaceAll('<![CDATA[', '<!CDATA['));
  return reader.end();
}

function charactersOf({ blocks }: HtmlContent): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

const generic = 'article|b|big|center|div|em|fieldset|font|form|i|main|nobr|section|small|span|strong|tt|u';

/** Whether these elements nest more deeply than pages do, for example because their ends are missing. */
function isDeep(html: string): boolean {
  let depth = 0;
  for (const [, slash] of html.matchAll(new RegExp(`<(/?)(?:${generic})(?=[\\s/>])`, 'gi'))) {
    depth += slash === '' ? 1 : -1;
    if (depth > deepestGeneric) return true;
    if (depth < 0) depth = 0;
  }
  return false;
}
const deepestGeneric = 800;

/** Replaces elements that only group their content by breaks of paragraphs, because the parser's time grows with the depth. */
function flatten(html: string): string {
  return html.replace(new RegExp(`</?(?:${generic})(?=[\\s/>])[^<>]*>`, 'gi'), (tag) =>
    /^<\/?(?:article|div|main|section)/i.test(tag) ? '<hr>' : '',
  );
}

/** The HTML standard searches the first 1,024 bytes; real pages have the declaration later. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4096)).toString('latin1').toLowerCase();
  const inXml = /^<\?xml[^<>]*\sencoding\s*=\s*["']([\w:.-]+)/.exec(start)?.[1];
  if (inXml !== undefined) return inXml;
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of start.matchAll(/<meta[^<>]*/g)) {
    const inMeta = /charset\s*=\s*(?:["']\s*)?([\w:.-]+)/.exec(tag)?.[1];
    if (inMeta !== undefined) return inMeta;
  }
  return undefined;
}
