import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setUp } from '../../test/support/administrator.ts';
import { startService } from '../../test/support/service.ts';
import { createSecondProject } from '../hostile/two-projects.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, type Endings } from '../support/endings.ts';
import { type Attack, type Attacker, startAttacker } from './attack.ts';
import { attacks, nameOf } from './attacks.ts';
import { createCaller } from './caller.ts';
import { measure, percentile95 } from './measure.ts';
import { commonOperations, type OperationName, operations, prepareVictim, type Victim } from './operations.ts';
import { describeRow, failureOf, type Row, renderTable } from './table.ts';
import { openThirdParty } from './third-party.ts';

interface Bounds {
  /** The number of times that each victim repeats each operation. */
  readonly rounds: number;
  /** Milliseconds that an attack has to fill its queue. */
  readonly filling: number;
  /** Milliseconds after which an operation of a victim fails. */
  readonly timeout: number;
  /** Milliseconds after which an operation that is certainly too slow is not repeated. */
  readonly longEnough: number;
  /** Milliseconds for the measurement of one attack. */
  readonly measuring: number;
  /** Milliseconds after which no further attack begins. */
  readonly all: number;
}

const fullBounds = {
  rounds: 30,
  filling: 20_000,
  timeout: 60_000,
  longEnough: 20_000,
  measuring: 240_000,
  all: 5_400_000,
};
/** One attack, which takes at most 50 s. */
const sliceBounds = { rounds: 6, filling: 6_000, timeout: 5_000, longEnough: 5_000, measuring: 18_000, all: 0 };

const settings = { PLUGIN_SECONDS: '120', ISOLATION: 'process', LOG_LEVEL: 'error' };

/**
 * Lets one caller saturate each queue of the service with its worst known payload. Meanwhile another project, and
 * another key of its own project, perform ordinary operations. Each may take at most three times as long as on the idle
 * service, plus an allowance.
 */
export async function starvation(options: PartOptions): Promise<PartReport> {
  const { slice, random, findings, work, log } = options;
  const bounds: Bounds = slice ? sliceBounds : fullBounds;
  const begun = performance.now();
  const wanted = attacks.filter((attack) => new RegExp(options.match).test(nameOf(attack)));
  const order = slice ? random.fork('starvation').shuffle(wanted) : wanted;
  const rows: Row[] = [];
  let count = 0;
  for (const attack of order) {
    if (count > 0 && performance.now() - begun > bounds.all) break;
    const place = join(work, `starvation-${count++}`);
    const found = findings.after(nameOf(attack));
    const added = await runAttack(attack, place, bounds, log).catch((error): Row[] => {
      found.add('unavailable', `the attack broke off: ${error instanceof Error ? error.stack : error}`);
      return [];
    });
    rows.push(...added);
    for (const row of added) {
      const failure = failureOf(row);
      if (failure === undefined) continue;
      log(`starvation: ${row.operation} of ${row.victim}: ${failure}`);
      findings.after(describeRow(row)).add('unavailable', failure);
    }
  }
  const figures = {
    'saturated queues': `${count} of ${attacks.length}`,
    'repetitions of each operation': bounds.rounds,
  };
  return { name: 'Starvation', cases: Math.max(count, rows.length), figures, table: renderTable(rows) };
}

/** Starts a service, measures the victims while it is idle, and again while the attack is in progress. */
async function runAttack(attack: Attack, place: string, bounds: Bounds, log: PartOptions['log']): Promise<Row[]> {
  const endings = createEndings();
  mkdirSync(place, { recursive: true });
  endings.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  try {
    const { victims, attacker } = await prepare(attack, { place, endings, bounds });
    const names = [...commonOperations, ...(attack.own ?? [])];
    const measured = (rounds: number, limitOf?: LimitOf) => {
      const end = performance.now() + bounds.measuring;
      return measure({ names, victims, rounds, longEnough: bounds.longEnough, end, ...(limitOf && { limitOf }) });
    };
    await measured(2); // the first use loads programs and tables
    const idle = await measured(Math.ceil(bounds.rounds / victims.length)); // the samples of all victims count together
    for (const victim of victims)
      for (const name of names) {
        const [failure] = idle(victim, name).failures;
        if (failure !== undefined) throw new Error(`${name} of ${victim.name} fails on the idle service: ${failure}`);
      }
    const idleOf = (name: OperationName) => percentile95(victims.flatMap((victim) => idle(victim, name).times));
    const limitOf: LimitOf = (name) => 3 * idleOf(name) + operations[name].allowance;
    attacker.begin();
    await fill(attack, attacker, bounds.filling);
    const loaded = await measured(bounds.rounds, limitOf);
    const { outcomes, wasFull } = attacker.progress();
    log(`starvation: ${nameOf(attack)}: ${outcomes}`);
    if (!wasFull) throw new Error(`the attack did not fill the queue: ${outcomes}`);
    await attacker.end();
    return victims.flatMap((victim) =>
      names.map((name): Row => {
        const { times, failures } = loaded(victim, name);
        const figures = { idle: idleOf(name), loaded: percentile95(times), limit: limitOf(name), tries: times.length };
        return { attack: nameOf(attack), victim: victim.name, operation: name, failures, ...figures };
      }),
    );
  } finally {
    await endings.end();
  }
}

type LimitOf = (name: OperationName) => number;

interface Preparation {
  readonly place: string;
  readonly endings: Endings;
  readonly bounds: Bounds;
}

/** Starts a service with two projects. The attacker is the first key of the first project, or has no key. */
async function prepare(attack: Attack, { place, endings, bounds }: Preparation) {
  const thirdParty = await openThirdParty(place);
  endings.after(thirdParty.close);
  const folder = join(place, 'live');
  mkdirSync(folder);
  const service = await startService(endings, {
    folder,
    settings: { ...thirdParty.settings, ...settings, ...attack.settings, ...(attack.embeds && thirdParty.embedding) },
  });
  if (attack.account === true) await setUp(service);
  const { first, second } = await createSecondProject(service);
  const { signal } = new AbortController();
  const owner = createCaller(service, { key: first.key, signal });
  const victim = async (name: string, key: string) =>
    await prepareVictim(name, createCaller(service, { key, signal, timeoutMs: bounds.timeout }));
  const victims: readonly Victim[] = [
    await victim('another project', second.key),
    await victim('another key', await owner.createKey(first.id)),
  ];
  const key = attack.keyless === true ? null : await owner.createKey(first.id);
  const { filesUrl, pluginsUrl } = service;
  return {
    victims,
    attacker: await startAttacker({ attack: nameOf(attack), service: { filesUrl, pluginsUrl }, key }, endings),
  };
}

/** Waits until the queue is full, which a refusal shows, or for at most some seconds. */
async function fill(attack: Attack, attacker: Attacker, filling: number): Promise<void> {
  const end = performance.now() + filling;
  const enough = performance.now() + Math.min(filling, 4_000);
  while (performance.now() < end && !attacker.progress().wasRefused) {
    if (attack.untilRefused !== true && performance.now() > enough) return;
    await pause(50);
  }
}
