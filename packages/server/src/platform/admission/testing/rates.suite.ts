import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../log/logger.ts';
import { createMetrics } from '../../metrics.ts';
import type { RateLimitRepository, RateRule } from '../rate-rules.ts';
import { createRates } from '../rates.ts';

export interface OpenedRates {
  /** Its project has the keys `apik1` and `apik2`. */
  readonly repository: RateLimitRepository;
  readonly projectId: string;
  /** The number of statements so far. */
  readonly statements: () => number;
}

/** Noon. */
const start = Date.UTC(2026, 10, 29, 12);
let nextRule = 0;

/** The behaviour of rate limits on the storage of an adapter, in processes that share it. */
export function testRates(opened: () => OpenedRates): void {
  async function addRule(rule: Partial<RateRule>): Promise<string> {
    const id = `rate${nextRule++}`;
    const none = { subjectId: null, tool: null, perMinute: null, perDay: null, createdAt: start };
    const whole = { ...none, id, projectId: opened().projectId, ...rule };
    assert.equal(await opened().repository.addRule(whole, 100), 'added');
    return id;
  }
  async function newProcess(clock = { now: () => start }) {
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
    const metrics = createMetrics();
    const rates = createRates({ repository: opened().repository, clock, logger, metrics });
    await rates.load();
    const owner = (keyId = 'apik1') => ({ projectId: opened().projectId, keyId });
    /** @returns how many were admitted */
    async function send(count: number, keyId = 'apik1', tool: string | null = null) {
      const taken = await Promise.allSettled(
        Array.from({ length: count }, async () => await rates.take(owner(keyId), tool)),
      );
      return taken.filter(({ status }) => status === 'fulfilled').length;
    }
    return { rates, send, owner, metrics, lines, clock };
  }
  const forget = async () => {
    const { repository, projectId } = opened();
    for (const { id } of await repository.listRules(projectId)) await repository.removeRule(projectId, id);
  };

  test('one process admits exactly the limit, and each key has it by itself', async () => {
    await addRule({ perMinute: 7 });
    const { rates, send, owner, metrics, lines } = await newProcess();
    const reported: string[] = [];
    for (let nth = 0; nth < 7; nth++)
      await rates.take(owner(), null, ({ RateLimit }) => reported.push(/r=(\d+)/.exec(RateLimit)?.[1] ?? ''));
    assert.deepEqual(reported, ['6', '5', '4', '3', '2', '1', '0']);
    assert.equal(await send(20), 0);
    assert.equal(await send(20, 'apik2'), 7);
    await assert.rejects(async () => await rates.take(owner(), null), {
      code: 'TOO_MANY_REQUESTS',
      message: 'The rate limit of 7 requests per minute is reached. Retry in 60 seconds.',
      headers: { 'Retry-After': '60' },
    });
    assert.match(await metrics.metrics(), /^quartermaster_rate_limited_total\{window="minute"\} 34$/m);
    const logged = lines.filter((line) => line.includes('rate limit reached'));
    assert.equal(logged.length, 10, 'the log is bounded');
    assert.match(logged[0] ?? '', /"event":"rate_limited","rate_limit":"rate\d+".*"key":"apik1"/);
    assert.equal(rates.take({ projectId: opened().projectId, keyId: 'admn1' }, null), undefined, 'a session');
    assert.equal(rates.take({ projectId: null, keyId: null }, null), undefined, 'no key');
    await forget();
  });

  test('two processes that share the store admit exactly a limit that both reach, and hold back at most a tenth', async () => {
    await addRule({ perMinute: 50 });
    const [one, other] = [await newProcess(), await newProcess()];
    const counts = await Promise.all([one.send(100), other.send(100)]);
    assert.equal(counts[0] + counts[1], 50);
    const third = await newProcess({ now: () => start + 60_000 });
    const fourth = await newProcess({ now: () => start + 60_000 });
    assert.equal(await third.send(1), 1);
    const rest = await fourth.send(100);
    assert.ok(rest >= 44 && rest < 50, `${rest}`);
    await third.rates.close();
    fourth.clock.now = () => start + 61_001;
    assert.equal(rest + (await fourth.send(100)), 49, 'a stopped process gives back its portion');
    await forget();
  });

  test('a portion needs one statement, and nothing is asked without a rule or when nothing is left', async () => {
    await addRule({ subjectId: 'apik1', perMinute: 1000 });
    const { send } = await newProcess();
    const count = async (sent: number, keyId: string) => {
      const before = opened().statements();
      const results = [];
      for (let nth = 0; nth < sent; nth++) results.push(await send(1, keyId));
      return { statements: opened().statements() - before, passed: results.filter((one) => one === 1).length };
    };
    assert.deepEqual(await count(500, 'apik2'), { statements: 0, passed: 500 });
    assert.deepEqual(await count(100, 'apik1'), { statements: 1, passed: 100 });
    const { statements, passed } = await count(2000, 'apik1');
    assert.ok(passed === 900 && statements < 60, `${statements} statements for ${passed}`);
    assert.deepEqual(await count(500, 'apik1'), { statements: 0, passed: 0 });
    await forget();
  });

  test('windows are minutes and UTC days, and the strictest limit decides', async () => {
    await addRule({ perMinute: 3, perDay: 5 });
    await addRule({ perMinute: 4 });
    const process = await newProcess({ now: () => start + 59_500 });
    assert.equal(await process.send(10), 3);
    await assert.rejects(async () => await process.rates.take(process.owner(), null), {
      headers: { 'Retry-After': '1' },
    });
    process.clock.now = () => start + 60_000;
    assert.equal(await process.send(10), 2);
    await assert.rejects(async () => await process.rates.take(process.owner(), null), {
      code: 'RESOURCE_LIMIT_REACHED',
      headers: { 'Retry-After': String(12 * 3600 - 60) },
    });
    const states = await process.rates.listStates(process.owner());
    assert.deepEqual(
      states.map(({ window, limit, remaining, reset }) => ({ window, limit, remaining, reset })),
      [
        { window: 'minute', limit: 3, remaining: 1, reset: 60 },
        { window: 'day', limit: 5, remaining: 0, reset: 43_140 },
        { window: 'minute', limit: 4, remaining: 2, reset: 60 },
      ],
      'a refused request is not counted by the other limits',
    );
    process.clock.now = () => start + 12 * 3_600_000;
    assert.equal(await process.send(10), 3);
    // A clock that was far ahead does not close the limit until that time.
    const late = await newProcess({ now: () => start + 400 * 86_400_000 });
    assert.equal(await late.send(10), 3);
    const right = await newProcess({ now: () => start + 86_400_000 });
    assert.equal(await right.send(10), 3);
    await forget();
  });

  test('a limit of a plugin or bundle counts its runs only, and one of a key no other key', async () => {
    await addRule({ tool: 'tea/brew', perMinute: 2 });
    await addRule({ tool: 'coffee', subjectId: 'apik1', perMinute: 3 });
    const { send } = await newProcess();
    assert.equal(await send(5, 'apik1', 'tea/brew'), 2);
    assert.equal(await send(5, 'apik1', 'tea/cup'), 5);
    assert.equal(await send(2, 'apik1', 'coffee/grind'), 2);
    assert.equal(await send(5, 'apik1', 'coffee/brew'), 1);
    assert.equal(await send(5, 'apik2', 'coffee/brew'), 5);
    assert.equal(await send(5), 5, 'requests');
    await forget();
  });

  test('a replay is not counted, and a process applies a change of rules after it has loaded them', async () => {
    const id = await addRule({ perMinute: 1 });
    const { rates, send, owner } = await newProcess();
    rates.putBack(owner());
    for (let nth = 0; nth < 5; nth++) {
      assert.equal(await send(1), 1);
      rates.putBack(owner());
    }
    rates.putBack(owner());
    assert.equal(await send(5), 1);
    const { repository, projectId } = opened();
    assert.equal(await repository.removeRule('other', id), false);
    assert.equal(await repository.removeRule(projectId, id), true);
    await rates.load();
    assert.equal(await send(5), 5);
    const rule = { id: 'rate-x', projectId, subjectId: 'apik9', tool: null, perMinute: 1, perDay: null, createdAt: 1 };
    assert.equal(await repository.addRule(rule, 100), 'unknown_subject');
    await addRule({ perDay: 1 });
    assert.equal(await repository.addRule({ ...rule, subjectId: 'apik2' }, 1), 'full');
    await send(1);
    await repository.sweep(start + 86_400_000);
    assert.deepEqual(await repository.listUsage(projectId, 'apik1'), []);
    await forget();
  });
}
