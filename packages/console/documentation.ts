import { globSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import MarkdownIt from 'markdown-it';
import type { Plugin } from 'vite';

/** A page of the documentation as HTML. Its links begin with `/docs`, below which the service serves it. */
export interface Page {
  /** The path below `/docs/`, such as `guides/mcp`; empty for the index. */
  readonly path: string;
  readonly title: string;
  readonly html: string;
}

/** A heading of the index, and the paths of the pages below it. */
export interface Group {
  readonly title: string;
  readonly paths: readonly string[];
}

const root = resolve(import.meta.dirname, '../..');
const index = 'docs/README.md';
const tour = 'README.md';
/** The page of this name is made of the files of the folder. */
const examples = 'examples';
const exampleFiles = list('examples/**/*.{md,py,sh,ts,yaml}');
const files = [
  index,
  tour,
  examples,
  'SECURITY.md',
  ...list(['docs/*.md', 'docs/{guides,reference}/**/*.md']).filter((file) => file !== index),
];

function list(patterns: string | string[]): string[] {
  return globSync(patterns, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

/** Provides `virtual:documentation` with the pages of `docs` except the decision records, one of which (0039) says why. */
export function documentation(): Plugin {
  const name = 'virtual:documentation';
  return {
    name,
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      for (const file of files.filter((one) => one !== examples)) this.addWatchFile(join(root, file));
      const { pages, groups } = readDocumentation();
      const named = pages.flatMap(({ html }) =>
        [...html.matchAll(/ data-file="([^"]+)"/g)].map(([, file = '']) => file),
      );
      const pictures = [...new Set(named)];
      return [
        ...pictures.map((file, at) => `import picture${at} from ${JSON.stringify(`${join(root, file)}?url`)};`),
        `export const pictures = {${pictures.map((file, at) => `${JSON.stringify(file)}: picture${at}`).join(', ')}};`,
        // A text that JSON.parse reads costs the browser less than the same object as code.
        `export const { pages, groups } = JSON.parse(${JSON.stringify(JSON.stringify({ pages, groups }))});`,
      ].join('\n');
    },
    generateBundle() {
      // The service answers 404 for other paths.
      this.emitFile({ type: 'asset', fileName: 'pages.json', source: JSON.stringify(files.map(pathOf)) });
    },
  };
}

/** Renders all pages. */
export function readDocumentation(): { readonly pages: readonly Page[]; readonly groups: readonly Group[] } {
  const pages = files.map(readPage);
  const sections = (pages[0]?.html ?? '').split(/<h2 [^>]*>/).slice(1);
  // A link to a whole page decides its group, before links to one of its headings.
  const whole = new Set([...sections.join('').matchAll(/href="\/docs\/([\w/-]+)"/g)].map(([, path]) => path));
  const paths = (section: string) =>
    [...section.matchAll(/href="\/docs\/([\w/-]+)(#?)/g)]
      .filter(([, path, fragment]) => fragment === '' || !whole.has(path))
      .map(([, path = '']) => path);
  const listed = new Set(['api']);
  const groups: Group[] = sections.map((section) => {
    const found = [...new Set(paths(section))].filter((path) => !listed.has(path));
    for (const path of found) listed.add(path);
    return { title: section.slice(0, section.indexOf('<')), paths: found };
  });
  return { pages, groups };
}

function readPage(file: string): Page {
  // Comments, and what only those who change a page need to know.
  const markdown = markdownOf(file).replaceAll(
    /^<!-- .* -->\n|^Generated from .* by `npm run reference`; do not edit\.\s/gm,
    '',
  );
  return { path: pathOf(file), title: /^# (.*)/.exec(markdown)?.[1] ?? file, html: render(file, markdown) };
}

function markdownOf(file: string): string {
  const text = (path: string) => readFileSync(join(root, path), 'utf8');
  if (file === tour) return `#${sectionOf(text(tour), tourHeading).slice(2)}${sectionOf(text(tour), 'Use it')}`;
  if (file !== examples) return text(file);
  const blocks = exampleFiles
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((path) => `## ${titleOf(path)}\n\n~~~~\n${text(path)}~~~~\n`);
  return [`#${sectionOf(text(tour), 'Examples').slice(2)}`, ...blocks].join('\n');
}

const tourHeading = 'The fifteen-minute tour';

/** A section of a page, from its heading to the next one of the same level. */
function sectionOf(text: string, heading: string): string {
  const start = `## ${heading}\n`;
  return start + (text.split(`\n${start}`)[1] ?? '').split('\n## ')[0];
}

/** Where the README names an example. The files that it does not name are last. */
function placeOf(example: string): number {
  const text = readFileSync(join(root, tour), 'utf8');
  const places = [example, posix.dirname(example)].map((path) => text.indexOf(`](${path})`));
  return places.find((place) => place >= 0) ?? text.length;
}

function titleOf(example: string): string {
  return posix.relative(examples, example);
}

function pathOf(file: string): string {
  if (file === tour) return 'tour';
  return file === index
    ? ''
    : file
        .replace(/^docs\//, '')
        .replace(/\.md$/, '')
        .toLowerCase();
}

/** The address of a link, or undefined for a file that is only in the repository. */
function addressOf(file: string, link: string): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(link)) return link;
  const [, fragment] = link.split('#');
  const target = targetOf(file, link);
  if (/openapi-\w+\.json$/.test(target)) return '/docs/api';
  if (target === tour && fragment === 'examples') return '/docs/examples';
  const example = exampleFiles.find((path) => path === target || path.startsWith(`${target}/`));
  if (example !== undefined) return `/docs/examples#${slugOf(titleOf(example))}`;
  if (!files.includes(target)) return undefined;
  const address = posix.join('/docs', pathOf(target));
  return fragment === undefined ? address : `${address}#${fragment}`;
}

/** The path of the file that a link or a picture names. */
function targetOf(file: string, link: string): string {
  // The page of examples is a section of the README.
  const folder = file === examples ? '' : posix.dirname(file);
  return posix.join(folder, link.split('#')[0] ?? '');
}

/** What follows the text of a link to a file that is only in the repository. */
function describeFile(target: string, text: string): string {
  const decision = /^docs\/decisions\/(\d{4})/.exec(target)?.[1];
  if (decision !== undefined) return text === 'decision' ? ` ${decision}` : ` (decision ${decision})`;
  const name = /\.test\.ts$/.test(target) ? posix.basename(target) : target;
  return text.replaceAll('`', '') === name ? '' : ` (<code>${name}</code>)`;
}

function render(file: string, text: string): string {
  const md = new MarkdownIt();
  const { rules } = md.renderer;
  const seen = new Map<string, number>();
  rules.heading_open = (tokens, at, options, _env, self) => {
    const slug = slugOf(tokens[at + 1]?.content ?? '');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    tokens[at]?.attrSet('id', times === 0 ? slug : `${slug}-${times}`);
    return self.renderToken(tokens, at, options);
  };
  // A wide table scrolls inside its frame, also by keyboard.
  rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>';
  rules.table_close = () => '</table></div>';
  // A heading without text is none: screen readers would announce it.
  const nameOf = (tag: string, content: string | undefined) => (content === '' ? 'td' : tag);
  for (const tag of ['th', 'td']) {
    rules[`${tag}_open`] = (tokens, at) =>
      `<${nameOf(tag, tokens[at + 1]?.content)}${String(tokens[at]?.attrGet('style')).includes('right') ? ' class="number"' : ''}>`;
    rules[`${tag}_close`] = (tokens, at) => `</${nameOf(tag, tokens[at - 1]?.content)}>`;
  }
  rules.image = (tokens, at) => {
    const target = targetOf(file, String(tokens[at]?.attrGet('src')));
    const alternative = md.utils.escapeHtml(tokens[at]?.content ?? '');
    // Screenshots would double the size of the pages.
    if (!target.endsWith('.svg')) return `${alternative}${describeFile(target, '')}`;
    return `<img data-file="${target}" alt="${alternative}">`;
  };
  let afterLink = '';
  rules.link_open = (tokens, at, options, _env, self) => {
    const token = tokens[at];
    const link = String(token?.attrGet('href') ?? '');
    const address = addressOf(file, link);
    afterLink = address === undefined ? describeFile(targetOf(file, link), tokens[at + 1]?.content ?? '') : '</a>';
    if (address === undefined) return '';
    token?.attrSet('href', address);
    return self.renderToken(tokens, at, options);
  };
  rules.link_close = () => afterLink;
  return md.render(text);
}

/** The fragment that GitHub gives a heading. `test/links.test.ts` checks links with the same rule. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
