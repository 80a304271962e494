import { basePath } from '../base-path.ts';
import { type ApiDocument, operationsOf, type Placed } from './document.ts';
import { element, paragraphs } from './element.ts';
import { operationView } from './operation-view.ts';
import './reference.css';
import { language, word } from './words.ts';

/** Renders the OpenAPI document of this address. */
async function show(): Promise<void> {
  document.documentElement.lang = language;
  document.documentElement.dataset.scheme = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  document.title = `${word.title} · Quartermaster`;
  const root = document.getElementById('reference');
  if (root === null) throw new Error('the page has no place for the reference');
  const answer = await fetch(`${basePath}/openapi.json`).catch(() => null);
  if (answer === null || !answer.ok) {
    root.append(element('main', {}, element('p', { role: 'alert' }, word.failed)));
    return;
  }
  const api = (await answer.json()) as ApiDocument; // the service that sent this page generates it
  const operations = operationsOf(api);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  root.append(
    element('a', { href: '#content', class: 'skip' }, word.skip),
    sideOf(tags, operations, api.paths['/v1/session'] !== undefined),
    element(
      'main',
      // The texts of the document are in English, whatever the language of the page.
      { id: 'content', tabindex: '-1', lang: 'en' },
      element('h1', {}, `${api.info.title}`),
      ...paragraphs(api.info.description, { class: 'lead' }),
      element(
        'p',
        { lang: language },
        element('a', { href: `${basePath}/openapi.json` }, word.document),
        ` · ${api.info.version}`,
      ),
      ...tags.map((tag) =>
        tagSection(
          tag,
          operations.filter((placed) => placed.tag === tag),
          api,
        ),
      ),
      element('p', { class: 'nothing', hidden: '', lang: language }, word.none),
    ),
    element('p', { id: 'copied', role: 'status', class: 'hidden', lang: language }),
  );
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function tagSection(tag: string, operations: readonly Placed[], api: ApiDocument): HTMLElement {
  return element(
    'section',
    { class: 'tag', 'aria-label': tag },
    element('h2', {}, tag),
    ...operations.map((placed) => operationView(placed, api)),
  );
}

function sideOf(tags: readonly string[], operations: readonly Placed[], hasConsole: boolean): HTMLElement {
  const search = element('input', { type: 'search', placeholder: word.search, 'aria-label': word.search });
  const links = operations.map((placed) => ({ placed, link: linkTo(placed) }));
  search.addEventListener('input', () => filter(search.value, links));
  const groups = tags.map((tag) =>
    element(
      'div',
      {},
      element('div', { class: 'group', lang: 'en' }, tag),
      element('ul', {}, ...links.filter(({ placed }) => placed.tag === tag).map(({ link }) => link)),
    ),
  );
  return element(
    'nav',
    { 'aria-label': word.operations },
    element(
      'a',
      { href: `${basePath}/${hasConsole ? '' : 'docs'}`, class: 'brand' },
      hasConsole ? `Quartermaster · ${word.console}` : 'Quartermaster',
    ),
    element('p', {}, element('a', { href: `${basePath}/docs` }, word.documentation)),
    search,
    ...groups,
  );
}

function linkTo({ id, method, path, operation }: Placed): HTMLElement {
  return element(
    'li',
    {},
    element(
      'a',
      { href: `#${id}`, title: operation.summary ?? '' },
      element('span', { class: 'method', 'data-method': method }, method),
      element('span', { class: 'path' }, path),
    ),
  );
}

/** Hides operations that lack one of the search words. */
function filter(text: string, links: ReadonlyArray<{ readonly placed: Placed; readonly link: HTMLElement }>): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { placed, link } of links) {
    const { id, method, path, operation } = placed;
    const all = `${id} ${method} ${path} ${operation.summary ?? ''}`.toLowerCase();
    const isShown = words.every((one) => all.includes(one));
    link.hidden = !isShown;
    const article = document.getElementById(id);
    if (article !== null) article.hidden = !isShown;
    if (isShown) shown++;
  }
  for (const tag of document.querySelectorAll<HTMLElement>('.tag')) {
    tag.hidden = tag.querySelector('article:not([hidden])') === null;
  }
  for (const group of document.querySelectorAll<HTMLElement>('nav > div')) {
    group.hidden = group.querySelector('li:not([hidden])') === null;
  }
  const nothing = document.querySelector<HTMLElement>('.nothing');
  if (nothing !== null) nothing.hidden = shown > 0;
}

void show();
