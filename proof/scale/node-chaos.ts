import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePorts } from '../../test/support/free-port.ts';
import { countFates, steppedClockLauncher } from '../history/chaos.ts';
import { checkUploads } from '../history/check-files.ts';
import { checkHistory } from '../history/check-history.ts';
import { type CheckOptions, forEachConcurrently, getJson, only } from '../history/check-options.ts';
import { createClient } from '../history/client.ts';
import { createHistory, fateOf, type Operation } from '../history/history.ts';
import type { Target } from '../history/send-request.ts';
import { createSecondProject } from '../hostile/two-projects.ts';
import { checkStore } from '../power/check-crash-state.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, type Endings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { openUpstream } from '../support/upstream.ts';
import { startBalancer } from './balancer.ts';
import { disturb, ensureRuns } from './disturbances.ts';
import { openRig, type Rig, type RigNode, type Serves } from './rig.ts';
import { startStorage } from './storage.ts';

/** What each of the nodes serves. */
const serves: readonly Serves[] = ['both', 'both', 'both', 'both'];
const clientsOfProject = 3;
const largestUpload = 300_000;

/**
 * Disturbs four nodes on one database and one object storage while clients of two projects use them. At the end, everything
 * that the clients know must hold on every node.
 */
export async function nodeChaos(options: PartOptions): Promise<PartReport> {
  const random = options.random.fork('nodes');
  const endings = createEndings();
  try {
    return await run({ ...options, random }, endings);
  } finally {
    await endings.end();
  }
}

async function run(options: PartOptions, endings: Endings): Promise<PartReport> {
  const { random, findings, log } = options;
  const folder = join(options.work, 'nodes');
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const upstream = await openUpstream(folder);
  endings.after(upstream.close);
  const { server: storage, variables } = await startStorage(endings);
  const { BUNDLES = '', EGRESS_OVERRIDES = '' } = upstream.settings;
  const clockFile = (name: string) => join(folder, `${name}.clock`);
  const rig = await openRig(endings, {
    ...{ folder, serves, storage: variables },
    settings: { BUNDLES, LOG_LEVEL: 'warn' },
    upstream: Object.values(JSON.parse(EGRESS_OVERRIDES) as Record<string, string>)[0] ?? '', // written by `openUpstream`
    launcher: (index) => {
      writeFileSync(clockFile(`node${index + 1}`), '+0\n');
      return steppedClockLauncher(clockFile(`node${index + 1}`));
    },
  });
  const ports = await findFreePorts();
  await startBalancer(endings, rig.nodes, ports);
  const balancer = { filesUrl: `http://127.0.0.1:${ports.files}`, pluginsUrl: `http://127.0.0.1:${ports.plugins}` };
  const commands = Object.entries(rig.commandSettings()).map(([name, value]) => [`QUARTERMASTER_${name}`, value]);
  const [first] = filesNodes(rig);
  const store = { folder: first?.folder ?? '', filesUrl: first?.target.filesUrl ?? '', key: rig.key };
  const { second } = await createSecondProject(store, { ...variables, ...Object.fromEntries(commands) });
  const projects = [rig.key, second.key].map((key) => ({ key, history: createHistory() }));

  let isOver = false;
  const use = projects.flatMap(({ key, history }, project) =>
    Array.from({ length: clientsOfProject }, async (_, index) => {
      const own = random.fork(`client ${project} ${index}`);
      const client = createClient({ history, random: own, name: `p${project}c${index}`, largestUpload });
      while (!isOver) {
        // The last client uses the proxy, the others a different node for each request.
        const target = index === clientsOfProject - 1 ? { ...balancer, key } : targetOf(rig, own, key);
        const { answer } = await client.act(target);
        if (answer === undefined || answer.status >= 500) await pause(100);
      }
    }),
  );
  const counts = await disturb({
    ...{ rig, storage, random, findings, log, seconds: options.slice ? 40 : 30 * 60 },
    clockFile: ({ name }) => clockFile(name),
  });
  isOver = true;
  await Promise.all(use);
  // A node finishes the deletes that were interrupted when it starts.
  await Promise.all(filesNodes(rig).map((node) => node.service().kill()));
  await Promise.all(filesNodes(rig).map((node) => ensureRuns(node, findings)));
  await Promise.all(rig.nodes.map((node) => untilReady(node, options)));
  log('nodes: check');
  for (const [index, { key, history }] of projects.entries()) {
    const { operations } = history;
    const check = {
      operations,
      findings,
      random,
      upstreamCalls: upstream.count,
      recordsMayFail: true,
      workEndsWithin,
      contents: 100_000,
    };
    await checkNodes(rig, key, check);
    const other = projects[1 - index]?.key ?? '';
    await checkOtherProject(rig, other, operations, check);
  }
  await checkStore(store.folder, rig.commandSettings(), findings, 'ending', variables);
  const operations = projects.flatMap(({ history }) => history.operations);
  for (const { request, answer } of operations) {
    if (answer?.status === 500) findings.add('wrong error', `${request.what}: 500 ${answer.code}`);
  }
  // With `--keep`, to inspect the findings.
  for (const [index, { history }] of projects.entries()) {
    writeFileSync(
      join(folder, `history-${index}.json`),
      history.operations.map((one) => JSON.stringify(one)).join('\n'),
    );
  }
  const faults = Object.fromEntries([...storage.faults].map(([fault, count]) => [`storage: ${fault}`, count]));
  return {
    name: `Four nodes (${serves.join(', ')}; ${rig.hasNamespaces ? 'network namespaces' : 'loopback'})`,
    cases: [...counts.values()].reduce((sum, count) => sum + count, 0),
    figures: { ...countFates(operations), ...Object.fromEntries(counts), ...faults },
  };
}

/** The longest lease, that of a record, and 30 s. */
const workEndsWithin = 60_000;

const filesNodes = ({ nodes }: Rig) => nodes.filter((node) => node.serves !== 'plugins');
const pluginsNodes = ({ nodes }: Rig) => nodes.filter((node) => node.serves !== 'files');

function targetOf(rig: Rig, random: Random, key: string): Target {
  const { filesUrl = '' } = random.pick(filesNodes(rig))?.target ?? {};
  const { pluginsUrl = '' } = random.pick(pluginsNodes(rig))?.target ?? {};
  return { filesUrl, pluginsUrl, key };
}

const readyWithin = 30_000;

async function untilReady({ name, serves: served, target }: RigNode, { findings }: PartOptions): Promise<void> {
  const url = `${served === 'plugins' ? target.pluginsUrl : target.filesUrl}/v1/ready`;
  let text = '';
  for (const latest = performance.now() + readyWithin; performance.now() < latest; await pause(100)) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch((error: Error) => error);
    if (answer instanceof Response && answer.status === 200) return;
    text = answer instanceof Response ? `${answer.status} ${await answer.text()}` : String(answer);
  }
  findings.add(
    'unavailable',
    `${name} is not ready ${readyWithin / 1000} s after the last fault: ${text.slice(0, 300)}`,
  );
}

/** Checks the whole history on the first node, and the files and runs on all others. */
async function checkNodes(rig: Rig, key: string, check: Omit<CheckOptions, 'target'>): Promise<void> {
  const [first, ...others] = filesNodes(rig);
  const [runner, ...runners] = pluginsNodes(rig);
  const { filesUrl = '' } = first?.target ?? {};
  const { pluginsUrl = '' } = runner?.target ?? {};
  const { findings, operations } = check;
  await checkHistory({ ...check, target: { filesUrl, pluginsUrl, key }, findings: findings.after(first?.name ?? '') });
  for (const { name, target } of others) {
    await checkUploads({ ...check, target: { ...target, key }, findings: findings.after(name) });
  }
  const runs = only(operations, 'start run').filter((one) => fateOf(one) === 'done');
  for (const { name, target } of runners) {
    await forEachConcurrently(runs, async ({ answer }) => {
      const { status, body } = await getJson({ ...target, key }, `${target.pluginsUrl}/v1/runs/${answer?.id}`);
      const state = (body.data as { status?: string } | undefined)?.status;
      if (state !== 'ended') findings.after(name).add('lost', `the run ${answer?.id}: ${status} ${state}`);
    });
  }
}

/** Checks that another project sees nothing of these operations, on any node. */
async function checkOtherProject(
  rig: Rig,
  key: string,
  operations: readonly Operation[],
  { findings, random }: Pick<CheckOptions, 'findings' | 'random'>,
): Promise<void> {
  const sampled = <T>(list: readonly T[]) => random.shuffle(list).slice(0, 8);
  const idsOf = (what: Operation['request']['what']) =>
    sampled(operations.filter((one) => one.request.what === what && fateOf(one) === 'done')).map(
      ({ answer }) => answer?.id,
    );
  const paths = {
    files: [
      ...idsOf('upload').flatMap((id) => [`/v1/files/${id}`, `/v1/files/${id}/content`]),
      ...idsOf('create collection').map((id) => `/v1/collections/${id}`),
    ],
    plugins: idsOf('start run').map((id) => `/v1/runs/${id}`),
  };
  for (const { name, serves: served, target } of rig.nodes) {
    const urls = [
      ...(served === 'plugins' ? [] : paths.files.map((path) => target.filesUrl + path)),
      ...(served === 'files' ? [] : paths.plugins.map((path) => target.pluginsUrl + path)),
    ];
    await forEachConcurrently(urls, async (url) => {
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      if (answer.status !== 404) findings.after(name).add('leaked', `another project reads ${url}: ${answer.status}`);
    });
  }
}
