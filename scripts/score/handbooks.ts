import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from '../../packages/server/src/stores/extraction/tokens.ts';
import type { PassageSet } from './retrieval.ts';

interface Handbook {
  readonly name: string;
  readonly package: string;
  readonly pages: string;
  readonly original: string;
  readonly translations: readonly string[];
}

/** Handbooks of Debian. Of the first one, hardly any section is translated to Korean. */
const handbooks: readonly Handbook[] = [
  {
    name: 'handbook',
    package: 'debian-handbook',
    pages: 'usr/share/doc/debian-handbook/html',
    original: 'en-US',
    translations: ['de-DE', 'fr-FR', 'ru-RU', 'ja-JP'],
  },
  {
    name: 'installation',
    package: 'installation-guide-amd64',
    pages: 'usr/share/doc/installation-guide-amd64',
    original: 'en',
    translations: ['ko'],
  },
];
/** Sections of a language, evenly distributed, so that a run takes a few minutes. */
const mostSections = 120;
/** Characters of a section; shorter ones answer nothing. */
const leastLength = 200;
/** Tokens of a section; longer ones are cut, so that each is one chunk. */
const mostTokens = 950;
/** A larger share of paragraphs as in English means that the section is not translated. */
const mostOriginal = 0.2;

interface Section {
  readonly heading: string;
  readonly text: string;
}

/**
 * Returns a set for each translation: its sections without their headings, and the headings as questions.
 * @param root the folder with the files of the packages. Default: that of this machine, if they are installed; otherwise `apt-get`
 * downloads them.
 */
export function readHandbooks(root = '/'): PassageSet[] {
  return handbooks.flatMap((handbook) => {
    if (existsSync(join(root, handbook.pages))) return readFrom(join(root, handbook.pages), handbook);
    const downloaded = mkdtempSync(join(tmpdir(), 'quartermaster-handbook-'));
    try {
      const options = ['download', '-q', '-o', 'APT::Sandbox::User=root', handbook.package];
      execFileSync('apt-get', options, { cwd: downloaded, stdio: 'ignore' });
      const archive = readdirSync(downloaded).find((file) => file.endsWith('.deb')) ?? '';
      execFileSync('dpkg', ['-x', archive, 'root'], { cwd: downloaded });
      return readFrom(join(downloaded, 'root', handbook.pages), handbook);
    } finally {
      rmSync(downloaded, { recursive: true, force: true });
    }
  });
}

function readFrom(folder: string, { name, original, translations }: Handbook): PassageSet[] {
  return translations.map((translation) => {
    const pages = readdirSync(join(folder, translation)).filter((page) => page.endsWith('.html'));
    const folders = { english: join(folder, original), own: join(folder, translation) };
    const sections = pages.sort().flatMap((page) => readTranslated(folders, page));
    const counts = Map.groupBy(sections, ({ heading }) => heading);
    const distinct = sections.filter(({ heading }) => counts.get(heading)?.length === 1);
    const every = Math.ceil(distinct.length / mostSections);
    const chosen = distinct.filter((_, at) => at % every === 0);
    const ids = chosen.map((_, at) => `s${at}`);
    return {
      name: `${name}-${translation.slice(0, 2)}`,
      documents: chosen.map(({ text }, at) => ({ _id: ids[at] as string, text })),
      questions: chosen.map(({ heading }, at) => ({ _id: ids[at] as string, text: heading })),
      right: new Map(ids.map((id) => [id, id])),
    };
  });
}

/** Returns the sections of a page that are translated. */
function readTranslated(folders: { readonly english: string; readonly own: string }, page: string): Section[] {
  const english = join(folders.english, page);
  if (!existsSync(english)) return [];
  const known = new Set(
    readSections(readFileSync(english, 'utf8')).flatMap(({ heading, text }) => [heading, ...linesOf(text)]),
  );
  return readSections(readFileSync(join(folders.own, page), 'utf8')).flatMap(({ heading, text }) => {
    const lines = linesOf(text);
    const same = lines.filter((line) => known.has(line)).length;
    if (known.has(heading) || same > mostOriginal * lines.length || text.length < leastLength) return [];
    return [{ heading, text: cut(text) }];
  });
}

function cut(text: string): string {
  let start = text;
  for (let tokens = countTokens(start); tokens > mostTokens; tokens = countTokens(start))
    start = start.slice(0, Math.floor((start.length * mostTokens) / (tokens + 1)));
  return start;
}

const linesOf = (text: string) => text.split('\n').filter((line) => line.length > 40);

/** Reads the sections of a page: a heading of level 1 to 3, and the text up to the next one. */
function readSections(html: string): Section[] {
  const [, ...parts] = html.replaceAll(/\s+/g, ' ').split(/<h[123][^>]*class="title"[^>]*>/);
  return parts.map((part) => {
    const [heading = '', ...rest] = part.split(/<\/h[123]>/);
    const body = rest
      .join(' ')
      .replaceAll(/<(?:script|style)[^>]*>.*?<\/(?:script|style)>|<ul class="docnav".*$/g, ' ');
    return { heading: toText(heading).replace(/^(?:[A-Z]\.|\d+\.)[\d.]*\s*/, ''), text: toText(body) };
  });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

function toText(html: string): string {
  return html
    .replaceAll(/<\/(?:div|p|li|dt|dd|pre|tr)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/[ \u00a0]+/g, ' ')
    .replaceAll(/ ?\n[ \n]*/g, '\n')
    .trim();
}
