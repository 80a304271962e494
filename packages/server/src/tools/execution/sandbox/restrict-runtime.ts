import { registerHooks } from 'node:module';

/**
 * Loaded into the child before its entry (`--import`). It removes what Node's permission model leaves available: signals to the
 * parent, scheduling priorities, flags of V8, `vm`, code from `data:` URLs and WebAssembly. It runs in the same realm as the
 * handler, so it reduces risk but is not a security boundary. docs/reference/isolation.md lists what it does not stop.
 */

/**
 * Modules that cannot reach outside the process. The prototype is null and the object frozen, so a polluted `Object.prototype` adds
 * nothing.
 */
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

restrictImports(process.argv[2] ?? 'file:///dev/null/');
restrictProcess(process);
for (const name of takenFromGlobal) Reflect.deleteProperty(globalThis, name);
define('fetch', () => {
  throw new Error('Handlers cannot use the global fetch. Use context.fetch.');
});

/**
 * Restricts imports to the bundle's own files and the allowed modules. The restriction begins with the first module of the bundle;
 * before that only code of the runtime runs. `bundleUrl` ends with a slash.
 */
function restrictImports(bundleUrl: string): void {
  const startsWith = Function.prototype.call.bind(String.prototype.startsWith);
  let isForeignCodeLoaded = false;
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const isBundles = startsWith(found.url, bundleUrl);
      isForeignCodeLoaded ||= isBundles;
      if (isBundles || !isForeignCodeLoaded || allowedModules[found.url] === true) return found;
      throw new Error(`A handler may not import ${JSON.stringify(specifier)}.`);
    },
  });
}

/** Node's own code keeps the real `process`. All other code sees only these members. */
function restrictProcess(real: NodeJS.Process): void {
  for (const name of takenFromProcess) Reflect.deleteProperty(real, name);
  const { version, versions, arch, platform, hrtime, memoryUsage, nextTick, uptime } = real;
  const facade = {
    version,
    versions,
    arch,
    platform,
    hrtime,
    memoryUsage,
    nextTick,
    uptime,
    env: Object.freeze({}),
    argv: Object.freeze([]),
    exit: (code?: number) => real.exit(code),
  };
  define('process', Object.freeze(facade));
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
