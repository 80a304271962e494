type Child = Node | string | null;

/** Creates an element. Strings become text nodes, never markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** A sentence whose parts in backticks are code. */
export function sentence(text: string): DocumentFragment {
  const fragment = new DocumentFragment();
  for (const [index, part] of text.split('`').entries()) {
    fragment.append(index % 2 === 1 ? element('code', {}, part) : part);
  }
  return fragment;
}

/** Paragraphs are parted by an empty line. */
export function paragraphs(text = '', attributes: Readonly<Record<string, string>> = {}): readonly HTMLElement[] {
  const parts = text.split('\n\n').filter(Boolean);
  return parts.map((part) => element('p', attributes, sentence(part)));
}
