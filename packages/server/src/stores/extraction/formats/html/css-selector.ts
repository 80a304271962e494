type Attributes = Readonly<Record<string, string>>;

/** What selectors compare of an element. */
export interface StyledElement {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
}

interface Compound extends StyledElement {
  /** Whether the compound before it is that of the parent, not only of an element around it. */
  readonly isChild: boolean;
}

/** A selector of tags, classes and ids, for an element and elements around it. */
export interface Selector {
  readonly compounds: readonly Compound[];
  /** All classes and ids. */
  readonly names: readonly string[];
  /** What the element itself must have: `#id`, `.class` or a tag. */
  readonly key: string;
}

const limits = { characters: 200, compounds: 6, classes: 20 };

export function styledElement(name: string, { id = '', class: classes = '' }: Attributes): StyledElement {
  return { name, id, classes: classes === '' ? [] : classes.split(/\s+/, limits.classes) };
}

/** @returns undefined for a selector with states, attributes or neighbours */
export function parseSelector(text: string): Selector | undefined {
  if (text.length > limits.characters) return undefined;
  const words = text
    .replaceAll('>', ' > ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const compounds: Compound[] = [];
  for (const [at, word] of words.entries()) {
    if (word === '>') continue;
    const compound = parseCompound(word, words[at - 1] === '>');
    if (compound === undefined) return undefined;
    compounds.push(compound);
  }
  const last = compounds.at(-1);
  if (last === undefined || compounds.length > limits.compounds || words.at(-1) === '>') return undefined;
  const names = compounds.flatMap(({ id, classes }) => [...classes, ...(id === '' ? [] : [id])]);
  const [first] = last.classes;
  const key = last.id === '' ? (first === undefined ? last.name : `.${first}`) : `#${last.id}`;
  return { compounds, names, key };
}

function parseCompound(word: string, isChild: boolean): Compound | undefined {
  const [, name = '', rest = ''] = /^([a-z][\w-]*)?((?:[.#][\w-]+)*)$/i.exec(word) ?? [];
  if (name === '' && rest === '') return undefined;
  const parts = [...rest.matchAll(/([.#])([\w-]+)/g)];
  const named = (sign: string) => parts.flatMap(([, found, value = '']) => (found === sign ? [value] : []));
  const [id = '', ...others] = named('#');
  return others.length > 0 ? undefined : { name: name.toLowerCase(), id, classes: named('.'), isChild };
}

/** @param around the open elements, the innermost last. The nearest fitting one counts, and no other is tried */
export function isSelected({ compounds }: Selector, element: StyledElement, around: readonly StyledElement[]): boolean {
  let inner = compounds.at(-1);
  if (inner === undefined || !fits(inner, element)) return false;
  let at = around.length;
  for (const outer of compounds.slice(0, -1).toReversed()) {
    at -= 1;
    if (!inner.isChild) while (at >= 0 && !fits(outer, around[at])) at -= 1;
    if (!fits(outer, around[at])) return false;
    inner = outer;
  }
  return true;
}

function fits({ name, id, classes }: Compound, element: StyledElement | undefined): boolean {
  if (element === undefined) return false;
  if ((name !== '' && name !== element.name) || (id !== '' && id !== element.id)) return false;
  return classes.every((each) => element.classes.includes(each));
}
