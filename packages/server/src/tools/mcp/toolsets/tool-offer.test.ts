import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { createLogger } from '../../../platform/log/logger.ts';
import { loadCatalogue } from '../../catalogue/load/load-catalogue.ts';
import { loadFolder } from '../../catalogue/load/load-folder.ts';
import { createToolboxes, type Toolboxes } from '../toolbox.ts';
import { openAvailability } from './availability.ts';
import { readChoice } from './choice.ts';
import { type ChosenTools, chooseTools } from './chosen-tools.ts';
import { createPluginSearch } from './plugin-search.ts';
import { toolSearchLimits } from './search-arguments.ts';
import { createSearchTools } from './search-tools.ts';
import { createToolOffer, maxListedTools } from './tool-offer.ts';

const own = resolve(import.meta.dirname, '../../../../../../bundles');
const toolsets = new Map([['office', ['gmail', 'slack__post_message', 'not_installed']]]);
const profiles = new Map([['mine', 'open_weather']]);

let toolboxes: Toolboxes;
let search: ReturnType<typeof createPluginSearch>;
before(async () => {
  const catalogue = await loadFolder(own);
  toolboxes = createToolboxes(catalogue, createLogger('silent'));
  search = createPluginSearch(() => catalogue);
});

interface OfferOptions {
  readonly headers?: Record<string, string>;
  readonly listTokens?: number;
}

function open(tools: ChosenTools, { headers = {}, listTokens = 4_000 }: OfferOptions = {}) {
  const request = { headerOf: (name: string) => headers[name], projectId: 'p1' };
  // These tests send valid arguments; the service validates them with its own validator.
  const check = (_schema: unknown, sent: unknown) => sent as never;
  const searchTools = createSearchTools({ search, check, countSearch: () => undefined });
  const findProfiles = async (_project: string, names: readonly string[]) =>
    new Map([...profiles].filter(([name]) => names.includes(name)));
  return createToolOffer(tools, request, { searchTools, findProfiles, listTokens });
}

const choose = (query: Record<string, unknown>, bundleId?: string) =>
  chooseTools(toolboxes, bundleId, { choice: readChoice(query), toolsets });

/** The names of a whole list, page by page. */
async function listNames(offer: ReturnType<typeof open>): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { own: first, hasListed, nextCursor } = await offer.openPage(cursor);
    const { body } = await offer.listed();
    assert.ok(Buffer.isBuffer(body));
    const tools = hasListed ? JSON.parse(`[${body}]`) : [];
    pages.push([...first, ...tools].map(({ name }) => name));
    cursor = nextCursor;
  } while (cursor !== undefined);
  return pages;
}

const searchNames = ['search_tools', 'call_read_tool', 'call_tool'];

test('without a choice, the list contains the search tools and has at most 2,000 tokens', async () => {
  const offer = open(choose({}));
  const { own: tools } = await offer.openPage(undefined);
  assert.deepEqual(await listNames(offer), [searchNames]);
  assert.ok(countTokens(JSON.stringify(tools)) <= 2_000);
});

const weatherTools = [
  'find_place',
  'get_current_weather',
  'get_daily_forecast',
  'get_hourly_forecast',
  'get_weather_of_place',
];

test('below the threshold, the list contains the plugins that can work with the credentials of the request', async () => {
  const list = async (headers: Record<string, string>) =>
    (await listNames(open(choose({}), { headers, listTokens: 1_000_000 }))).flat();
  const free = await list({});
  const weather = weatherTools.map((id) => `open_weather__${id}`);
  assert.ok(free.includes('arithmetic__add') && free.includes('jina_web_reader__read_url'));
  for (const name of [...weather, 'http_request__http_get']) assert.equal(free.includes(name), false, name);
  const sent = { 'x-credential-open_weather_api_key': '0'.repeat(32) };
  const encoded = Buffer.from(JSON.stringify({ open_weather: { $profile: 'mine' } })).toString('base64url');
  const sources = [sent, { 'x-plugin-profile': 'mine' }, { 'x-plugin-credentials': encoded }];
  for (const headers of sources) {
    const listed = await list(headers);
    assert.deepEqual(
      listed.filter((name) => !free.includes(name)),
      weather,
    );
  }
  assert.deepEqual(
    await list({ 'x-plugin-profile': 'nobody' }),
    free.filter((name) => listedWithoutProfile(name)),
  );
  assert.deepEqual(await list({ 'x-plugin-credentials': 'not base64url!' }), free);
});

test('plugins that this machine refuses to run are listed only by a choice, and a search says so', async () => {
  const catalogue = await loadCatalogue({
    folders: [own],
    capabilities: { handlers: 'sandbox', sandboxMissing: 'bubblewrap is not installed' },
    publicUrl: 'http://127.0.0.1:8081',
    logger: createLogger('silent'),
  });
  const refusing = createToolboxes(catalogue, createLogger('silent'));
  const list = async (query: Record<string, unknown>) => {
    const tools = chooseTools(refusing, undefined, { choice: readChoice(query), toolsets });
    return (await listNames(open(tools, { listTokens: 1_000_000 }))).flat();
  };
  const listed = await list({});
  const refused = [...catalogue.bundles.values()].filter(({ refusal }) => refusal !== undefined);
  assert.ok(refused.some(({ id }) => id === 'calculator'));
  assert.ok(listed.includes('jina_web_reader__read_url'), 'a bundle without code is listed');
  const isOf = (name: string) => refused.some(({ id }) => name.startsWith(`${id}__`));
  assert.deepEqual(listed.filter(isOf), []);
  assert.ok((await list({ tools: 'all' })).includes('calculator__evaluate'));
  assert.deepEqual(await list({ bundles: 'calculator' }), ['calculator__evaluate']);
  const findObstacle = await openAvailability({ headerOf: () => undefined, projectId: null }, async () => new Map());
  for (const bundle of refused) {
    assert.match(findObstacle({ ...bundle, bundle }) ?? '', /cannot run it on its machine/);
    const { unavailable } = catalogue.describeBundle(bundle, 'en');
    assert.match(
      unavailable ?? '',
      /^Its handlers need a sandbox, and bubblewrap is not installed\. Install bubblewrap/,
    );
  }
  const [reader, hostless] = [catalogue, await loadFolder(own)].map((one, at) => {
    const bundle = one.findBundle(['jina_web_reader', 'http_request'][at] ?? '');
    return bundle && one.describeBundle(bundle, 'en').unavailable;
  });
  assert.equal(reader, null);
  assert.match(hostless ?? '', /leaves its hosts to the operator.*QUARTERMASTER_BUNDLE_HOSTS/);
});

test('the reason names the credentials of a bundle, and each alternative where there are several', async () => {
  const slack = toolboxes.all.findPlugin('slack__post_message')?.bundle;
  assert.ok(slack);
  const findObstacle = await openAvailability({ headerOf: () => undefined, projectId: null }, async () => new Map());
  assert.match(findObstacle({ ...slack, bundle: slack }) ?? '', /^It needs the credentials SLACK_BOT_TOKEN\. /);
  const anyOf = [{ required: ['token'] }, { required: ['username', 'password'] }];
  const either = {
    ...slack,
    checkCredentials: (one: unknown) => slack.checkCredentials(one),
    manifest: { ...slack.manifest, credentials_schema: { type: 'object' as const, anyOf } },
  };
  assert.match(
    findObstacle({ ...either, bundle: either }) ?? '',
    /^It needs the credentials token, or username and password\. /,
  );
});

/** A profile that does not exist is wrong for every bundle with credentials, even if they are optional. */
function listedWithoutProfile(name: string): boolean {
  const bundle = toolboxes.all.findPlugin(name)?.bundle;
  return bundle?.credentialNames.size === 0;
}

test('a choice lists bundles, tools and toolsets, and ?tools=all every tool', async () => {
  const list = async (query: Record<string, unknown>, bundleId?: string) =>
    (await listNames(open(choose(query, bundleId)))).flat();
  const mailTools = [...toolboxes.all.plugins.keys()].filter((name) => name.startsWith('gmail__'));
  assert.deepEqual(await list({ bundles: 'time,gmail' }), [
    ...mailTools,
    ...['time__convert_time', 'time__get_time_by_timezone', 'time__list_timezones'],
  ]);
  assert.deepEqual(await list({ tools: ['time__convert_time', 'arithmetic__add'] }), [
    'arithmetic__add',
    'time__convert_time',
  ]);
  assert.deepEqual(await list({ toolset: 'office', tools: 'arithmetic__add' }), [
    ...['arithmetic__add', ...mailTools, 'slack__post_message'],
  ]);
  assert.deepEqual(await list({}, 'open_weather'), weatherTools);
  assert.deepEqual(await list({ tools: 'convert_time' }, 'time'), ['convert_time']);
  assert.deepEqual(await list({ tools: 'all' }), [...toolboxes.all.plugins.keys()]);
});

test('an unknown parameter, bundle, tool or toolset is an error that names it', () => {
  const wrong: Array<[Record<string, unknown>, string | undefined, RegExp]> = [
    [{ bundle: 'time' }, undefined, /query must be "bundles", "tools", "toolset"; received the parameter "bundle"/],
    [{ bundles: 'time,tim' }, undefined, /query\/bundles must be ids of installed bundles; received "tim"/],
    [{ tools: 'add' }, undefined, /query\/tools must be .*; received "add"/],
    [{ toolset: 'home' }, undefined, /query\/toolset must be a set in QUARTERMASTER_MCP_TOOLSETS; received "home"/],
    [{ bundles: 'time' }, 'time', /query\/bundles must be absent/],
    [{ bundles: '' }, undefined, /query\/bundles must be names; received no name/],
    [{ toolset: ['', ','] }, undefined, /query\/toolset must be names; received no name/],
    [{ tools: ' ' }, 'time', /query\/tools must be names; received no name/],
    [{ tools: ['time__convert_time', 'all'] }, undefined, /query\/tools must be "all" or names of tools; received/],
    [{}, 'tim', /No bundle with the id "tim" is installed/],
  ];
  for (const [query, bundleId, message] of wrong) assert.throws(() => choose(query, bundleId), message);
});

test('the limit mcp_chosen_names accepts exactly as many names and refuses one more', () => {
  const names = (count: number) => ({ bundles: Array.from({ length: count }, () => 'time').join() });
  assert.equal(readChoice(names(200)).bundles.length, 200);
  assert.throws(() => readChoice(names(201)), { code: 'REQUEST_VALIDATION_ERROR' });
});

test('an unknown cursor is refused, also with the search tools', async () => {
  for (const query of [{}, { tools: 'all' }]) {
    await assert.rejects(open(choose(query)).openPage('x'), { message: 'Unknown cursor.' });
  }
});

test('only tools of the choice are found and called, and a tool that writes is not called as one that reads', async () => {
  const tools: ChosenTools = { ...choose({ bundles: 'github,time' }), listing: 'ready' };
  const offer = open(tools);
  const answer = async (name: string, sent: Record<string, unknown>) => {
    const opened = await offer.openSearchTool(name, sent);
    assert.ok(opened !== undefined);
    return opened;
  };
  const found = await answer('search_tools', { query: 'weather forecast in my time zone' });
  assert.ok(found.kind === 'answered');
  const { tools: names } = found.result.structuredContent as { tools: Array<{ name: string; available: boolean }> };
  for (const { name, available } of names) {
    assert.match(name, /^(?:github|time)__/);
    assert.equal(available, name.startsWith('time__'));
  }
  assert.ok(names.length > 0);
  const call = await answer('call_tool', { name: 'github__create_issue', arguments: { title: 'x' } });
  assert.ok(call.kind === 'call');
  assert.deepEqual([call.plugin.id, call.input], ['create_issue', { title: 'x' }]);
  assert.equal((await answer('call_read_tool', { name: 'time__convert_time' })).kind, 'call');
  const refusals: Array<[string, string, RegExp]> = [
    ['call_read_tool', 'github__create_issue', /may change something.*Call it with call_tool/],
    ['call_tool', 'slack__post_message', /Unknown tool: \\"slack__post_message\\". Find the name with search_tools/],
    ['call_tool', 'call_tool', /Unknown tool/],
    ['call_read_tool', 'search_tools', /Unknown tool/],
  ];
  for (const [name, tool, message] of refusals) {
    const refused = await answer(name, { name: tool });
    assert.ok(refused.kind === 'answered' && refused.result.isError === true, tool);
    assert.match(JSON.stringify(refused.result), message);
  }
});

test('a tool that can run is found before others that fit as well, and keys of the caller change which can', async () => {
  const query = 'What is the weather in Paris right now?';
  const find = async (headers: Record<string, string>) => {
    const opened = await open(choose({}), { headers }).openSearchTool('search_tools', { query });
    assert.ok(opened?.kind === 'answered');
    return opened.result.structuredContent as { tools: [{ name: string; available: boolean }] };
  };
  const [first] = (await find({})).tools;
  assert.match(first.name, /^open_meteo__/);
  const [withKey] = (await find({ 'x-credential-weather_bit_api_key': 'k' })).tools;
  assert.deepEqual(withKey, { ...withKey, name: 'weather_bit__get_current_weather', available: true });
});

test('the pages of search_tools hold every tool once, the one of an exact name first', async () => {
  const offer = open(choose({}));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const sent = { query: 'search news', limit: 10, ...(cursor === undefined ? {} : { cursor }) };
    const opened = await offer.openSearchTool('search_tools', sent);
    assert.ok(opened?.kind === 'answered');
    const { tools, total, next_cursor } = opened.result.structuredContent as {
      tools: Array<{ name: string }>;
      total: number;
      next_cursor?: string;
    };
    seen.push(...tools.map(({ name }) => name));
    cursor = next_cursor;
    if (cursor === undefined) assert.equal(seen.length, total);
  } while (cursor !== undefined);
  assert.equal(new Set(seen).size, seen.length);
  const named = await offer.openSearchTool('search_tools', { query: 'tmdb__movie_trends', limit: 1 });
  assert.ok(named?.kind === 'answered');
  assert.match(JSON.stringify(named.result.structuredContent), /"name":"tmdb__movie_trends"/);
  const wrong = await offer.openSearchTool('search_tools', { query: 'news', cursor: 'x' });
  assert.ok(wrong?.kind === 'answered' && wrong.result.isError);
});

test('the limit mcp_chosen_tools lists exactly as many tools of a choice, and the search tools instead of one more', async () => {
  const pick = (count: number): ChosenTools => {
    const names = [...toolboxes.all.plugins.keys()].slice(0, count);
    return { toolbox: toolboxes.all.pick(new Set(names)), listing: 'chosen' };
  };
  assert.equal((await listNames(open(pick(maxListedTools)))).flat().length, maxListedTools);
  const many = pick(maxListedTools + 1);
  assert.deepEqual(await listNames(open(many)), [searchNames]);
  assert.equal((await listNames(open({ ...many, listing: 'full' }))).flat().length, maxListedTools + 1);
});

test('the limit tool_search_ranked ends the pages of a question that finds every tool', async () => {
  const offer = open(choose({}));
  const query = 'get search list create add read find image data news weather';
  const opened = await offer.openSearchTool('search_tools', { query });
  assert.ok(opened?.kind === 'answered');
  assert.ok((await search.find(query)).length > toolSearchLimits.ranked);
  assert.equal((opened.result.structuredContent as { total: number }).total, toolSearchLimits.ranked);
  const { next_cursor: second } = opened.result.structuredContent as { next_cursor: string };
  const cursor = second.replace(/^\d+/, String(toolSearchLimits.ranked - 5));
  const last = await offer.openSearchTool('search_tools', { query, cursor });
  assert.ok(last?.kind === 'answered');
  const { tools, next_cursor } = last.result.structuredContent as { tools: unknown[]; next_cursor?: string };
  assert.deepEqual([tools.length, next_cursor], [5, undefined]);
});
