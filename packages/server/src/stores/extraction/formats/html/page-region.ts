type Kind = 'navigation' | 'footer' | 'header' | 'aside' | 'consent';

type Attributes = Readonly<Record<string, string>>;

/** A part of a page, with the sums of everything in it once it has ended. */
export interface Region {
  readonly parent: Region | undefined;
  /** The purpose that its element names. */
  readonly kind: Kind | undefined;
  /** Whether it, or a region around it, has a kind. */
  readonly isTyped: boolean;
  readonly isMain: boolean;
  readonly isList: boolean;
  readonly inArticle: boolean;
  readonly names: string;
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
    kind,
    isTyped: kind !== undefined || parent?.isTyped === true,
    isMain,
    isList: name === 'ul' || name === 'ol' || name === 'dl',
    inArticle: isMain || name === 'article' || parent?.inArticle === true,
    names: `${attributes.id ?? ''} ${attributes.class ?? ''}`,
    characters: 0,
    linked: 0,
    links: 0,
    anchors: 0,
    sentences: 0,
    hasTitle: false,
    hasMain: false,
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

/** Whether the class or the id names a purpose other than content. Names alone decide nothing. */
export function isSuspicious({ names }: Region): boolean {
  return wordsOf(names).some((word) => suspiciousWords.has(word));
}

function wordsOf(names: string): string[] {
  return names.toLowerCase().split(/[\s_-]+/);
}
