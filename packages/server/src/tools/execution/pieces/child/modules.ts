import asyncHooks from 'node:async_hooks';
import fs from 'node:fs';
import { isBuiltin, registerHooks } from 'node:module';
import net from 'node:net';
import punycode from 'node:punycode';
import stream from 'node:stream';
import streamPromises from 'node:stream/promises';
import streamWeb from 'node:stream/web';
import util from 'node:util';
import { createHttpModule } from './http-module.ts';
import { standIn, standInLike } from './stand-ins.ts';

/**
 * The modules of Node.js as a piece sees them. Those that the restrictions of handlers allow are the real ones, and some others that
 * cannot reach outside of the process. All others are shims over `context.fetch`, or stand-ins whose use fails.
 */

/** Modules that every handler may import. The restrictions check them again. */
const allowed = new Set([
  ...['assert', 'assert/strict', 'buffer', 'crypto', 'events', 'path', 'path/posix'],
  ...['querystring', 'string_decoder', 'url', 'util', 'zlib'],
]);

const key = Symbol.for('quartermaster.modules');
const scheme = 'piece-module:';

/** @param process what pieces see instead of the process */
export function redirectModules(process: object): void {
  const modules = new Map<string, unknown>(Object.entries(createModules(process)));
  const find = (name: string) => {
    if (!modules.has(name)) modules.set(name, standIn(name));
    return modules.get(name);
  };
  Object.defineProperty(globalThis, key, { value: find });
  registerHooks({
    resolve: (specifier, context, next) => {
      const name = specifier.startsWith('node:') ? specifier.slice('node:'.length) : specifier;
      if (isBuiltin(specifier) && !allowed.has(name)) {
        return { url: scheme + name, format: 'commonjs', shortCircuit: true };
      }
      try {
        return next(specifier, context);
      } catch (cause) {
        throw isMissing(cause) ? missingModule(specifier) : cause;
      }
    },
    load: (url, context, next) => {
      if (!url.startsWith(scheme)) return next(url, context);
      const name = JSON.stringify(url.slice(scheme.length));
      const source = `module.exports = globalThis[Symbol.for(${JSON.stringify(key.description)})](${name});`;
      return { format: 'commonjs', source, shortCircuit: true };
    },
  });
}

function createModules(process: object): Record<string, unknown> {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  const { AsyncLocalStorage, AsyncResource } = asyncHooks;
  return {
    http: createHttpModule('http:'),
    https: createHttpModule('https:'),
    stream,
    'stream/promises': streamPromises,
    'stream/web': streamWeb,
    'util/types': util.types,
    punycode,
    process,
    console,
    sys: util,
    timers: { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate },
    'timers/promises': {
      setTimeout: (ms?: number, value?: unknown) => new Promise((end) => setTimeout(end, ms, value)),
    },
    async_hooks: standIn('async_hooks', { AsyncLocalStorage, AsyncResource }),
    perf_hooks: standIn('perf_hooks', { performance }),
    diagnostics_channel: standIn('diagnostics_channel', noDiagnostics),
    fs: standInLike('fs', Object.keys(fs), { constants: {}, existsSync: () => false }),
    'fs/promises': standInLike('fs/promises', Object.keys(fs.promises), { constants: {} }),
    net: standInLike('net', Object.keys(net), { isIP: net.isIP, isIPv4: net.isIPv4, isIPv6: net.isIPv6 }),
    os: createOs(),
    tty: standIn('tty', { isatty: () => false }),
    worker_threads: standIn('worker_threads', { isMainThread: true, parentPort: null, threadId: 0, workerData: null }),
    constants: {},
  };
}

/** Channels without subscribers. Clients publish what they do. */
const noChannel = { hasSubscribers: false, publish: () => {}, subscribe: () => {}, unsubscribe: () => false };
const noTracing = {
  hasSubscribers: false,
  start: noChannel,
  end: noChannel,
  asyncStart: noChannel,
  asyncEnd: noChannel,
};
const noDiagnostics = {
  channel: () => noChannel,
  hasSubscribers: () => false,
  tracingChannel: () => ({ ...noTracing, error: noChannel }),
};

/** Facts that clients send in their user agents, the same on every machine. */
function createOs(): unknown {
  const facts = {
    platform: 'linux',
    type: 'Linux',
    release: '6.0',
    arch: 'x64',
    hostname: 'localhost',
    tmpdir: '/tmp',
  };
  const functions = Object.entries({
    ...facts,
    homedir: '/',
    endianness: 'LE',
    version: '',
    machine: 'x86_64',
    uptime: 1,
  });
  const members = { EOL: '\n', constants: { signals: {}, errno: {} }, cpus: () => [], networkInterfaces: () => ({}) };
  return standIn('os', { ...Object.fromEntries(functions.map(([name, fact]) => [name, () => fact])), ...members });
}

function isMissing(cause: unknown): boolean {
  const { code }: { code?: unknown } = Object(cause);
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}

function missingModule(name: string): Error {
  const message = `This piece needs the package ${JSON.stringify(name)}, which is not in its file. Pack it with its packages: run "quartermaster bundle pack @activepieces/piece-NAME" on a workstation.`;
  return Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });
}
