import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, Socket } from 'node:net';

/** A compromised reader that has bypassed Node's permissions. It attempts everything that the kernel might allow. */
interface Targets {
  /** Paths of the files, by their description. */
  readonly files: Readonly<Record<string, string>>;
  /** The data folder. */
  readonly folder: string;
  readonly port: number;
  readonly server: number;
}

const [line] = await once(new Socket({ fd: 3 }), 'data');
const { files, folder, port, server }: Targets = JSON.parse(String(line));

async function dial(): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}

/** The limit of file sizes refuses the byte, but not the empty file. */
function writeByte(): void {
  const path = `/tmp/quartermaster-reader-${process.pid}`;
  try {
    writeFileSync(path, 'x');
  } finally {
    rmSync(path, { force: true });
  }
}

function start(): void {
  const { error } = spawnSync(process.execPath, ['--version']);
  if (error !== undefined) throw error;
}

const attempts: Record<string, () => unknown> = {
  'read a file of the system': () => readFileSync('/etc/passwd'),
  ...Object.fromEntries(Object.entries(files).map(([what, path]) => [`read ${what}`, () => readFileSync(path)])),
  'list the data folder': () => readdirSync(folder),
  'write to the data folder': () => writeFileSync(`${folder}/written`, ''),
  'write a byte to a folder of all users': writeByte,
  'read the environment of the server': () => readFileSync(`/proc/${server}/environ`),
  'signal the server': () => process.kill(server, 0),
  'connect to a server of this machine': dial,
  'start a program': start,
};

const open: string[] = [];
for (const [what, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    open.push(what);
  } catch {
    // The attempt was contained.
  }
}
process.stdout.write(JSON.stringify(open), () => process.exit());
