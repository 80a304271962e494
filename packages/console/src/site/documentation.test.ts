import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocumentation } from '../../documentation.ts';

const { pages, groups } = readDocumentation();

test('every link of a page leads to a page and a heading of it, and every group of the menu has pages', () => {
  const ids = new Map(
    pages.map(({ path, html }) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const links = pages.flatMap(({ path, html }) =>
    [...html.matchAll(/ href="([^"]+)"/g)].map(([, link = '']) => ({ path, link })),
  );
  assert.ok(links.length > 500, `only ${links.length} links`);
  const isBroken = ({ path, link }: { path: string; link: string }) => {
    if (/^(?:https?:|mailto:)/.test(link) || link === '/docs/api') return false;
    const [target = '', fragment] = link.startsWith('#')
      ? [path, link.slice(1)]
      : link.replace(/^\/docs\/?/, '').split('#');
    return fragment === undefined ? !ids.has(target) : ids.get(target)?.has(fragment) !== true;
  };
  assert.deepEqual(links.filter(isBroken), []);
  assert.deepEqual(
    groups.map(({ title, paths }) => [title, paths.length > 1]),
    ['User of the API', 'Builder of agents', 'Operator', 'Author of bundles', 'Contributor'].map((title) => [
      title,
      true,
    ]),
  );
  assert.ok(groups.find(({ title }) => title === 'Operator')?.paths.includes('guides/operating'));
});

test('a cell without text is no heading', () => {
  assert.deepEqual(
    pages.filter(({ html }) => /<th[^>]*><\/th>/.test(html)).map(({ path }) => path),
    [],
  );
});

test('the plot of a page is a picture, a link to a file that is no page names its path, and each example is on the site', () => {
  const htmlOf = (path: string) => pages.find((page) => page.path === path)?.html ?? '';
  assert.match(htmlOf('performance'), /<img data-file="docs\/performance\.svg" alt="Median/);
  assert.match(htmlOf('guides/deploying'), /<code>deploy\/nginx\.conf<\/code>/);
  for (const name of ['ask.sh', 'ask.ts', 'ask.py', 'chat.ts', 'agent.ts', 'bundles/inventory/bundle.yaml'])
    assert.ok(htmlOf('examples').includes(`>${name}</h2>`), name);
});
