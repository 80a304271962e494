type Attributes = Readonly<Record<string, string>>;

/** How an element separates its text, and that of its children, from the text beside it. */
export interface Box {
  readonly own: 'paragraph' | 'blank' | 'none';
  readonly hasSeparateChildren: boolean;
}

/** What the styles of a page say about `display`. Only selectors of one tag or class are known. */
export interface Displays {
  /** Reads the text of a style sheet. */
  learn(css: string): void;
  of(name: string, attributes: Attributes): Box;
  /** Whether a rule of the page alone hides the element. Rules for some devices, and classes that other rules show, do not. */
  hides(name: string, attributes: Attributes): boolean;
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
const mostRules = 2_000;
const mostClasses = 20;

export function createDisplays(): Displays {
  const rules = new Map<string, Box>();
  const hiding = new Set<string>();
  /** Classes that occur in selectors of rules that show elements. */
  const showing = new Set<string>();

  function learnRule(selectors: string, display: string, isForAll: boolean): void {
    if (display !== 'none') {
      for (const [, name = ''] of selectors.matchAll(/\.((?:[\w-]|\\.)+)/g))
        if (showing.size < mostRules) showing.add(name.replaceAll('\\', ''));
    }
    for (const selector of selectors.split(',')) {
      const name = selector.trim();
      if (!/^(?:[\w-]+|[\w-]*\.[\w-]+)$/.test(name)) continue;
      if (rules.size < mostRules) rules.set(name, boxes.get(display) ?? inline);
      if (display !== 'none') hiding.delete(name);
      else if (isForAll && hiding.size < mostRules) hiding.add(name);
    }
  }

  function ruleFor(name: string, classes: string): Box {
    for (const each of classes === '' ? [] : classes.split(/\s+/, mostClasses)) {
      const found = rules.get(`${name}.${each}`) ?? rules.get(`.${each}`);
      if (found !== undefined) return found;
    }
    return rules.get(name) ?? inline;
  }

  return {
    learn: (css) => {
      let depth = 0;
      for (const rule of withoutComments(css).split('}')) {
        const parts = rule.split('{');
        depth += parts.length - 1;
        const [declarations = '', selectors = ''] = parts.toReversed();
        const display = displayIn(declarations);
        if (display !== undefined) learnRule(selectors, display, depth === 1);
        depth = Math.max(0, depth - 1);
      }
    },
    of: (name, { style, class: classes = '' }) => {
      const own = style === undefined ? undefined : boxIn(style);
      return own ?? (rules.size === 0 ? inline : ruleFor(name, classes));
    },
    hides: (name, { style = '', class: classes = '' }) => {
      if (hiding.size === 0 || always.has(name) || boxIn(style) !== undefined) return false;
      const names = classes.split(/\s+/, mostClasses);
      if (names.some((each) => showing.has(each))) return false;
      return hiding.has(name) || names.some((each) => hiding.has(`.${each}`) || hiding.has(`${name}.${each}`));
    },
  };
}

function boxIn(declarations: string): Box | undefined {
  const display = displayIn(declarations);
  return display === undefined ? undefined : (boxes.get(display) ?? inline);
}

function displayIn(declarations: string): string | undefined {
  return /(?:^|[;\s])display\s*:\s*([a-z-]+)/i.exec(declarations)?.[1]?.toLowerCase();
}

function withoutComments(css: string): string {
  const [first = '', ...others] = css.split('/*');
  return first + others.map((piece) => piece.split('*/').slice(1).join('*/')).join('');
}
