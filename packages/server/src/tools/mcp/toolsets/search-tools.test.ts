import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { loadCatalogue } from '../../catalogue/load/load-catalogue.ts';
import { createToolboxes } from '../toolbox.ts';
import { openAvailability } from './availability.ts';
import { createPluginSearch } from './plugin-search.ts';
import { createSearchTools } from './search-tools.ts';

const own = resolve(import.meta.dirname, '../../../../../../bundles');

/** Texts of @activepieces/piece-slack 0.17.9, without those of inputs. */
const pieceTexts = {
  slack_post_message: [
    'Post Message',
    'Post a message to a channel, optionally as a threaded reply or with Block Kit blocks. Pass a channel ID (e.g. C0123ABCD); resolve a #name first with Find Channel. Use Send Direct Message to message one person privately, or Schedule Message to send at a future time. Each call posts a new message, so it is not idempotent; provide either text or blocks.',
  ],
  slack_list_channels: [
    'List Channels',
    'Enumerate the channels in the workspace, paging through all results and returning each id, name, privacy and archived state. Use this to browse or list channels; use Find Channel when you already know the name and just need its ID, or List User Conversations to list only the channels a specific user belongs to. Read-only and repeatable.',
  ],
  slack_find_user_by_email: [
    'Find User by Email',
    'Look up a single Slack user by their exact email address, returning their profile and user ID. Pick this to resolve an email into a Slack user ID before messaging or referencing that user. Read-only and idempotent; errors if no workspace member matches the email.',
  ],
};

/** Writes a bundle with these texts, which needs a credential. */
async function writePiece(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-piece-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'piece_slack');
  await mkdir(path);
  const write = (name: string, value: object) => writeFile(join(path, `${name}.yaml`), JSON.stringify(value));
  const about = { version: '0.17.9', name: 'Slack', description: 'Channel-based messaging platform' };
  const inject = [{ in: 'bearer', credential: 'token' }];
  const credentials = {
    type: 'object',
    additionalProperties: false,
    required: ['token'],
    properties: { token: { type: 'string', 'x-secret': true, description: 'The token.' } },
  };
  const by = { provider: 'Slack', developer: '@activepieces/piece-slack', hosts: ['slack.com'] };
  await write('bundle', { id: 'piece_slack', ...about, ...by, credentials_schema: credentials, inject });
  const schema = { type: 'object', properties: {} };
  const rest = { effects: 'read', idempotent: true, input_schema: schema, output_schema: schema };
  for (const [id, [name, description]] of Object.entries(pieceTexts))
    await write(id, { id, name, description, ...rest, request: { url: 'https://slack.com/api' } });
  return folder;
}

test('a tool of a service that can run is found before the tools for the same service that cannot', async (t) => {
  const catalogue = await loadCatalogue({
    folders: [own, await writePiece(t)],
    capabilities: { handlers: 'sandbox' },
    publicUrl: '',
    logger: createLogger('silent'),
  });
  // This test sends valid arguments.
  const check = (_schema: unknown, sent: unknown) => sent as never;
  const search = createPluginSearch(() => catalogue);
  assert.deepEqual(catalogue.failures, []);
  const { open } = createSearchTools({ search, check, countSearch: () => undefined });
  const toolbox = createToolboxes(catalogue, createLogger('silent')).all;
  const find = async (query: string, headers: Record<string, string>) => {
    const request = { headerOf: (name: string) => headers[name], projectId: 'p1' };
    const findObstacle = () => openAvailability(request, async () => new Map([['team', 'piece_slack']]));
    const opened = await open('search_tools', { query }, { toolbox, findObstacle });
    assert.ok(opened.kind === 'answered');
    return (opened.result.structuredContent as { tools: [{ name: string; available: boolean }] }).tools;
  };
  for (const [query, name, unavailable] of [
    ['send a message to a slack channel', 'piece_slack__slack_post_message', 'slack__'],
    ['list slack channels', 'piece_slack__slack_list_channels', 'slack__'],
    // No other title is the question.
    ['find a user by email in slack', 'piece_slack__slack_find_user_by_email', 'piece_slack__'],
  ] as const) {
    const [first] = await find(query, { 'x-plugin-profile': 'team' });
    assert.deepEqual([first.name, first.available], [name, true], query);
    const [without] = await find(query, {});
    assert.deepEqual([without.name.startsWith(unavailable), without.available], [true, false], query);
  }
});
