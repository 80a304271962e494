import type { HostileCase } from './hostile-case.suite.ts';

/** Ways to recover objects that the handler's realm lacks. Each of them then reads a file of another bundle. */
export const realm: readonly HostileCase[] = [
  {
    does: 'find the environment of the server',
    body: `must(process.env.PATH ?? process.env.HOME ?? process.env.USER);`,
  },
  { does: 'read the arguments of its process', body: `must(process.argv.length > 1); reach(input, process);` },
  { does: 'use the modules of process', body: `reach(input, process);` },
  { does: 'use eval', body: `reach(input, (0, eval)('process'));` },
  { does: 'use new Function', body: `reach(input, new Function('return process')());` },
  { does: 'use the constructor of functions', body: `reach(input, (() => {}).constructor('return process')());` },
  {
    does: 'use the constructor of async functions',
    body: `reach(input, await (async () => {}).constructor('return process')());`,
  },
  {
    does: 'use the constructor of generators',
    body: `reach(input, (function* () {}).constructor('yield process')().next().value);`,
  },
  {
    does: 'give text to a timer',
    body: `globalThis.done = undefined; setTimeout('globalThis.done = process', 0); await new Promise((it) => setTimeout(it, 20)); reach(input, done);`,
  },
  { does: 'use vm', body: `reach(input, (await need('vm')).runInThisContext('process'));` },
  {
    does: 'use vm with a context',
    body: `reach(input, (await need('vm')).runInNewContext('it.constructor.constructor("return process")()', { it: {} }));`,
  },
  {
    does: 'compile a module of vm',
    body: `const vm = await need('vm'); reach(input, vm.compileFunction('return process')());`,
  },
  {
    does: 'import a data: module',
    body: `const it = await import('data:text/javascript,export default process'); reach(input, it.default);`,
  },
  {
    does: 'import a blob: module',
    body: `const it = await import(URL.createObjectURL(new Blob(['export default process'], { type: 'text/javascript' }))); reach(input, it.default);`,
  },
  { does: 'use a realm of its own', body: `reach(input, new ShadowRealm().evaluate('process'));` },
  {
    does: 'compile WebAssembly',
    body: `new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); reach(input, process);`,
  },
  {
    does: 'instantiate WebAssembly',
    body: `await WebAssembly.instantiate(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); reach(input, process);`,
  },
  {
    does: 'use inner functions of the engine',
    body: `(await need('v8')).setFlagsFromString('--allow-natives-syntax'); reach(input, (0, eval)('%GlobalPrint, process'));`,
    isLasting: true,
  },
  {
    does: 'switch off checks of the engine',
    body: `(await need('v8')).setFlagsFromString('--no-disallow-code-generation-from-strings'); reach(input, process);`,
    isLasting: true,
  },
  { does: 'use bindings', body: `must(process.binding('fs')); reach(input, process);` },
  { does: 'use linked bindings', body: `must(process._linkedBinding); reach(input, process);` },
  {
    does: 'use inner bindings',
    body: `must(globalThis.internalBinding ?? process.internalBinding); reach(input, process);`,
  },
  { does: 'use the CommonJS loader', body: `reach(input, (await need('module')).createRequire(import.meta.url));` },
  { does: 'use the main module', body: `reach(input, process.mainModule.require);` },
  { does: 'use the module cache', body: `const { _load } = (await need('module')).Module; reach(input, _load);` },
  {
    does: 'hook the imports of others',
    body: `const { registerHooks } = await need('module'); registerHooks({ resolve: (s, c, next) => next(s, c) }); reach(input, process);`,
    isLasting: true,
  },
  {
    does: 'import a resolved name',
    body: `must(import.meta.resolve('node:fs') === 'node:fs'); reach(input, (await import(import.meta.resolve('node:fs'))).default && process);`,
  },
  {
    does: 'import by another spelling of the name',
    body: `for (const name of ['node:fs/', 'node:./fs', 'NODE:fs', 'fs', 'node:fs?a', 'node:fs#a', ' node:fs']) { const it = await import(name).catch(() => undefined); if (it) return reach(input, () => it.default) ?? 'through'; } must(false);`,
  },
  {
    does: 'allow a module through a prototype',
    body: `Object.prototype['node:fs'] = true; try { const it = await import('node:fs'); reach(input, () => it.default); } finally { delete Object.prototype['node:fs']; }`,
    isLasting: true,
  },
  {
    does: 'make every string start like the folder of its bundle',
    body: `String.prototype.startsWith = () => true; const it = await import('node:fs'); reach(input, () => it.default);`,
    isLasting: true,
  },
  {
    does: 'replace the call of functions',
    body: `Function.prototype.call = Function.prototype.apply = Reflect.apply = () => true; const it = await import('node:fs'); reach(input, () => it.default);`,
    isLasting: true,
  },
  {
    does: 'pollute the options of the loader',
    body: `Object.defineProperty(Object.prototype, 'url', { get: () => import.meta.url, set() {}, configurable: true }); try { const it = await import('node:fs'); reach(input, () => it.default); } finally { delete Object.prototype.url; }`,
    isLasting: true,
  },
  {
    does: 'pollute the options of a child process',
    body: `Object.prototype.shell = true; Object.prototype.execArgv = ['--no-permission']; const cp = await need('child_process'); must(cp.spawnSync('true').status === 0);`,
    isLasting: true,
  },
  {
    does: 'take functions from the stack',
    body: `Error.prepareStackTrace = (_, sites) => sites;
      const it = new Error().stack.map((site) => site.getThis() ?? site.getFunction()).find((it) => it !== undefined && it !== run); must(it); reach(input, it.require ?? it);`,
    isLasting: true,
  },
  {
    does: 'take functions from the callers',
    body: `const it = (function f() { return f.caller; })(); must(it); reach(input, it);`,
  },
  {
    does: 'take the process from an error of Node',
    body: `try { Buffer.alloc(-1); } catch (cause) { reach(input, cause.constructor.constructor('return process')()); }`,
  },
  {
    does: 'take the process from the console',
    body: `const it = console._stdout ?? console._stderr; must(it); reach(input, it.constructor.constructor('return process')());`,
  },
  {
    does: 'take the process from an event emitter',
    body: `const it = (await need('events')).EventEmitter; reach(input, it.constructor('return process')());`,
  },
  { does: 'listen to messages of the host', body: `must(process.on('message', () => {})); reach(input, process);` },
  {
    does: 'use the channel of a forked process',
    body: `must(process.send ?? process.channel ?? process.disconnect); reach(input, process);`,
  },
  {
    does: 'drop its restrictions',
    body: `must(process.permission?.drop ?? process.getBuiltinModule); reach(input, process);`,
  },
  {
    does: 'follow asynchronous work of other code',
    body: `const { createHook } = await need('async_hooks'); createHook({}).enable(); reach(input, process);`,
    isLasting: true,
  },
  {
    does: 'subscribe to diagnostics of the process',
    body: `(await need('diagnostics_channel')).subscribe('http.client.request.start', () => {}); reach(input, process);`,
  },
  { does: 'run tests', body: `(await need('test')); reach(input, process);` },
  { does: 'start a REPL', body: `must((await need('repl')).start); reach(input, process);` },
  {
    does: 'measure the event loop of the process',
    body: `must((await need('perf_hooks')).monitorEventLoopDelay); reach(input, process);`,
  },
  { does: 'use a CommonJS file', body: `const it = await import('./common.cjs'); reach(input, it.default);` },
];
