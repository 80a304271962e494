import { join } from 'node:path';
import type { StartedService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, mapWithConcurrency } from '../support/endings.ts';
import { createRandom } from '../support/random.ts';
import { readOperations } from './operations.ts';
import { type Sent, sendOperation } from './send-operation.ts';
import { canary, openTwoProjects } from './two-projects.ts';

const scopeSets: readonly (readonly string[])[] = [
  ...[['files'], ['collections'], ['plugins'], ['metrics'], ['admin']],
  ...[
    ['files', 'collections'],
    ['files', 'plugins'],
    ['collections', 'plugins'],
  ],
  ...[
    ['files', 'collections', 'plugins'],
    ['files', 'collections', 'plugins', 'admin'],
  ],
];

/**
 * Calls every operation with keys of the second project that have different scopes, with one that is bound to tools, and without a key. Ids of the first
 * project must get exactly the response that non-existent ids get.
 */
export async function authorisation(options: PartOptions): Promise<PartReport> {
  const endings = createEndings();
  let cells = 0;
  try {
    const { service, second, ids } = await openTwoProjects(join(options.work, 'authorisation'), endings);
    const operations = await readOperations(service);
    const keys: Array<{ name: string; key: string | undefined }> = [
      { name: 'no key', key: undefined },
      { name: 'unknown key', key: `${second.key.slice(0, -4)}0000` },
    ];
    for (const scopes of options.slice ? scopeSets.slice(-2) : scopeSets) {
      keys.push({ name: scopes.join(' '), key: await second.createKey(scopes) });
    }
    const everyScope = ['files', 'collections', 'plugins', 'admin'];
    keys.push({ name: 'every scope, bound to a bundle', key: await second.createKey(everyScope, ['proof']) });
    const nothing = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, scrambled(id)]));
    const grid = operations.flatMap((operation) => keys.map((key) => ({ operation, key })));
    await mapWithConcurrency(grid, 4, async ({ operation, key: { name, key } }, index) => {
      // Both requests use the same random numbers, so that they differ only in their ids.
      const ask = (known: Record<string, string>) =>
        sendOperation(operation, {
          ...service,
          key,
          random: { ...createRandom(index), chance: (probability) => probability > 0.5 },
          ids: { pick: (member) => known[member] },
        });
      const [foreign, absent] = [await ask(ids), await ask(nothing)];
      cells += 1;
      const cell = `${operation.method} ${operation.path} with ${name}`;
      for (const answer of [foreign, absent]) {
        if (answer === undefined) options.findings.add('unavailable', `${cell} was not answered`);
        else if (answer.text.includes(canary)) options.findings.add('leaked', `${cell} shows another project's data`);
        else if (answer.status >= 500 && answer.status !== 501)
          options.findings.add('wrong error', `${cell}: ${answer.status}`);
      }
      if (shape(foreign, ids) !== shape(absent, nothing)) {
        options.findings.add('leaked', `${cell} tells a foreign id from an absent one: ${shape(foreign, ids)}`);
      }
    });
    await checkUnharmed(service, ids, options);
    await service.stop();
    return {
      name: 'Authorisation',
      cases: cells,
      figures: { operations: operations.length, keys: keys.length, cells },
    };
  } finally {
    await endings.end();
  }
}

/** Checks that everything of the first project still exists after all foreign requests. */
async function checkUnharmed(service: StartedService, ids: Readonly<Record<string, string>>, options: PartOptions) {
  const collection = `${service.filesUrl}/v1/collections/${ids.collection_id}`;
  const urls = [
    ...[`${service.filesUrl}/v1/files/${ids.file_id}/content`, collection, `${collection}/records/${ids.record_id}`],
    ...[`${collection}/chunks/${ids.chunk_id}`, `${service.pluginsUrl}/v1/runs/${ids.run_id}`],
  ];
  for (const url of urls) {
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
    const text = await answer.text();
    // A run does not return its input, so only its existence can be checked.
    const isWhole = url.includes('/runs/') ? answer.ok : text.includes(canary);
    if (!isWhole) options.findings.add('lost', `${new URL(url).pathname}: ${answer.status}`);
  }
}

/** Returns an id of the same form that names no object. */
function scrambled(id: string): string {
  return `${id.slice(0, -6)}${[...id.slice(-6)].reverse().join('')}`.replace(/.$/, (last) =>
    last === '0' ? '1' : '0',
  );
}

/** Returns the content of a response without the parts that differ between requests. */
function shape(answer: Sent | undefined, ids: Readonly<Record<string, string>>): string {
  if (answer === undefined) return 'none';
  if (answer.status < 400) return String(answer.status);
  let text = answer.text;
  for (const id of Object.values(ids)) text = text.replaceAll(id, 'ID');
  return `${answer.status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
}
