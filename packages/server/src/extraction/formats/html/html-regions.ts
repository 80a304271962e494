import type { Block } from '../../document.ts';

/** Detects parts of a page that are not content: menus, footers, banners. */
export interface Regions {
  /** Called at the start and end of every element. */
  enter(name: string, attributes: Readonly<Record<string, string>>): void;
  leave(): void;
  text(length: number): void;
  /** Called for every block. */
  emit(block: Block): void;
  /** Returns the blocks without those parts; all blocks when too little would remain. */
  content(): { readonly blocks: Block[]; readonly dropped: number };
}

type Kind = 'navigation' | 'footer' | 'header' | 'aside' | 'consent';

interface Region {
  readonly kind: Kind;
  characters: number;
  linked: number;
  hasTitle: boolean;
}

const byName: Readonly<Record<string, Kind>> = {
  nav: 'navigation',
  footer: 'footer',
  header: 'header',
  aside: 'aside',
};
const byRole: Readonly<Record<string, Kind>> = {
  navigation: 'navigation',
  menu: 'navigation',
  menubar: 'navigation',
  search: 'navigation',
  banner: 'header',
  contentinfo: 'footer',
  complementary: 'aside',
};
const consentSubjects = new Set(['cookie', 'cookies', 'consent', 'gdpr', 'onetrust']);
const consentBox = /^(?:banner|bar|notice|popup|modal|overlay|dialog|consent|law)/;
/** Consent boxes are short; an article about consent is not. */
const longestConsent = 3000;
const fewestCharacters = 250;
const smallestShare = 0.25;

export function createRegions(): Regions {
  const emitted: Array<{ readonly block: Block; readonly region: Region | undefined }> = [];
  /** An entry for each open element. */
  const open: Array<{ readonly name: string; readonly region: Region | undefined }> = [];
  let articles = 0;
  let links = 0;

  const current = () => open.at(-1)?.region;

  return {
    enter: (name, attributes) => {
      // An element within a region belongs to that region. The header or footer of an article belongs to the article.
      const kind = current() === undefined ? kindOf(name, attributes, articles > 0) : undefined;
      const region = kind === undefined ? current() : { kind, characters: 0, linked: 0, hasTitle: false };
      if (name === 'article' || name === 'main') articles += 1;
      if (name === 'a') links += 1;
      if (name === 'h1' && region !== undefined) region.hasTitle = true;
      open.push({ name, region });
    },
    leave: () => {
      const element = open.pop();
      if (element?.name === 'article' || element?.name === 'main') articles -= 1;
      if (element?.name === 'a') links -= 1;
    },
    text: (length) => {
      const region = current();
      if (region === undefined) return;
      region.characters += length;
      if (links > 0) region.linked += length;
    },
    emit: (block) => emitted.push({ block, region: current() }),
    content: () => {
      const all = emitted.map(({ block }) => block);
      const before = charactersOf(all);
      const without = (isDropped: (region: Region) => boolean) =>
        emitted.filter(({ region }) => region === undefined || !isDropped(region)).map(({ block }) => block);
      const strict = without(isBoilerplate);
      const after = charactersOf(strict);
      if (after >= fewestCharacters && after >= before * smallestShare)
        return { blocks: strict, dropped: before - after };
      // On a short page only the menus are removed, if any content remains.
      const lenient = without((region) => region.kind === 'navigation');
      return lenient.length === 0
        ? { blocks: all, dropped: 0 }
        : { blocks: lenient, dropped: before - charactersOf(lenient) };
    },
  };
}

function kindOf(name: string, attributes: Readonly<Record<string, string>>, inArticle: boolean): Kind | undefined {
  if (asksForConsent(`${attributes.id ?? ''} ${attributes.class ?? ''}`)) return 'consent';
  const kind = byRole[attributes.role ?? ''] ?? byName[name];
  return inArticle && kind !== 'navigation' ? undefined : kind;
}

/** Whether two words of a name occur in sequence, such as in `cookie-banner` or `gdpr_notice-2`. */
function asksForConsent(names: string): boolean {
  const words = names.toLowerCase().split(/[\s_-]+/);
  return words.some((word, at) => consentSubjects.has(word) && consentBox.test(words[at + 1] ?? ''));
}

/** Headers and asides may hold content, but not when they consist of links. */
function isBoilerplate({ kind, characters, linked, hasTitle }: Region): boolean {
  if (kind === 'navigation' || kind === 'footer') return true;
  if (kind === 'consent') return characters <= longestConsent;
  return !hasTitle && linked > characters / 2;
}

function charactersOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.text.length, 0);
}
