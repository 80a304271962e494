import MiniSearch from 'minisearch';
import type { Page } from '../../documentation.ts';
import type { Placed } from '../reference/document.ts';

/** A section of a page, a row of one of its tables, or an operation of the API. Its id is the address below `/docs/`, `|` and a number. */
interface Entry {
  readonly id: string;
  /** The heading of a section. */
  readonly title?: string;
  /** The first cell of a row, or the method and the path of an operation. */
  readonly name?: string;
  readonly page: string;
  text: string;
}

/** What a search finds: a section, under the title of its best row if one fits better. */
export interface Found {
  /** The address below `/docs/`. */
  readonly address: string;
  readonly title: string;
  readonly page: string;
}

/** They say little about what a question looks for. */
const stopWords = new Set(
  'a an and any are as at be by can cannot could do does for from get happens have how i if in into is it its me my need no not of on one or so that the their them then there this to use used was we what when where which who why will with you your'.split(
    ' ',
  ),
);
const mostFound = 12;
const mostOperations = 3;
/** An entry that holds the question word for word counts this many times. */
const forPhrase = 4;

/**
 * Indexes the sections of all pages, and the operations of the API reference. Takes up to a second, so it waits until the field of
 * the search has the focus. An operation that the question names is first. Others follow the best sections.
 */
export function createSearch(
  pages: readonly Page[],
  operations: readonly Placed[],
): (question: string) => readonly Found[] {
  const findSections = searchIn(pages.flatMap(entriesOf));
  const findOperations = searchIn(operations.map(entryOf));
  const named = new Set<string>(
    operations.flatMap(({ id, method, path, operation: { summary = '' } }) =>
      [id, `${method} ${path}`, path, summary].map((name) => `${plainOf(name)} api#${id}`),
    ),
  );
  return (question) => {
    const sections = findSections(question);
    const found = findOperations(question);
    const isNamed = ({ address }: Found) => named.has(`${plainOf(question)} ${address}`);
    const others = found.filter((one) => !isNamed(one)).slice(0, mostOperations);
    const all = [...found.filter(isNamed), ...sections.slice(0, 3), ...others, ...sections.slice(3)];
    return all.slice(0, mostFound);
  };
}

function searchIn(all: readonly Entry[]): (question: string) => readonly Found[] {
  const entries = new Map(all.map((entry) => [entry.id, entry]));
  const index = new MiniSearch<Entry>({
    fields: ['title', 'name', 'page', 'text'],
    tokenize: (text) => wordsOf(text).flatMap((word) => [word, ...(word.includes('_') ? word.split('_') : [])]),
    processTerm: stemOf,
  });
  index.addAll([...entries.values()]);
  const plain = new Map<string, string>();
  const plainOfEntry = (id: string) => {
    const { text = '', name = '' } = entries.get(id) ?? {};
    const known = plain.get(id) ?? plainOf(`${name} ${text}`);
    plain.set(id, known);
    return known;
  };
  return (question) => {
    const asked = [...new Set(wordsOf(question))];
    const words = asked.filter((word) => !stopWords.has(word.toLowerCase()));
    const phrase = plainOf(question);
    const found = index.search((words.length > 0 ? words : asked).join(' '), {
      tokenize: wordsOf,
      boost: { title: 4, name: 2, page: 1.5 },
      bm25: { k: 1.2, b: 0.5, d: 0.5 },
      // Names of settings and codes are exact.
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 && !term.includes('_') ? 0.2 : false),
      boostDocument: (id) => {
        const isWhole = asked.length > 1 && plainOfEntry(id).includes(phrase);
        return (isWhole ? forPhrase : 1) * weightOf(id);
      },
    });
    const scored = found.map(({ id, score, queryTerms }) => ({
      entry: entries.get(String(id)),
      score: score * (queryTerms.length / Math.max(1, words.length)) ** 1.5,
    }));
    const best = new Map<string, Found>();
    for (const { entry } of scored.sort((a, b) => b.score - a.score)) {
      if (entry === undefined || best.size === mostFound) continue;
      const [address = ''] = entry.id.split('|');
      if (!best.has(address)) best.set(address, { address, title: entry.name ?? entry.title ?? '', page: entry.page });
    }
    return [...best.values()];
  };
}

/** Guides say what to do. The index repeats the titles of pages, and some pages assess the product. */
function weightOf(id: string): number {
  if (id.startsWith('#') || id.startsWith('|')) return 0.4;
  if (/^reference\/(?:asvs|extraction|hold|threats)\b/.test(id)) return 0.7;
  return id.startsWith('guides/') ? 1.4 : 1;
}

/** Names such as `QUARTERMASTER_FILES_PORT` are one word. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function plainOf(text: string): string {
  return wordsOf(text.toLowerCase()).join(' ');
}

/** Removes the endings of plurals and verbs. Names with `_` are exact. */
function stemOf(term: string): string {
  const word = term.toLowerCase();
  return word.includes('_') || word.length < 4
    ? word
    : word.replace(/(?:(?<!s)s|(?<=\w{4})(?:ing|ed))$/, '').replace(/e$/, '');
}

/** The sections of a page and, as entries of their own, the rows of its tables and the questions that begin in bold. */
function entriesOf({ path, title: page, html }: Page): readonly Entry[] {
  const entries: Entry[] = [];
  for (const part of html.split(/(?=<h[1-6][ >])/)) {
    const [, level = '', anchor = '', heading = ''] = /^<h(\d) id="([^"]*)">(.*)<\/h/.exec(part) ?? [];
    if (level === '') continue;
    const address = level === '1' ? path : `${path}#${anchor}`;
    const title = textOf(heading);
    entries.push({ id: `${address}|0`, title, page: title === page ? '' : page, text: textOf(part) });
    const place = title === page ? page : `${page} · ${title}`;
    for (const [at, block] of part
      .split(/<tr>|(?=<p><strong>)/)
      .slice(1)
      .entries()) {
      const [first = '', ...others] = block.split(/<\/td>|<\/strong>/);
      const [name, text] = [textOf(first), textOf(others.join(' ').split(/<\/tr>|<\/p>/)[0] ?? '')];
      if (name !== '' && text !== '') entries.push({ id: `${address}|${at + 1}`, name, page: place, text });
    }
  }
  return entries;
}

function entryOf({ id, method, path, operation }: Placed): Entry {
  const { summary = '', description = '' } = operation;
  const page = `API reference · ${summary}`;
  return {
    id: `api#${id}|0`,
    title: summary,
    name: `${method} ${path}`,
    page,
    text: `${id} ${summary} ${description}`,
  };
}

/** The text of HTML that markdown-it wrote. */
function textOf(html: string): string {
  const text = html
    .replaceAll(/<\/?(?:a|code|em|strong)(?: [^<>]*)?>/g, '')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
