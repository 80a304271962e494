import { groups, pages, pictures } from 'virtual:documentation';
import { basePath } from '../base-path.ts';
import { type ApiDocument, operationsOf, type Placed } from '../reference/document.ts';
import { element } from '../reference/element.ts';
import '../reference/reference.css';
import { createSearch } from './search.ts';
import './site.css';

const home = `${basePath}/docs`;
const path = decodeURI(location.pathname.slice(home.length)).replace(/^\/+|\/+$/g, '');
const page = pages.find((one) => one.path === path);

/** Shows the page that the address names. The links of the documentation load a page each, so nothing else changes. */
function show(): void {
  document.documentElement.dataset.scheme = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  document.title = `${page?.title ?? 'Page not found'} · Quartermaster`;
  const main = element('main', { id: 'content', tabindex: '-1' });
  if (page === undefined) main.append(element('h1', {}, 'Page not found'), linkTo('', 'All pages'));
  // The build has rendered it from files of the repository.
  else main.innerHTML = page.html.replaceAll('="/docs', `="${home}`);
  for (const picture of main.querySelectorAll('img')) picture.src = pictures[picture.dataset.file ?? ''] ?? '';
  const root = document.getElementById('site');
  root?.append(element('a', { href: '#content', class: 'skip' }, 'Skip to content'), side(), main);
  if (location.hash === '') return;
  const target = document.getElementById(decodeURI(location.hash.slice(1)));
  if (target !== null) target.scrollIntoView();
  // The API reference was at this path in earlier versions.
  else if (path === '') location.replace(`${home}/api${location.hash}`);
}

function side(): HTMLElement {
  const input = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search the documentation' });
  const found = element('ul', { class: 'found' });
  const status = element('p', { role: 'status', class: 'kind' });
  const list = element('div', {}, ...groups.map(groupOf));
  let search: Promise<ReturnType<typeof createSearch>> | undefined;
  const load = () => {
    search ??= readOperations().then((operations) => createSearch(pages, operations));
    return search;
  };
  input.addEventListener('focus', load);
  input.addEventListener('input', async () => {
    const find = await load();
    const question = input.value.trim();
    const sections = question === '' ? [] : find(question);
    found.replaceChildren(
      ...sections.map(({ address, title, page: of }) => element('li', {}, linkTo(address, title, of))),
    );
    status.textContent =
      question === ''
        ? ''
        : sections.length === 0
          ? 'Nothing found.'
          : `${sections.length} sections found, the best first.`;
    list.hidden = question !== '';
  });
  const menu = element('details', {}, element('summary', {}, 'Pages and search'), input, status, found, list);
  menu.open = matchMedia('(min-width: 801px)').matches;
  return element(
    'nav',
    { 'aria-label': 'Documentation' },
    element('a', { href: home, class: 'brand' }, 'Quartermaster documentation'),
    element('p', {}, element('a', { href: `${home}/api` }, 'API reference')),
    menu,
  );
}

/** The operations of this address; none when its OpenAPI document cannot be read. */
async function readOperations(): Promise<readonly Placed[]> {
  const answer = await fetch(`${basePath}/openapi.json`).catch(() => undefined);
  return answer?.ok === true ? operationsOf((await answer.json()) as ApiDocument) : [];
}

function groupOf({ title, paths }: (typeof groups)[number]): HTMLElement {
  const links = paths.flatMap((each) => {
    const listed = pages.find((one) => one.path === each);
    return listed === undefined ? [] : [element('li', {}, linkTo(each, listed.title))];
  });
  return element('div', {}, element('div', { class: 'group' }, title), element('ul', {}, ...links));
}

function linkTo(target: string, text: string, of = ''): HTMLElement {
  const href = target === '' ? home : `${home}/${target}`;
  const link = element('a', { href }, text, of === '' || of === text ? null : element('span', { class: 'kind' }, of));
  if (target === path) link.setAttribute('aria-current', 'page');
  return link;
}

show();
