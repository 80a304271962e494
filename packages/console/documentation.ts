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
/** The catalogue of the console lists the bundles, and the others assess the product; together they take 30 KB. */
const isLeftOut = (file: string) => /^docs\/reference\/(?:asvs|bundles|extraction|hold|retrieval)\.md$/.test(file);
const files = [
  index,
  tour,
  'SECURITY.md',
  ...globSync(['docs/*.md', 'docs/{guides,reference}/**/*.md'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file !== index && !isLeftOut(file))
    .sort(),
];

/**
 * Provides `virtual:documentation` with the pages of `docs`, without the decision records. VitePress 1.6.4 was measured on
 * the 60 pages: it installs 102 MB, builds in 17 s and adds 767 KiB to the archive, which had 270 KiB left of its 2.5 MiB;
 * this module adds 180 KB. Its pages also need inline scripts and styles, which the policy of the pages forbids.
 */
export function documentation(): Plugin {
  const name = 'virtual:documentation';
  return {
    name,
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      for (const file of files) this.addWatchFile(join(root, file));
      // A text that JSON.parse reads costs the browser less than the same object as code.
      return `export const { pages, groups } = JSON.parse(${JSON.stringify(JSON.stringify(readDocumentation()))})`;
    },
  };
}

function readDocumentation() {
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
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^<!-- .* -->\n/gm, '');
  const content = file === tour ? (/^## (The fifteen-minute tour\n[\s\S]*?)^## Use it/m.exec(text)?.[1] ?? '') : text;
  const markdown = file === tour ? `# ${content}` : content;
  return { path: pathOf(file), title: /^# (.*)/.exec(markdown)?.[1] ?? file, html: render(file, markdown) };
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
  const [path = '', fragment] = link.split('#');
  const target = posix.join(posix.dirname(file), path);
  if (/openapi-\w+\.json$/.test(target)) return '/docs/api';
  if (!files.includes(target)) return undefined;
  const address = posix.join('/docs', pathOf(target));
  return fragment === undefined ? address : `${address}#${fragment}`;
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
  for (const cell of ['th_open', 'td_open']) {
    rules[cell] = (tokens, at) =>
      `<${tokens[at]?.tag}${String(tokens[at]?.attrGet('style')).includes('right') ? ' class="number"' : ''}>`;
  }
  rules.image = () => '';
  rules.link_open = (tokens, at, options, _env, self) => {
    const token = tokens[at];
    const link = String(token?.attrGet('href') ?? '');
    const address = addressOf(file, link);
    if (address !== undefined) token?.attrSet('href', address);
    else if (token !== undefined)
      token.attrs = [['title', `${posix.join(posix.dirname(file), link)} in the repository`]];
    return self.renderToken(tokens, at, options);
  };
  return md.render(text);
}

/** The fragment that GitHub gives a heading. `test/links.test.ts` checks links with the same rule. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
