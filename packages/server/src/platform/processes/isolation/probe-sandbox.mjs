import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, Socket } from 'node:net';

// Entry point of the probe in the sandbox. Without Node's permission model, it attempts what the kernel should deny. Written
// in JavaScript for the same reason as `probe-child.mjs`.
const host = new Socket({ fd: 3, readable: true, writable: true });
const bundleFolder = new URL(process.argv[2] ?? 'file:///dev/null/');

function isDenied(attempt) {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}

function codeOfDialling() {
  return new Promise((resolve) => {
    connect(9, '127.0.0.1')
      .once('error', (cause) => resolve('code' in cause ? String(cause.code) : ''))
      .once('connect', () => resolve('connected'));
  });
}

const codeOfSpawning = () => {
  const { error } = spawnSync(process.execPath, ['--version']);
  return error !== undefined && 'code' in error ? error.code : undefined;
};

const denied = {
  files: isDenied(() => readFileSync('/etc/passwd')) && isDenied(() => readdirSync('/proc')),
  writing: isDenied(() => writeFileSync(new URL('probe', bundleFolder), '')) && isDenied(() => writeFileSync('/a', '')),
  // Refused by the system-call filter; without it the empty network namespace would have no route.
  network: (await codeOfDialling()) === 'EPERM',
  processes: codeOfSpawning() === 'EPERM',
  otherProcesses: process.pid === 1 && process.ppid === 0,
};
host.end(`${JSON.stringify({ denied, userId: process.getuid?.() })}\n`);
