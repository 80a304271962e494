type Kind = 'navigation' | 'footer' | 'header' | 'aside' | 'consent';

type Attributes = Readonly<Record<string, string>>;

/** A part of a page, with the sums of everything in it once it has ended. */
export interface Region {
  readonly parent: Region | undefined;
  /** The number of regions around it. */
  readonly depth: number;
  /** The purpose that its element names. */
  readonly kind: Kind | undefined;
  /** Whether it, or a region around it, has a kind. */
  readonly isTyped: boolean;
  readonly isMain: boolean;
  readonly isList: boolean;
  readonly inArticle: boolean;
  readonly names: string;
  readonly role: string;
  characters: number;
  /** Characters in links to other pages. */
  linked: number;
  links: number;
  /** Links to parts of the page. */
  anchors: number;
  /** Blocks with a sentence outside of links. */
  sentences: number;
  hasTitle: boolean;
  hasMain: boolean;
  /** Whether it holds a menu, header or footer of a site. */
  hasMenu: boolean;
  /** Whether it ended before the first heading of the first level. */
  isBeforeTitle: boolean;
}

interface RegionStart {
  readonly name: string;
  readonly attributes: Attributes;
  readonly kind: Kind | undefined;
  readonly parent: Region;
}

/** Without an argument, the region is the page. */
export function startRegion(start?: RegionStart): Region {
  const { name = '', attributes = {}, kind, parent } = start ?? {};
  const isMain = name === 'main' || attributes.role === 'main';
  return {
    parent,
    depth: parent === undefined ? 0 : parent.depth + 1,
    kind,
    isTyped: kind !== undefined || parent?.isTyped === true,
    isMain,
    isList: name === 'ul' || name === 'ol' || name === 'dl',
    inArticle: isMain || name === 'article' || parent?.inArticle === true,
    names: `${attributes.id ?? ''} ${attributes.class ?? ''}`,
    role: attributes.role ?? '',
    characters: 0,
    linked: 0,
    links: 0,
    anchors: 0,
    sentences: 0,
    hasTitle: false,
    hasMain: false,
    hasMenu: false,
    isBeforeTitle: false,
  };
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

/** The header or footer of an article belongs to the article. */
export function kindOf(name: string, attributes: Attributes, inArticle: boolean): Kind | undefined {
  if (asksForConsent(`${attributes.id ?? ''} ${attributes.class ?? ''}`)) return 'consent';
  const kind = byRole[attributes.role ?? ''] ?? byName[name];
  return inArticle && kind !== 'navigation' ? undefined : kind;
}

const consentSubjects = new Set(['cookie', 'cookies', 'consent', 'gdpr', 'onetrust']);
const consentBox = /^(?:banner|bar|notice|popup|modal|overlay|dialog|consent|law)/;

/** Whether two words of a name occur in sequence, such as in `cookie-banner` or `gdpr_notice-2`. */
function asksForConsent(names: string): boolean {
  const words = wordsOf(names);
  return words.some((word, at) => consentSubjects.has(word) && consentBox.test(words[at + 1] ?? ''));
}

const suspiciousWords = new Set(
  `ad ads advertisement breadcrumb breadcrumbs comment comments footer links menu menus more nav navbar navigation
  newsletter promo recommended related share sharing sidebar social sponsored subscribe tags teaser teasers toolbar
  widget widgets`.split(/\s+/),
);

/** Whether the class or the id names a purpose other than content. Parts with such names may be content all the same. */
export function isSuspicious(region: Region): boolean {
  return isNamed(region, suspiciousWords);
}

const overlayRoles = new Set(['alert', 'alertdialog', 'dialog', 'status', 'tooltip']);
const overlayWords = new Set(
  'consent cookie cookies cookiebanner dialog flyout gdpr lightbox login modal optin overlay popup tooltip'.split(' '),
);

/** Whether the region covers the page for a while. */
export function isOverlay(region: Region): boolean {
  return overlayRoles.has(region.role) || isNamed(region, overlayWords);
}

/** Names of parts that hold sentences, but hardly ever content: at least nine tenths of their text on 1,260 pages were none. */
const furnitureWords = new Set(
  `avatar bio biography breadcrumb breadcrumbs byline bylines commentform newsletter recommended related respond share
  sharing signup subscribe subscription`.split(/\s+/),
);

export function namesFurniture(region: Region): boolean {
  return isNamed(region, furnitureWords);
}

function isNamed({ names }: Region, purposes: ReadonlySet<string>): boolean {
  return wordsOf(names).some((word) => purposes.has(word));
}

function wordsOf(names: string): string[] {
  return names
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[\s_-]+/);
}
