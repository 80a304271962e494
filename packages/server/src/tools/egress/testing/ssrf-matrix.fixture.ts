import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, isIP } from 'node:net';
import { createLogger } from '../../../platform/log/logger.ts';
import type { EgressResult } from '../../../platform/outbound.ts';
import { bareHost } from '../addresses.ts';
import type { Broker, EgressPolicy } from '../broker.ts';
import { createBroker } from '../create-broker.ts';
import { type SsrfCase, ssrfCases } from './ssrf-cases.suite.ts';
import { startNameServer } from './stub-name-server.suite.ts';

/**
 * Runs in its own network and mount namespaces, where every address belongs to this machine and a local name server
 * resolves names. Connections to any address except `publicAddress` reach a trap. Prints the results as JSON.
 */
const publicAddress = '93.184.216.34';
const [port, proxyPort] = [80, 3128];
const never = new AbortController().signal;
const rebindings = 1_000;

const trapped: string[] = [];
let location = '';
let status = 302;
const cases = ssrfCases();

await openWorld();
const answer: RequestListener = (request, response) => {
  if (request.url === '/redirect') response.writeHead(status, { location, connection: 'close' }).end();
  else response.writeHead(200, { connection: 'close' }).end('public');
};
const servers = [port, proxyPort].map((at) => createServer(answer).listen(at, '::'));
for (const server of servers) {
  server.on('connection', (socket) => {
    const at = `${socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '')}`;
    if (at !== publicAddress || socket.localPort === proxyPort) trapped.push(`${at}:${socket.localPort}`);
  });
}
await Promise.all(servers.map((server) => once(server, 'listening')));
const names = await startNameServer(answersOf);
const broker = createBroker({
  ...{ overrides: new Map(), allow: [], logger: createLogger('silent'), version: '1', connectTimeoutMs: 2_000 },
});

const control = await countControl();
const wrong: string[] = [];
const counts = { direct: 0, redirect: 0, dns: 0, rebinding: 0 };
await expectResponse('http://start.example.com/', 'a public name');
for (const [index, hostile] of cases.entries()) {
  await direct(hostile);
  await redirected(hostile);
  await byName(hostile, index);
}
await rebind();
await broker.close();
for (const server of servers) {
  server.closeAllConnections();
  server.close();
}
await names.close();
console.log(JSON.stringify({ cases: cases.length, ...counts, control, trapped, wrong: wrong.slice(0, 20) }));

/** Makes all of IPv4 and IPv6 local, so that an escaping call reaches this process and cannot leave the machine. */
async function openWorld(): Promise<void> {
  for (const command of [
    'ip link set lo up',
    'ip route add local 0.0.0.0/0 dev lo',
    'ip -6 route add local ::/0 dev lo',
    `mount --bind ${process.argv[2]} /etc/resolv.conf`,
  ]) {
    const [program = '', ...args] = command.split(' ');
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

function answersOf(name: string, time: number): readonly string[] | undefined {
  if (name === 'start.example.com') return [publicAddress];
  const [, kind, index] = /^(plain|mixed|alias|target|change)-(\d+)\.example\.com$/.exec(name) ?? [];
  const hostile = cases[Number(index)];
  if (kind === 'change') return time === 1 ? [publicAddress] : ['127.0.0.1'];
  if (hostile === undefined) return name === 'metadata.google.internal' ? ['169.254.169.254'] : undefined;
  const address = addressOf(hostile);
  if (kind === 'alias') return [`target-${index}.example.com`];
  if (address === undefined) return kind === 'mixed' ? [publicAddress, '127.0.0.1'] : ['127.0.0.1', '::1'];
  return kind === 'mixed' ? [publicAddress, address, '2606:2800:220:1::1'] : [address];
}

function addressOf({ host }: SsrfCase): string | undefined {
  const parsed = bareHost(URL.parse(`http://${host}/`)?.hostname ?? '');
  return isIP(parsed) === 0 ? undefined : parsed;
}

/** A policy that declares everything and allows both schemes, so that only the address check can refuse. */
function policyFor(...urls: readonly string[]): EgressPolicy {
  const hosts = urls.flatMap((url) => URL.parse(url)?.hostname ?? []).map(bareHost);
  return {
    ...{ hosts: new Set(['start.example.com', ...hosts]), schemes: new Set(['http', 'https'] as const) },
    ...{ credentials: new Map(), inject: [], maxResponseBytes: 1024, maxRedirects: 3, timeoutMs: 5_000 },
  };
}

function send(url: string, ...others: readonly string[]): ReturnType<Broker['send']> {
  return broker.send({ method: 'GET', url }, policyFor(url, ...others), never);
}

function expectRefusal(result: EgressResult, what: string): void {
  // Two other outcomes are safe: the host name does not resolve, or the `Location` is not a URL, so there is no redirect to follow.
  const isUnfollowed = result.kind === 'response' && result.status >= 300 && URL.parse(location) === null;
  if (result.kind !== 'refused' && result.kind !== 'unreachable' && !isUnfollowed)
    wrong.push(`${what}: ${result.kind}`);
}

async function expectResponse(url: string, what: string): Promise<void> {
  const result = await send(url);
  if (result.kind !== 'response') wrong.push(`${what}: ${JSON.stringify(result)}`);
}

async function direct({ host, name }: SsrfCase): Promise<void> {
  for (const url of [`http://${host}/`, `http://${host}:${proxyPort}/`, `https://${host}/`]) {
    expectRefusal(await send(url), `direct ${name}`);
  }
  counts.direct += 1;
}

async function redirected({ host, name }: SsrfCase): Promise<void> {
  location = `http://${host}/`;
  if (!/^[\x21-\x7e]*$/.test(location)) location = new URL(`http://h/?${location}`).search.slice(1);
  for (status of [301, 302, 303, 307, 308]) {
    expectRefusal(await send('http://start.example.com/redirect', location), `redirect ${status} ${name}`);
  }
  counts.redirect += 1;
}

async function byName({ name }: SsrfCase, index: number): Promise<void> {
  for (const kind of ['plain', 'mixed', 'alias']) {
    const url = `http://${kind}-${index}.example.com/`;
    expectRefusal(await send(url), `dns ${kind} ${name}`);
    location = url;
    status = 302;
    expectRefusal(await send('http://start.example.com/redirect', url), `dns ${kind} ${name} behind a redirect`);
  }
  counts.dns += 1;
}

/** Tests names that are public at the first lookup and local at the next: the checked address must be the one contacted. */
async function rebind(): Promise<void> {
  for (let index = 0; index < rebindings; index += 1) {
    const url = `http://change-${index}.example.com/`;
    await expectResponse(url, 'the first answer');
    expectRefusal(await send(url), 'the second answer');
    counts.rebinding += 1;
  }
}

/** Counts the forbidden addresses at which the trap can be reached. */
async function countControl(): Promise<number> {
  const targets = [...new Set(cases.flatMap((it) => addressOf(it) ?? []))];
  for (const host of targets) {
    await new Promise<void>((resolve) => {
      const socket = connect({ host, port, timeout: 500 });
      const end = (): void => {
        socket.destroy();
        resolve();
      };
      socket.on('connect', end).on('error', end).on('timeout', end);
    });
  }
  // The listener may receive the last connection slightly later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return trapped.splice(0).length;
}
