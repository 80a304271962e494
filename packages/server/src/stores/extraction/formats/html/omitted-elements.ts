import { isOffScreen } from './css-display.ts';

/** Elements whose content is not part of the text. */
const dropped = new Set(
  'script style noscript template title rp svg iframe object canvas audio video select datalist'.split(' '),
);
/** Of these, the elements whose text a browser shows, or shows instead of the element. */
const embedded = new Set('noscript svg iframe object canvas audio video select datalist'.split(' '));

type Attributes = Readonly<Record<string, string>>;

/** The element that is not part of the text, and what is counted or kept of it. */
export interface OmittedElements {
  /** Begins such an element. @returns whether it is one */
  begin(name: string, attributes: Attributes): boolean;
  isOpen(): boolean;
  isHidden(): boolean;
  open(name: string, attributes: Attributes): void;
  take(piece: string): void;
  /** @returns text that belongs to the page: the selected options of a choice */
  close(): string;
  /** Counts characters that a browser shows in another form. */
  addEmbedded(text: string): void;
  /** The title in the head, and the number of characters that are not part of the text. */
  counts(): { readonly title: string; readonly hidden: number; readonly embedded: number };
}

export interface OmittedOptions {
  /** Receives the text of style sheets. */
  readonly onStyle: (css: string) => void;
  /** Whether a control of the page names the element as the part that it opens. */
  readonly isControlled: (attributes: Attributes) => boolean;
  /** Whether a style sheet of the page hides the element. */
  readonly hides: (name: string, attributes: Attributes) => boolean;
  /** Whether hidden text, and text for browsers without scripts, is part of the text. */
  readonly showsHidden: boolean;
}

export function createOmittedElements(options: OmittedOptions): OmittedElements {
  const { onStyle, isControlled, hides, showsHidden } = options;
  let depth = 0;
  let reason: 'none' | 'hidden' | 'embedded' | 'title' | 'style' | 'other' = 'none';
  let title = '';
  const characters = { hidden: 0, embedded: 0 };
  let chosen: string[] = [];
  let isChosen = false;

  function isOmitted(name: string, attributes: Attributes): boolean {
    // KaTeX shows a formula in pieces, beside the MathML that is read.
    if (attributes.class === 'katex-html' || isClosedDialog(name, attributes)) return true;
    if (isShownLater(attributes) || isControlled(attributes)) return false;
    return isHidden(attributes) || hides(name, attributes);
  }

  return {
    begin: (name, attributes) => {
      if (showsHidden && name === 'noscript') return false;
      if (dropped.has(name)) reason = embedded.has(name) ? 'embedded' : 'other';
      else if (!showsHidden && isOmitted(name, attributes)) reason = 'hidden';
      else return false;
      depth = 1;
      if (name === 'style' && /^(?:all|screen)?$/i.test(attributes.media ?? '')) reason = name;
      if (name === 'title' && title === '') reason = name;
      return true;
    },
    isOpen: () => depth > 0,
    isHidden: () => reason === 'hidden',
    open: (name, attributes) => {
      depth += 1;
      if (name !== 'option') return;
      isChosen = reason === 'embedded' && attributes.selected !== undefined;
      if (isChosen) chosen.push('');
    },
    take: (piece) => {
      if (isChosen) chosen.push(`${chosen.pop() ?? ''}${piece}`);
      else if (reason === 'title' && depth === 1) title += piece;
      else if (reason === 'style') onStyle(piece);
      else if (reason === 'hidden' || reason === 'embedded') characters[reason] += piece.trim().length;
    },
    close: () => {
      depth -= 1;
      isChosen = false;
      if (depth > 0) return '';
      reason = 'none';
      const text = chosen.map((each) => each.trim()).join(', ');
      chosen = [];
      return text;
    },
    addEmbedded: (text) => {
      characters.embedded += text.trim().length;
    },
    counts: () => ({ title, ...characters }),
  };
}

function isHidden(attributes: Attributes): boolean {
  if (attributes.hidden !== undefined) return true;
  const { style = '' } = attributes;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style) || isOffScreen(style);
}

/** A box that covers the page, if at all, until a reader closes it. */
function isClosedDialog(name: string, attributes: Attributes): boolean {
  if (name === 'dialog') return attributes.open === undefined;
  return /^(?:alert)?dialog$/.test(attributes.role ?? '') && attributes['aria-modal'] === 'true';
}

/** Panels that open by a click or by a search, and the pieces of a page that React sends late and moves to their places. */
function isShownLater({ role = '', id = '', hidden }: Attributes): boolean {
  return role === 'tabpanel' || role === 'region' || hidden === 'until-found' || /^S:[0-9a-f]+$/.test(id);
}
