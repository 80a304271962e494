import { childOf, childrenOf, valOf, type XmlElement } from './xml-tree.ts';

/** Converts an Office equation to LaTeX, a notation that people and models read and that preserves the structure. */
export function toLatex(element: XmlElement): string {
  return inside(element)
    .replace(/(\\[a-zA-Z]+) (?=[^a-zA-Z])/g, '$1 ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function inside(element: XmlElement | undefined): string {
  return childrenOf(element).map(convert).join('');
}

function part(element: XmlElement, name: string): string {
  return inside(childOf(element, name));
}

function convert(element: XmlElement): string {
  const { name } = element;
  const converter = converters[name];
  if (converter !== undefined) return converter(element);
  return name.endsWith('Pr') ? '' : inside(element);
}

const converters: Readonly<Record<string, (element: XmlElement) => string>> = {
  'm:r': run,
  'm:f': fraction,
  'm:sSup': (element) => `${base(element)}^{${part(element, 'm:sup')}}`,
  'm:sSub': (element) => `${base(element)}_{${part(element, 'm:sub')}}`,
  'm:sSubSup': (element) => `${base(element)}_{${part(element, 'm:sub')}}^{${part(element, 'm:sup')}}`,
  'm:sPre': (element) => `{}_{${part(element, 'm:sub')}}^{${part(element, 'm:sup')}}${part(element, 'm:e')}`,
  'm:rad': (element) => {
    const degree = part(element, 'm:deg');
    return `\\sqrt${degree === '' ? '' : `[${degree}]`}{${part(element, 'm:e')}}`;
  },
  'm:nary': (element) => {
    const sign = symbolOf(property(element, 'm:naryPr', 'm:chr') ?? '∫').trim();
    return `${sign}_{${part(element, 'm:sub')}}^{${part(element, 'm:sup')}}${part(element, 'm:e')}`;
  },
  'm:d': delimited,
  'm:func': (element) => {
    const body = part(element, 'm:e');
    return `${part(element, 'm:fName')}${childrenOf(childOf(element, 'm:e')).length === 1 ? `(${body})` : body}`;
  },
  'm:fName': (element) => inside(element).replace(/^[a-zA-Z]+/, functionName),
  'm:limLow': (element) => `${part(element, 'm:e').replace(/^[a-zA-Z]+$/, functionName)}_{${part(element, 'm:lim')}}`,
  'm:limUpp': (element) => `\\overset{${part(element, 'm:lim')}}{${part(element, 'm:e')}}`,
  'm:groupChr': (element) => {
    const brace = property(element, 'm:groupChrPr', 'm:pos') === 'top' ? 'overbrace' : 'underbrace';
    return `\\${brace}{${part(element, 'm:e')}}`;
  },
  'm:bar': (element) => {
    const line = property(element, 'm:barPr', 'm:pos') === 'top' ? 'overline' : 'underline';
    return `\\${line}{${part(element, 'm:e')}}`;
  },
  'm:acc': (element) => {
    const mark = property(element, 'm:accPr', 'm:chr') ?? '\u0302';
    return `\\${accents[mark] ?? 'hat'}{${part(element, 'm:e')}}`;
  },
  'm:m': (element) => {
    const rows = childrenOf(element, 'm:mr').map((row) => childrenOf(row, 'm:e').map(inside).join(' & '));
    return `\\begin{matrix}${rows.join(' \\\\ ')}\\end{matrix}`;
  },
  'm:eqArr': (element) => childrenOf(element, 'm:e').map(inside).join(' \\\\ '),
};

const accents: Readonly<Record<string, string>> = {
  '\u0302': 'hat',
  '\u0303': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'bar',
  '\u0307': 'dot',
  '\u0308': 'ddot',
  '\u20d7': 'vec',
  '\u2192': 'vec',
};

function property(element: XmlElement, properties: string, name: string): string | undefined {
  return valOf(childOf(element, properties), name);
}

/** The base of a script is grouped when it has more than one part. */
function base(element: XmlElement): string {
  const text = part(element, 'm:e');
  const [only] = childrenOf(childOf(element, 'm:e'));
  return ['m:f', 'm:d', 'm:rad'].includes(only?.name ?? '') ? `{${text}}` : text;
}

function fraction(element: XmlElement): string {
  const [above, below] = [part(element, 'm:num'), part(element, 'm:den')];
  const kind = property(element, 'm:fPr', 'm:type');
  if (kind === 'noBar') return `\\genfrac{}{}{0pt}{}{${above}}{${below}}`;
  return kind === 'lin' ? `${above}/${below}` : `\\frac{${above}}{${below}}`;
}

function delimited(element: XmlElement): string {
  const sign = (name: string, usual: string) => property(element, 'm:dPr', name) ?? usual;
  const fence = (text: string) => (text === '' ? '.' : text.replace(/[{}]/, '\\$&'));
  const between = sign('m:sepChr', '|');
  const inner = childrenOf(element, 'm:e').map(inside).join(between);
  return `\\left${fence(sign('m:begChr', '('))}${inner}\\right${fence(sign('m:endChr', ')'))}`;
}

function run(element: XmlElement): string {
  const text = childrenOf(element, 'm:t')
    .flatMap((child) => child.children)
    .filter((child) => typeof child === 'string')
    .join('');
  return [...text.normalize('NFKC')].map(symbolOf).join('');
}

const functions = new Set(
  'sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim max min sup inf det dim ker gcd'.split(
    ' ',
  ),
);

function functionName(name: string): string {
  return functions.has(name) ? `\\${name}` : name;
}

const greek =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega'.split(
    ' ',
  );
/** Other signs, each followed by its name. */
const signs = new Map(
  `
  Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega × times ÷ div ± pm ∓ mp ⋅ cdot
  · cdot ∙ cdot ≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∞ infty ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint
  ∯ oiint ∰ oiiint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ∪ cup ∩ cap ∈ in ∉ notin ⊂ subset ⊆ subseteq ∂ partial
  ∇ nabla → to ⇒ Rightarrow ∀ forall ∃ exists … textellipsis ⋯ cdots √ surd`
    .trim()
    .split(/\s+/)
    .flatMap((sign, at, all) => (at % 2 === 0 ? [[sign, all[at + 1] ?? ''] as const] : [])),
);

function symbolOf(character: string): string {
  const code = character.charCodeAt(0) - 0x3b1;
  const name = greek[code] ?? signs.get(character);
  return name === undefined || character.length > 1 ? character : ` \\${name} `;
}
