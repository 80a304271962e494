import type { Block } from '../../document.ts';
import { type Emitted, withoutRemarks } from './main-region.ts';
import { isOverlay, isSuspicious, kindOf, namesFurniture, type Region, startRegion } from './region.ts';

/** Detects parts of a page that are not content: menus, footers, banners, lists of links to other pages. */
export interface Regions {
  /** Called at the start and end of every element. */
  enter(name: string, attributes: Readonly<Record<string, string>>): void;
  leave(): void;
  text(piece: string): void;
  /** Called for every block. */
  emit(block: Block): void;
  /** Returns the blocks without those parts; all blocks when too little would remain. */
  content(): { readonly blocks: Block[]; readonly dropped: number };
}

const containers = new Set(
  'article aside div dl fieldset footer form header main menu nav ol section table td ul'.split(' '),
);

export function createRegions(): Regions {
  const emitted: Emitted[] = [];
  const page = startRegion();
  /** An entry for each open element. */
  const open: Array<{ readonly name: string; readonly region: Region; readonly isLink: boolean }> = [];
  /** The number of open links to other pages. */
  let links = 0;
  /** Whether a heading of the first level has begun. */
  let titleSeen = false;
  /** Characters outside of links since the last block. */
  let unlinked = 0;

  const current = () => open.at(-1)?.region ?? page;

  function leave(): void {
    const element = open.pop();
    if (element?.isLink === true) links -= 1;
    if (element === undefined || element.region === current()) return;
    const { region } = element;
    const parent = current();
    region.isBeforeTitle = !titleSeen;
    parent.characters += region.characters;
    parent.linked += region.linked;
    parent.links += region.links;
    parent.anchors += region.anchors;
    parent.sentences += region.sentences;
    parent.hasTitle ||= region.hasTitle;
    parent.hasMain ||= region.hasMain || region.isMain;
    parent.hasMenu ||= region.hasMenu || (region.kind !== undefined && region.kind !== 'consent');
  }

  return {
    enter: (name, attributes) => {
      const kind = current().isTyped ? undefined : kindOf(name, attributes, current().inArticle);
      const isRegion = kind !== undefined || containers.has(name) || attributes.role === 'main';
      const region = isRegion ? startRegion({ name, attributes, kind, parent: current() }) : current();
      // A link within the page belongs to its table of contents, or to a note.
      const isLink = name === 'a' && attributes.href !== undefined && !attributes.href.startsWith('#');
      if (isLink) {
        links += 1;
        region.links += 1;
      }
      if (name === 'a' && (attributes.href?.startsWith('#') ?? false) && attributes.href !== '#') region.anchors += 1;
      if (name === 'h1') {
        region.hasTitle = true;
        titleSeen = true;
      }
      open.push({ name, region, isLink });
    },
    leave,
    text: (piece) => {
      const length = piece.trim().length;
      const region = current();
      region.characters += length;
      if (links > 0) region.linked += length;
      else unlinked += length;
    },
    emit: (block) => {
      const isSentence = unlinked >= sentenceCharacters && block.kind !== 'heading';
      if (isSentence) current().sentences += 1;
      emitted.push({ block, region: current(), weight: isSentence ? unlinked : 0 });
      unlinked = 0;
    },
    content: () => {
      while (open.length > 0) leave();
      return selectContent(emitted, page);
    },
  };
}

const sentenceCharacters = 40;
const fewestCharacters = 250;
const smallestShare = 0.1;

function selectContent(emitted: readonly Emitted[], page: Region): { blocks: Block[]; dropped: number } {
  const all = emitted.map(({ block }) => block);
  const before = charactersOf(all);
  const without = (isLeftOut: (region: Region) => boolean) => {
    const verdicts = new Map<Region, boolean>();
    return emitted.filter(({ region }) => !isWithin(region, { isLeftOut, verdicts }));
  };
  const content = without((region) => isBoilerplate(region, page));
  const strict = (page.hasMenu ? withoutRemarks(content) : content).map(({ block }) => block);
  const after = charactersOf(strict);
  if (after >= fewestCharacters && after >= before * smallestShare) return { blocks: strict, dropped: before - after };
  // On a short page only the menus are removed, if any content remains: elements for them, and lists of links by such a name.
  const isMenu = (region: Region) => isSuspicious(region) && isLinkList(region, page);
  const menus = without(({ kind }) => kind === 'navigation');
  const others = without((region) => region.kind === 'navigation' || isMenu(region));
  const lenient = (others.some(({ block }) => block.kind !== 'heading') ? others : menus).map(({ block }) => block);
  return lenient.length === 0
    ? { blocks: all, dropped: 0 }
    : { blocks: lenient, dropped: before - charactersOf(lenient) };
}

/** Whether the region, or one around it, is left out. */
function isWithin(
  region: Region,
  { isLeftOut, verdicts }: { isLeftOut: (region: Region) => boolean; verdicts: Map<Region, boolean> },
): boolean {
  const path: Region[] = [];
  let next: Region | undefined = region;
  while (next !== undefined && !verdicts.has(next)) {
    path.push(next);
    next = next.parent;
  }
  let verdict = next !== undefined && verdicts.get(next) === true;
  for (const one of path.toReversed()) {
    verdict ||= isLeftOut(one);
    verdicts.set(one, verdict);
  }
  return verdict;
}

/** Consent boxes are short; an article about consent is not. */
const longestConsent = 3000;

function isBoilerplate(region: Region, page: Region): boolean {
  const { kind, characters, linked, hasTitle } = region;
  if (kind === 'navigation' || kind === 'footer') return true;
  if (kind === 'consent') return characters <= longestConsent;
  // Headers and asides may hold content, but not when they consist of links or are outside the main part.
  if (kind !== undefined && !hasTitle && (linked > characters / 2 || page.hasMain)) return true;
  return isLinkList(region, page) || isFurniture(region, page);
}

/** Whether the region is small and its names say that it is not content, or it has no sentence and stands before the title. */
function isFurniture(region: Region, page: Region): boolean {
  const { characters, sentences, hasTitle, isBeforeTitle, inArticle, anchors } = region;
  if (hasTitle || characters > page.characters * mostOfFurniture) return false;
  if (isOverlay(region)) return true;
  if (anchors >= fewestAnchors) return false;
  if (namesFurniture(region)) return true;
  if (sentences > 0 || inArticle) return false;
  return (isBeforeTitle && page.hasTitle) || isSuspicious(region);
}
/** The number of links within the page from which on a region counts as its table of contents. */
const fewestAnchors = 3;
const mostOfFurniture = 0.2;

const fewestLinks = 5;
/** A list next to at least this number of sentences belongs to them, such as a list of external links. */
const sentencesOfContent = 3;
const mostOfPage = 0.9;

/** Whether the region consists of links to other pages. Lists of links in the main part are content more often. */
function isLinkList(region: Region, page: Region): boolean {
  const { characters, linked, links, sentences, hasTitle, inArticle } = region;
  if (links < fewestLinks || hasTitle || sentences * 4 >= links || characters > page.characters * mostOfPage)
    return false;
  const density = linked / Math.max(1, characters);
  if (isSuspicious(region)) return density > 0.35;
  if (region.isList && (region.parent?.sentences ?? 0) >= sentencesOfContent) return false;
  return density > (inArticle ? 0.85 : 0.55);
}

function charactersOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.text.length, 0);
}
