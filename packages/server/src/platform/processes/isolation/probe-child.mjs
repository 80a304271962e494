import { readFileSync, writeFileSync } from 'node:fs';
import { connect, Socket } from 'node:net';

// Entry point of the probe without the sandbox. It attempts what Node's command-line permissions should deny. Written in
// JavaScript, because stripping types takes longer than everything else that this process does.
const host = new Socket({ fd: 3, readable: true, writable: true });
const bundleFolder = new URL(process.argv[2] ?? 'file:///dev/null/');

async function isDenied(attempt) {
  try {
    await attempt();
    return false;
  } catch (cause) {
    // Any other failure, such as a refused connection, means that the attempt was let through.
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'ERR_ACCESS_DENIED' || code === 'ERR_UNKNOWN_BUILTIN_MODULE' || cause instanceof EvalError;
  }
}

function dial() {
  return new Promise((resolve, reject) => {
    connect(9, '127.0.0.1').once('error', reject).once('connect', resolve);
  });
}

const denied = {
  reading: await isDenied(() => readFileSync('/proc/self/environ')),
  writing: await isDenied(() => writeFileSync(new URL('probe', bundleFolder), '')),
  processes: await isDenied(async () => (await import('node:child_process')).spawnSync('true')),
  network: await isDenied(dial),
  names: await isDenied(async () => (await import('node:dns/promises')).lookup('localhost')),
  code_from_text: await isDenied(() => Reflect.construct(Function, ['return 1'])),
  sqlite: await isDenied(() => import('node:sqlite')),
};
host.end(`${JSON.stringify({ denied, userId: process.getuid?.() })}\n`);
