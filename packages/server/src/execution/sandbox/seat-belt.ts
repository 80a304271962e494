import { registerHooks } from 'node:module';

/**
 * What the child takes away before a handler is loaded. A seat belt, not a wall: it runs in the same realm as the
 * handler. It closes what Node's permission model leaves open: signals to the parent, scheduling priorities, flags of
 * V8, `vm`, code from `data:` URLs, SQLite, WebAssembly. What it does not stop is in docs/reference/isolation.md.
 */
export interface SeatBelt {
  /** Stops the timers that a finished run left behind. */
  endTimers(): void;
}

/** Modules without a way out of the process. Null prototype, frozen: polluting `Object.prototype` adds nothing. */
const allowedModules: Readonly<Record<string, true | undefined>> = Object.freeze(
  Object.assign(Object.create(null), {
    'node:assert': true,
    'node:assert/strict': true,
    'node:buffer': true,
    'node:crypto': true,
    'node:events': true,
    'node:path': true,
    'node:path/posix': true,
    'node:querystring': true,
    'node:string_decoder': true,
    'node:url': true,
    'node:util': true,
    'node:zlib': true,
  }),
);

const takenFromProcess = [
  ...['kill', '_kill', '_debugProcess', '_debugEnd', 'report', 'binding', '_linkedBinding', 'dlopen', 'execve'],
  ...['send', 'disconnect', 'channel', 'getBuiltinModule', 'loadEnvFile', 'chdir', 'umask', 'permission', 'abort'],
  ...['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'openStdin', '_rawDebug'],
  ...['_getActiveHandles', '_getActiveRequests', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier'],
];
const takenFromGlobal = ['WebAssembly', 'WebSocket', 'EventSource', 'localStorage', 'sessionStorage', 'Storage'];

/** `bundleUrl` ends with a slash; nothing outside it can be imported. */
export function fastenSeatBelt(bundleUrl: string): SeatBelt {
  restrictImports(bundleUrl);
  const real = process;
  for (const name of takenFromProcess) Reflect.deleteProperty(real, name);
  for (const name of takenFromGlobal) Reflect.deleteProperty(globalThis, name);
  define('process', createProcessFacade(real));
  define('fetch', () => {
    throw new Error('A handler has no fetch of its own: use context.fetch.');
  });
  return trackTimers();
}

function restrictImports(bundleUrl: string): void {
  const startsWith = Function.prototype.call.bind(String.prototype.startsWith);
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (startsWith(found.url, bundleUrl) || allowedModules[found.url] === true) return found;
      throw new Error(`A handler may not import ${JSON.stringify(specifier)}.`);
    },
  });
}

/** Node's own code keeps the real `process`; a handler sees these members and no more. */
function createProcessFacade(real: NodeJS.Process): object {
  const { version, versions, arch, platform } = real;
  return Object.freeze({
    ...{ version, versions, arch, platform, env: Object.freeze({}), argv: Object.freeze([]) },
    exit: (code?: number) => real.exit(code),
    hrtime: real.hrtime,
    memoryUsage: real.memoryUsage,
    nextTick: real.nextTick,
    uptime: real.uptime,
  });
}

function trackTimers(): SeatBelt {
  const live = new Map<unknown, () => void>();
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  type Callback = (...values: unknown[]) => void;

  define('setTimeout', (callback: Callback, delay?: number, ...values: unknown[]) => {
    const timer = setTimeout(() => {
      live.delete(timer);
      callback(...values);
    }, delay);
    live.set(timer, () => clearTimeout(timer));
    return timer;
  });
  define('setInterval', (callback: Callback, delay?: number, ...values: unknown[]) => {
    const timer = setInterval(callback, delay, ...values);
    live.set(timer, () => clearInterval(timer));
    return timer;
  });
  define('setImmediate', (callback: Callback, ...values: unknown[]) => {
    const timer = setImmediate(() => {
      live.delete(timer);
      callback(...values);
    });
    live.set(timer, () => clearImmediate(timer));
    return timer;
  });
  define('clearTimeout', (timer: NodeJS.Timeout | undefined) => {
    live.delete(timer);
    clearTimeout(timer);
  });
  define('clearInterval', (timer: NodeJS.Timeout | undefined) => {
    live.delete(timer);
    clearInterval(timer);
  });
  define('clearImmediate', (timer: NodeJS.Immediate | undefined) => {
    live.delete(timer);
    clearImmediate(timer);
  });

  return {
    endTimers: () => {
      for (const end of live.values()) end();
      live.clear();
    },
  };
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
