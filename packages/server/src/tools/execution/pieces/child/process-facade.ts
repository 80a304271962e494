/** The `process` of pieces: that of handlers, and what the packages inside of pieces read when they are loaded. */
export function createProcessFacade({
  version,
  versions,
  arch,
  platform,
  hrtime,
  memoryUsage,
  nextTick,
  uptime,
}: NodeJS.Process) {
  const output = { write: () => true, on: () => output, once: () => output, end: () => {}, isTTY: false, columns: 80 };
  const facade = {
    version,
    versions,
    arch,
    platform,
    hrtime,
    memoryUsage,
    nextTick,
    uptime,
    env: {},
    argv: ['node', 'piece'],
    execArgv: [],
    execPath: '/usr/bin/node',
    title: 'node',
    pid: 1,
    ppid: 0,
    release: { name: 'node' },
    config: { variables: {} },
    features: {},
    exitCode: undefined,
    stdout: output,
    stderr: output,
    stdin: { ...output, fd: 0 },
    cwd: () => '/',
    umask: () => 0,
    emitWarning: () => {},
    cpuUsage: () => ({ user: 0, system: 0 }),
    emit: () => false,
    listeners: () => [],
    listenerCount: () => 0,
    exit: () => {
      throw new Error('This piece called process.exit.');
    },
    [Symbol.toStringTag]: 'process',
  };
  const listening = ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener'];
  return Object.assign(facade, Object.fromEntries(listening.map((name) => [name, () => facade])));
}
