import type { HostileCase } from './hostile-case.suite.ts';

/**
 * Reaches the child's channel through objects that it shares with standard output, and imitates the child. The host
 * trusts nothing on the channel.
 */
export const openChannel = `const Socket = console._stdout.constructor; let channel;
  const write = Socket.prototype.write;
  Socket.prototype.write = function (...values) { channel = this; return write.apply(this, values); };
  context.log('open');
  Socket.prototype.write = write;
  const say = (text) => {
    const head = Buffer.alloc(5);
    head.writeUInt32LE(Buffer.byteLength(text));
    return new Promise((done) => channel.write(Buffer.concat([head, Buffer.from(text)]), done));
  };`;
const other = 'AAAAAAAAAAAAAAAAAAAAAA';

function sends(
  does: string,
  lines: string,
  ends: HostileCase['ends'] = ['returned', 'crashed', 'failed'],
): HostileCase {
  return { does, body: `${openChannel} ${lines} return 'honest';`, ends, isLasting: true };
}

/** Forged messages on the channel, and outputs that are not JSON. */
export const protocol: readonly HostileCase[] = [
  sends('answer for another run', `await say('{"type":"returned","run":"${other}","ms":0,"output":"forged"}');`),
  sends('fail another run', `await say('{"type":"failed","run":"${other}","ms":0,"message":"forged"}');`),
  sends(
    'request for another run',
    `await say('{"type":"fetch","run":"${other}","call":1,"request":{"url":"https://a.test/"}}');`,
  ),
  sends('log for another run', `await say('{"type":"log","run":"${other}","message":"forged"}');`),
  sends('say that it is ready, again and again', `for (let i = 0; i < 50; i++) await say('{"type":"ready"}');`),
  sends('return runs that the host did not ask for', `await say('{"type":"pending_dropped"}');`),
  sends('send something that is not a message', `await say('hello'); await new Promise(() => {});`, ['crashed']),
  sends('send a message of no known type', `await say('{"type":"sudo","run":"a"}'); await new Promise(() => {});`, [
    'crashed',
  ]),
  sends('send an array', `await say('[1]'); await new Promise(() => {});`, ['crashed']),
  sends('send null', `await say('null'); await new Promise(() => {});`, ['crashed']),
  sends(
    'send bytes that are not text',
    `channel.write(Buffer.of(2, 0, 0, 0, 0, 0xff, 0xfe)); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends(
    'send a log with a member __proto__',
    `await say('{"type":"log","run":"a","message":"m","fields":{"__proto__":{"a":1}}}'); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends(
    'send a request with headers that are none',
    `await say('{"type":"fetch","run":"a","call":1,"request":{"url":"https://a.test/","headers":{"a":{"b":1}}}}'); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends(
    'send a call that has no number',
    `await say('{"type":"fetch","run":"a","call":1e999,"request":{"url":"https://a.test/"}}'); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends(
    'send an answer of negative time',
    `await say('{"type":"returned","run":"a","ms":-1,"output":1}'); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends('send many messages', `for (;;) await say('{"type":"log","run":"a","message":"m"}');`, ['crashed']),
  sends('send a frame of no known kind', `channel.write(Buffer.of(0, 0, 0, 0, 9)); await new Promise(() => {});`, [
    'crashed',
  ]),
  sends('announce a frame of 4 GiB', `channel.write(Buffer.of(255, 255, 255, 255, 0)); await new Promise(() => {});`, [
    'crashed',
  ]),
  sends('send the frame that reports readiness again', `channel.write(Buffer.of(0, 0, 0, 0, 2));`),
  sends(
    'send a frame without end',
    `await new Promise((done) => channel.write(Buffer.of(0, 0, 16, 0, 0), done)); for (;;) channel.write('x'.repeat(2 ** 20)) || await new Promise((it) => channel.once('drain', it));`,
    ['crashed', 'out_of_memory'],
  ),
  sends(
    'send many large messages',
    `for (;;) await say('{"type":"log","run":"a","message":"' + 'm'.repeat(1e6) + '"}');`,
    ['crashed'],
  ),
  sends(
    'send what nests deeper than any parser likes',
    `await say('{"type":"log","run":"a","message":"m","fields":' + '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5) + '}'); await new Promise(() => {});`,
    ['crashed'],
  ),
  sends('send half a frame and wait', `channel.write(Buffer.of(9, 0, 0, 0, 0, 0x7b)); await new Promise(() => {});`, [
    'timed_out',
    'crashed',
  ]),
  sends('close the channel', `channel.destroy(); await new Promise(() => {});`, ['crashed', 'timed_out']),
  sends('end the channel', `channel.end(); await new Promise(() => {});`, ['crashed', 'timed_out']),
  sends('stop reading the channel', `channel.pause(); await new Promise(() => {});`, ['timed_out']),
  sends(
    'hear what the host says to others',
    `channel.on('data', () => {}); await context.fetch({ url: 'https://a.test/' }).catch(() => {});`,
  ),
  { does: 'return a cycle', body: `const a = {}; a.a = a; return a;`, ends: ['failed'] },
  { does: 'return what is not JSON', body: `return { a: 1n };`, ends: ['failed'] },
  { does: 'return a function', body: `return () => 1;`, ends: ['failed'] },
  { does: 'return a member __proto__', body: `return JSON.parse('{"__proto__":{"polluted":1}}');`, ends: ['failed'] },
  {
    does: 'return a member __proto__, deep inside',
    body: `return { a: [{ b: JSON.parse('{"__proto__":{"polluted":1}}') }] };`,
    ends: ['failed'],
  },
  {
    does: 'return deep nesting',
    body: `let a = 1; for (let i = 0; i < 5000; i++) a = [a]; return a;`,
    ends: ['failed'],
  },
  { does: 'return a getter that never ends', body: `return { get a() { for (;;); } };`, ends: ['timed_out'] },
  { does: 'return a toJSON that throws', body: `return { toJSON() { throw new Error('no'); } };`, ends: ['failed'] },
  {
    does: 'return a proxy',
    body: `return new Proxy({}, { ownKeys: () => { throw new Error('no'); } });`,
    ends: ['failed'],
  },
  {
    does: 'return what has a then',
    body: `return { then: (yes) => yes({ then: (it) => it('late') }) };`,
    ends: ['returned'],
  },
  { does: 'return 100 MB', body: `return 'x'.repeat(100 * 2 ** 20);`, ends: ['failed'], limits: { memoryMb: 1024 } },
  {
    does: 'throw 100 MB',
    body: `throw new Error('x'.repeat(100 * 2 ** 20));`,
    ends: ['failed'],
    limits: { memoryMb: 1024 },
  },
  { does: 'throw what is not an error', body: `throw Object.create(null);`, ends: ['failed'] },
  { does: 'throw an error that throws', body: `throw { toString() { throw 1; } };`, ends: ['failed'] },
  { does: 'throw lines for the log', body: `throw new Error('a\\n{"level":60}\\u001b[31m\\u2028');`, ends: ['failed'] },
  {
    does: 'poison JSON',
    body: `JSON.stringify = () => '{'; JSON.parse = () => ({ type: 'run' }); return 1;`,
    ends: ['returned'],
    isLasting: true,
  },
  {
    does: 'poison prototypes',
    body: `Array.prototype.push = Map.prototype.get = Map.prototype.set = () => { throw 1; }; return 1;`,
    ends: ['returned'],
    isLasting: true,
  },
  {
    does: 'poison promises',
    body: `Promise.prototype.then = () => { throw 1; }; return 1;`,
    ends: ['returned', 'failed', 'timed_out', 'crashed'],
    isLasting: true,
  },
];
