/** An element of a formula in MathML. */
export interface MathElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Array<MathElement | string>;
}

/**
 * Returns a formula as one line of symbols, such as `x=(−b±√(b^2−4ac))/(2a)`. Without a presentation, the annotation in
 * TeX or the text alternative is used.
 */
export function mathText(math: MathElement): string {
  const shown = collapse(contentOf(math));
  return shown === '' ? collapse(annotationOf(math) || (math.attributes.alttext ?? '')) : shown;
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function elementsOf(element: MathElement): MathElement[] {
  return element.children.filter((child): child is MathElement => typeof child !== 'string');
}

function contentOf(element: MathElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child.trim() : textOf(child))).join('');
}

function textOf(element: MathElement): string {
  const write = writers[element.name];
  return write === undefined ? contentOf(element) : write(element);
}

type Writer = (element: MathElement) => string;

/** Returns the parts of a formula: the base, what stands below, what stands above. */
const partsOf = (element: MathElement) => elementsOf(element).map(textOf);

const nothing: Writer = () => '';

const writers: Readonly<Record<string, Writer>> = {
  mtext: (element) => ` ${contentOf(element)} `,
  mspace: () => ' ',
  mo: (element) => operator(contentOf(element)),
  mfrac: (element) => {
    const [above = '', below = ''] = partsOf(element);
    return `${grouped(above)}/${grouped(below)}`;
  },
  msqrt: (element) => `√${grouped(contentOf(element))}`,
  mroot: (element) => {
    const [base = '', degree = ''] = partsOf(element);
    return `root(${base}, ${degree})`;
  },
  msup: (element) => scripted(element, ['^']),
  msub: (element) => scripted(element, ['_']),
  msubsup: (element) => scripted(element, ['_', '^']),
  mover: (element) => scripted(element, ['^']),
  munder: (element) => scripted(element, ['_']),
  munderover: (element) => scripted(element, ['_', '^']),
  mfenced: ({ attributes, ...element }) => {
    const separator = (attributes.separators ?? ',').trim().charAt(0);
    const parts = partsOf({ ...element, attributes });
    return `${attributes.open ?? '('}${parts.join(separator)}${attributes.close ?? ')'}`;
  },
  mtr: (element) => partsOf(element).join(', '),
  mlabeledtr: (element) => partsOf(element).join(', '),
  mtable: (element) => partsOf(element).join('; '),
  mphantom: nothing,
  annotation: nothing,
  'annotation-xml': nothing,
};

/** Invisible operators, such as that of a function application, are not text. */
function operator(sign: string): string {
  const text = sign.replace(/[\u2061-\u2064]/g, '');
  return /^[=≠≈≡<>≤≥∈→⇒⇔∪∩]$/.test(text) ? ` ${text} ` : text;
}

/** A part of several characters gets brackets, unless it has them. */
function grouped(part: string): string {
  const text = part.trim();
  return /^(?:[\p{L}\p{M}]|[\p{N}.,]+)$/u.test(text) || /^\([^()]*\)$/.test(text) ? text : `(${text})`;
}

/** Accents, such as a bar above a letter, are written like other scripts. */
function scripted(element: MathElement, marks: readonly string[]): string {
  const [base = '', ...scripts] = partsOf(element);
  const written = scripts.map((script, at) => (script.trim() === '' ? '' : `${marks[at] ?? ''}${grouped(script)}`));
  return base.trim() + written.join('');
}

function annotationOf(element: MathElement): string {
  for (const child of elementsOf(element)) {
    const found = child.name === 'annotation' && isTex(child) ? contentOf(child) : annotationOf(child);
    if (found !== '') return found;
  }
  return '';
}

function isTex({ attributes }: MathElement): boolean {
  return /tex/i.test(attributes.encoding ?? '');
}
