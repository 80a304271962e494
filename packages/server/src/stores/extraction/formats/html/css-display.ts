import { isSelected, parseSelector, type Selector, type StyledElement, styledElement } from './css-selector.ts';

type Attributes = Readonly<Record<string, string>>;

/** How an element separates its text, and that of its children, from the text beside it. */
export interface Box {
  readonly own: 'paragraph' | 'blank' | 'none';
  readonly hasSeparateChildren: boolean;
}

/** What the styles of a page say about how its elements are shown. Selectors with states or attributes are not known. */
export interface Displays {
  /** Reads the text of a style sheet. */
  learn(css: string): void;
  /** Begins an element in the innermost open one, unless it is left out. */
  enter(name: string, attributes: Attributes): Box;
  leave(): Box | undefined;
  /** Whether the children of the innermost open element are separate words. */
  hasSeparateChildren(): boolean;
  /** Whether a rule of the page alone hides the element. Rules for some devices, and classes that other rules show, do not. */
  hides(name: string, attributes: Attributes): boolean;
  /** Counts the characters of a text in the innermost open element if a style makes them hard to see. */
  take(text: string): void;
  /** The number of characters that people hardly see. They are read, because scripts let most of them appear. */
  unseen(): number;
}

const inline: Box = { own: 'none', hasSeparateChildren: false };
const block: Box = { own: 'paragraph', hasSeparateChildren: false };
const container: Box = { own: 'paragraph', hasSeparateChildren: true };
const cell: Box = { own: 'blank', hasSeparateChildren: false };
const inlineContainer: Box = { own: 'blank', hasSeparateChildren: true };

const boxes = new Map<string, Box>([
  ...['block', 'flow-root', 'list-item', 'table', 'table-row', 'table-caption'].map((name) => [name, block] as const),
  ...['flex', 'grid'].map((name) => [name, container] as const),
  ...['inline-flex', 'inline-grid'].map((name) => [name, inlineContainer] as const),
  ...['table-cell', 'inline-block', 'inline-table'].map((name) => [name, cell] as const),
]);
/** Scripts show these elements once the page is complete. */
const always = new Set(['html', 'body', 'main']);
const limits = { rules: 2_000, sameKey: 100 };

interface OpenElement extends StyledElement {
  readonly box: Box;
  readonly isUnseen: boolean;
}

const unstyled: StyledElement = { name: '', id: '', classes: [] };
const plain: OpenElement = { ...unstyled, box: inline, isUnseen: false };
const none: Declarations = new Map();

export function createDisplays(): Displays {
  const rules = new Map<string, Box>();
  const hiding = createRules();
  const fading = createRules();
  /** Classes and ids that occur in selectors of rules that show elements. */
  const showing = new Set<string>();
  const open: OpenElement[] = [];
  let unseen = 0;

  function learnRule(selectors: string, declarations: Declarations, isForAll: boolean): void {
    const display = displayIn(declarations);
    const isHidden = display === 'none' || isFarAway(declarations);
    if (display !== undefined && !isHidden) {
      for (const [, name = ''] of selectors.matchAll(/[.#]((?:[\w-]|\\.)+)/g))
        if (showing.size < limits.rules) showing.add(name.replaceAll('\\', ''));
    }
    for (const selector of selectors.split(',')) {
      const name = selector.trim();
      if (display !== undefined && /^(?:[\w-]+|[\w-]*\.[\w-]+)$/.test(name) && rules.size < limits.rules)
        rules.set(name, boxes.get(display) ?? inline);
      if (isHidden && isForAll) hiding.add(name);
      else if (display !== undefined && !isHidden) hiding.remove(name);
      if (isForAll && isFaint(declarations)) fading.add(name);
    }
  }

  function ruleFor({ name, classes }: StyledElement): Box {
    for (const each of classes) {
      const found = rules.get(`${name}.${each}`) ?? rules.get(`.${each}`);
      if (found !== undefined) return found;
    }
    return rules.get(name) ?? inline;
  }

  let last: { readonly attributes: Attributes; readonly element: StyledElement } | undefined;
  /** Caches the last element, because the caller asks twice about each one: whether it is hidden, and when it begins. */
  const styled = (name: string, attributes: Attributes) => {
    if (last?.attributes !== attributes) last = { attributes, element: styledElement(name, attributes) };
    return last.element;
  };
  const isIn = (known: Rules, element: StyledElement) => !known.isEmpty() && known.select(element, open, showing);

  return {
    learn: (css) => {
      let depth = 0;
      for (const rule of withoutComments(css).split('}')) {
        const parts = rule.split('{');
        depth += parts.length - 1;
        const [declarations = '', selectors = ''] = parts.toReversed();
        if (known.test(declarations)) learnRule(selectors, declarationsOf(declarations), depth === 1);
        depth = Math.max(0, depth - 1);
      }
    },
    enter: (name, attributes) => {
      const hasRules = rules.size > 0 || !hiding.isEmpty() || !fading.isEmpty();
      if (!hasRules && attributes.style === undefined && open.at(-1)?.isUnseen !== true) {
        open.push(plain);
        return inline;
      }
      const element = hasRules ? styled(name, attributes) : unstyled;
      const own = attributes.style === undefined ? none : declarationsOf(attributes.style);
      const box = boxIn(own) ?? (rules.size === 0 ? inline : ruleFor(element));
      const isFading = !always.has(name) && (isFaint(own) || isIn(fading, element));
      open.push({ ...element, box, isUnseen: isFading || open.at(-1)?.isUnseen === true });
      return box;
    },
    leave: () => open.pop()?.box,
    hasSeparateChildren: () => open.at(-1)?.box.hasSeparateChildren === true,
    hides: (name, attributes) =>
      !hiding.isEmpty() &&
      !always.has(name) &&
      isIn(hiding, styled(name, attributes)) &&
      boxIn(declarationsOf(attributes.style ?? '')) === undefined,
    take: (text) => {
      if (open.at(-1)?.isUnseen === true) unseen += text.trim().length;
    },
    unseen: () => unseen,
  };
}

interface Rules {
  isEmpty(): boolean;
  add(selector: string): void;
  remove(selector: string): void;
  /** Whether one of the rules selects the element. Selectors that contain a name of `others` are ignored. */
  select(element: StyledElement, around: readonly StyledElement[], others: ReadonlySet<string>): boolean;
}

function createRules(): Rules {
  const known = new Map<string, Selector>();
  const byKey = new Map<string, Set<string>>();
  return {
    isEmpty: () => known.size === 0,
    add: (name) => {
      const selector = known.size < limits.rules ? parseSelector(name) : undefined;
      if (selector === undefined) return;
      const same = byKey.get(selector.key) ?? new Set();
      if (same.size >= limits.sameKey) return;
      known.set(name, selector);
      byKey.set(selector.key, same.add(name));
    },
    remove: (name) => void known.delete(name),
    select: (element, around, others) => {
      const isUnder = (key: string) =>
        byKey
          .get(key)
          ?.values()
          .some((name) => {
            const selector = known.get(name);
            const isKnown = selector !== undefined && !selector.names.some((each) => others.has(each));
            return isKnown && isSelected(selector, element, around);
          }) === true;
      const { name, id, classes } = element;
      if (!isUnder(name) && !(id !== '' && isUnder(`#${id}`)) && !classes.some((each) => isUnder(`.${each}`)))
        return false;
      return !classes.some((each) => others.has(each)) && !others.has(id);
    },
  };
}

type Declarations = ReadonlyMap<string, string>;

/** Returns the last value of each property. Both are in small letters. */
function declarationsOf(text: string): Declarations {
  const found = new Map<string, string>();
  for (const declaration of text.split(';')) {
    const at = declaration.indexOf(':');
    if (at === -1) continue;
    found.set(
      declaration.slice(0, at).trim().toLowerCase(),
      declaration
        .slice(at + 1)
        .trim()
        .toLowerCase(),
    );
  }
  return found;
}

function displayIn(declarations: Declarations): string | undefined {
  return declarations.get('display')?.split(/[\s!]/, 1)[0];
}

function boxIn(declarations: Declarations): Box | undefined {
  const display = displayIn(declarations);
  return display === undefined ? undefined : (boxes.get(display) ?? inline);
}

/** Rules without one of these say nothing about whether a text is shown. */
const known = /display|position|opacity|font-size|visibility|background/i;
const far = /^-(?:\d{4,9}(?:\.\d+)?px|\d{3,9}(?:\.\d+)?(?:em|rem|vw|vh|%))/;

/** Whether a style puts its element far beside the page. */
export function isOffScreen(style: string): boolean {
  return /absolute|fixed/i.test(style) && isFarAway(declarationsOf(style));
}

function isFarAway(declarations: Declarations): boolean {
  const isMoved = /^(?:absolute|fixed)/.test(declarations.get('position') ?? '');
  return isMoved && ['left', 'right', 'top', 'bottom'].some((side) => far.test(declarations.get(side) ?? ''));
}

const isZero = (value = '') => /^(?:0+(?:\.0+)?|\.0+)(?:[a-z%\s!]|$)/.test(value);

/** Whether people hardly see a text: it is transparent, has no size, or the colour of its background. */
function isFaint(declarations: Declarations): boolean {
  if (isZero(declarations.get('opacity')) || isZero(declarations.get('font-size'))) return true;
  if (declarations.get('visibility')?.startsWith('hidden') === true) return true;
  const color = declarations.get('color') ?? '';
  const background = declarations.get('background-color') ?? declarations.get('background');
  return /^(?:#|rgb|white|black)/.test(color) && color === background;
}

function withoutComments(css: string): string {
  const [first = '', ...others] = css.split('/*');
  return first + others.map((piece) => piece.split('*/').slice(1).join('*/')).join('');
}
