import { bodyWith, casesOf, type HostileCase } from './hostile-case.suite.ts';

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

/** Returns a tag for what a case sends on the channel. */
function sending(...ends: NonNullable<HostileCase['ends']>[number][]) {
  return (parts: TemplateStringsArray, ...values: string[]) => {
    const lines = String.raw({ raw: parts }, ...values);
    return { body: `${openChannel} ${lines} return 'honest';`, ends, isLasting: true as const };
  };
}

const forged = sending('returned', 'crashed', 'failed');
const refused = sending('crashed');
const failing = bodyWith({ ends: ['failed'] });
const poisoning = bodyWith({ ends: ['returned'], isLasting: true });

/** Forged messages on the channel, and outputs that are not JSON. */
export const protocol: readonly HostileCase[] = casesOf({
  'answer for another run': forged`await say('{"type":"returned","run":"${other}","ms":0,"output":"forged"}');`,
  'fail another run': forged`await say('{"type":"failed","run":"${other}","ms":0,"message":"forged"}');`,
  'request for another run': forged`await say('{"type":"fetch","run":"${other}","call":1,"request":{"url":"https://a.test/"}}');`,
  'log for another run': forged`await say('{"type":"log","run":"${other}","message":"forged"}');`,
  'say that it is ready, again and again': forged`for (let i = 0; i < 50; i++) await say('{"type":"ready"}');`,
  'return runs that the host did not ask for': forged`await say('{"type":"pending_dropped"}');`,
  'send something that is not a message': refused`await say('hello'); await new Promise(() => {});`,
  'send a message of no known type': refused`await say('{"type":"sudo","run":"a"}'); await new Promise(() => {});`,
  'send an array': refused`await say('[1]'); await new Promise(() => {});`,
  'send null': refused`await say('null'); await new Promise(() => {});`,
  'send bytes that are not text': refused`channel.write(Buffer.of(2, 0, 0, 0, 0, 0xff, 0xfe)); await new Promise(() => {});`,
  'send a log with a member __proto__': refused`await say('{"type":"log","run":"a","message":"m","fields":{"__proto__":{"a":1}}}'); await new Promise(() => {});`,
  'send a request with headers that are none': refused`await say('{"type":"fetch","run":"a","call":1,"request":{"url":"https://a.test/","headers":{"a":{"b":1}}}}'); await new Promise(() => {});`,
  'send a call that has no number': refused`await say('{"type":"fetch","run":"a","call":1e999,"request":{"url":"https://a.test/"}}'); await new Promise(() => {});`,
  'send an answer of negative time': refused`await say('{"type":"returned","run":"a","ms":-1,"output":1}'); await new Promise(() => {});`,
  'send many messages': refused`for (;;) await say('{"type":"log","run":"a","message":"m"}');`,
  'send a frame of no known kind': refused`channel.write(Buffer.of(0, 0, 0, 0, 9)); await new Promise(() => {});`,
  'announce a frame of 4 GiB': refused`channel.write(Buffer.of(255, 255, 255, 255, 0)); await new Promise(() => {});`,
  'send the frame that reports readiness again': forged`channel.write(Buffer.of(0, 0, 0, 0, 2));`,
  'send a frame without end': sending(
    'crashed',
    'out_of_memory',
  )`await new Promise((done) => channel.write(Buffer.of(0, 0, 16, 0, 0), done)); for (;;) channel.write('x'.repeat(2 ** 20)) || await new Promise((it) => channel.once('drain', it));`,
  'send many large messages': refused`for (;;) await say('{"type":"log","run":"a","message":"' + 'm'.repeat(1e6) + '"}');`,
  'send what nests deeper than any parser likes': refused`await say('{"type":"log","run":"a","message":"m","fields":' + '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5) + '}'); await new Promise(() => {});`,
  'send half a frame and wait': sending(
    'crashed',
    'timed_out',
  )`channel.write(Buffer.of(9, 0, 0, 0, 0, 0x7b)); await new Promise(() => {});`,
  'close the channel': sending('crashed', 'timed_out')`channel.destroy(); await new Promise(() => {});`,
  'end the channel': sending('crashed', 'timed_out')`channel.end(); await new Promise(() => {});`,
  'stop reading the channel': sending('timed_out')`channel.pause(); await new Promise(() => {});`,
  'hear what the host says to others': forged`channel.on('data', () => {}); await context.fetch({ url: 'https://a.test/' }).catch(() => {});`,
  'return a cycle': failing`const a = {}; a.a = a; return a;`,
  'return what is not JSON': failing`return { a: 1n };`,
  'return a function': failing`return () => 1;`,
  'return a member __proto__': failing`return JSON.parse('{"__proto__":{"polluted":1}}');`,
  'return a member __proto__, deep inside': failing`return { a: [{ b: JSON.parse('{"__proto__":{"polluted":1}}') }] };`,
  'return deep nesting': failing`let a = 1; for (let i = 0; i < 5000; i++) a = [a]; return a;`,
  'return a getter that never ends': { body: `return { get a() { for (;;); } };`, ends: ['timed_out'] },
  'return a toJSON that throws': failing`return { toJSON() { throw new Error('no'); } };`,
  'return a proxy': failing`return new Proxy({}, { ownKeys: () => { throw new Error('no'); } });`,
  'return what has a then': {
    body: `return { then: (yes) => yes({ then: (it) => it('late') }) };`,
    ends: ['returned'],
  },
  'return 100 MB': { body: `return 'x'.repeat(100 * 2 ** 20);`, ends: ['failed'], limits: { memoryMb: 1024 } },
  'throw 100 MB': { body: `throw new Error('x'.repeat(100 * 2 ** 20));`, ends: ['failed'], limits: { memoryMb: 1024 } },
  'throw what is not an error': failing`throw Object.create(null);`,
  'throw an error that throws': failing`throw { toString() { throw 1; } };`,
  'throw lines for the log': failing`throw new Error('a\\n{"level":60}\\u001b[31m\\u2028');`,
  'poison JSON': poisoning`JSON.stringify = () => '{'; JSON.parse = () => ({ type: 'run' }); return 1;`,
  'poison prototypes': poisoning`Array.prototype.push = Map.prototype.get = Map.prototype.set = () => { throw 1; }; return 1;`,
  'poison promises': {
    body: `Promise.prototype.then = () => { throw 1; }; return 1;`,
    ends: ['returned', 'failed', 'timed_out', 'crashed'],
    isLasting: true,
  },
});
