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
const mostRules = 2_000;
const mostClasses = 20;

export function createDisplays(): Displays {
  const rules = new Map<string, Box>();

  function ruleFor(name: string, classes: string): Box {
    for (const each of classes === '' ? [] : classes.split(/\s+/, mostClasses)) {
      const found = rules.get(`${name}.${each}`) ?? rules.get(`.${each}`);
      if (found !== undefined) return found;
    }
    return rules.get(name) ?? inline;
  }

  return {
    learn: (css) => {
      for (const rule of css.split('}')) {
        const [declarations = '', selectors = ''] = rule.split('{').toReversed();
        const box = boxIn(declarations);
        if (box === undefined) continue;
        for (const selector of selectors.split(',')) {
          const name = selector.trim();
          if (rules.size < mostRules && /^(?:[\w-]+|[\w-]*\.[\w-]+)$/.test(name)) rules.set(name, box);
        }
      }
    },
    of: (name, { style, class: classes = '' }) => {
      const own = style === undefined ? undefined : boxIn(style);
      return own ?? (rules.size === 0 ? inline : ruleFor(name, classes));
    },
  };
}

function boxIn(declarations: string): Box | undefined {
  const display = /(?:^|[;\s])display\s*:\s*([a-z-]+)/i.exec(declarations)?.[1]?.toLowerCase();
  return display === undefined ? undefined : (boxes.get(display) ?? inline);
}
