import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import {
  type EmbeddingProviderName,
  embeddingProviders,
} from '../../packages/server/src/stores/search/embedding/providers/providers.ts';
import { blocksRunBy } from '../support/documented-blocks.ts';
import { embeddingDoubles, type RunningDouble, startEmbeddingDouble } from '../support/embedding-doubles.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const folder = 'docs/guides/embedding';
const providers = Object.keys(embeddingProviders) as EmbeddingProviderName[];
const key = 'sk-nobody-may-see-this';
const meanings = [/tea|coffee|drink|beverage/i, /car|train|vehicle/i];
const embed = (text: string) => [...meanings.map((meaning) => (meaning.test(text) ? 1 : -0.2)), 0.1];

/** The blocks of commands of a page. */
function blocks(file: string): string[] {
  return blocksRunBy(import.meta.filename, file).map(({ text }) => text);
}

/** Runs the commands before `npm start` in a shell. Returns the settings that they export, without their prefix. */
async function settingsOf(commands: string, keyFile: string): Promise<Record<string, string>> {
  const script = commands.replace('/etc/quartermaster/embedding-key', keyFile).replace('npm start', 'env -0');
  const { stdout } = await run('bash', ['-euc', script], { env: { PATH: process.env.PATH ?? '' } });
  const variables = stdout.split('\0').flatMap((line) => [/^QUARTERMASTER_(\w+)=([\s\S]*)$/.exec(line)]);
  return Object.fromEntries(variables.flatMap((found) => (found === null ? [] : [[found[1], found[2]]])));
}

/** Leads the address of the page to the double. The model in the path of Gemini is the one of the double. */
function reach(settings: Record<string, string>, provider: EmbeddingProviderName, double: RunningDouble) {
  const url = settings.EMBEDDING_URL ?? embeddingProviders[provider].url ?? '';
  assert.ok(new URL(url).pathname === embeddingDoubles[provider].base || embeddingDoubles[provider].base === '', url);
  return { EGRESS_OVERRIDES: JSON.stringify({ [new URL(url).origin]: double.origin }) };
}

/** Runs the commands of the section "Try it" with the command line of this checkout. Returns what the search printed. */
async function tryIt(t: TestContext, service: StartedService): Promise<string> {
  const commands = blocks('docs/guides/embedding.md').find((text) => text.includes('a hot beverage')) ?? '';
  const search = commands.trim().split('\n').at(-1) ?? '';
  const command = `"${process.execPath}" "${join(process.cwd(), 'packages/cli/src/main.ts')}"`;
  const repeated = `until found=$(${search}) && [ -n "$found" ]; do :; done; echo "$found"`;
  const script = `quartermaster() { ${command} "$@"; }\n${commands.replace(search, repeated)}`;
  const home = await temporaryFolder(t);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      QUARTERMASTER_URL: service.filesUrl,
      QUARTERMASTER_API_KEY: service.key,
    },
    signal: t.signal,
  });
  return stdout;
}

test('[embeddings] every provider has a page, and the overview links to it', () => {
  const pages = readdirSync(folder).map((file) => basename(file, '.md'));
  assert.deepEqual(pages.sort(), [...providers].sort());
  const overview = readFileSync('docs/guides/embedding.md', 'utf8');
  for (const provider of providers) assert.ok(overview.includes(`](embedding/${provider}.md)`), provider);
});

for (const provider of providers) {
  test(`[embeddings] the commands of the page of ${provider} find a text by its meaning, and the key appears nowhere`, async (t) => {
    const [commands = ''] = blocks(join(folder, `${provider}.md`));
    const keyFile = join(await temporaryFolder(t), 'embedding-key');
    await writeFile(keyFile, `${key}\n`);
    const settings = await settingsOf(commands, keyFile);
    assert.equal(settings.EMBEDDING_PROVIDER, provider);
    const usesKey = settings.EMBEDDING_KEY_FILE !== undefined;
    const double = await startEmbeddingDouble(t, provider, {
      ...{ key: usesKey ? key : null, embed, model: settings.EMBEDDING_MODEL ?? 'text-embedding-3-small' },
    });
    const service = await startService(t, {
      settings: { ...settings, ...reach(settings, provider, double), LOG_LEVEL: 'debug' },
    });
    assert.match(await tryIt(t, service), /Green tea from Uji/);
    const texts = double.requests.flatMap((request) => request.texts);
    const prefix = (name: string) => settings[`EMBEDDING_${name}_PREFIX`] ?? '';
    assert.ok(texts.includes(`${prefix('QUERY')}a hot beverage`), JSON.stringify(texts));
    assert.ok(
      texts.some((text) => text.startsWith(`${prefix('DOCUMENT')}Green tea`)),
      JSON.stringify(texts),
    );
    assert.deepEqual(double.refused, []);
    await service.stop();
    assert.ok(!service.log().includes(key));
  });
}
