// `deploy/scale/start` runs this: PostgreSQL with a standby, an S3 server, four nodes and a proxy on this machine. It ends with
// Ctrl-C and leaves nothing behind.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireTools, toolsNamed } from '../../test/support/system-tools.ts';
import { createEndings } from '../support/endings.ts';
import { startBalancer } from './balancer.ts';
import { openRig, type Serves } from './rig.ts';
import { startStorage } from './storage.ts';

const { values } = parseArgs({
  options: {
    serve: { type: 'string', default: 'both,both,both,both' },
    loopback: { type: 'boolean', default: false },
    'files-port': { type: 'string', default: '8080' },
    'plugins-port': { type: 'string', default: '8081' },
  },
});
requireTools(toolsNamed('postgresql', 'haproxy', 'iproute2'));
const endings = createEndings();
const stopped = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.resolve());
try {
  await Promise.race([start(), stopped.promise]);
  await stopped.promise;
} catch (error) {
  console.error(`deploy/scale/start: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  console.error('Stopping …');
  await endings.end();
}
// A start that a signal interrupted may still wait for a program that has ended.
process.exit();

async function start(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-scale-'));
  endings.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  const external = ownStorage();
  const storage = external ?? (await startStorage(endings)).variables;
  const serves = values.serve.split(',') as Serves[]; // each node refuses another value and names the allowed ones
  const ports = { files: Number(values['files-port']), plugins: Number(values['plugins-port']) };
  const urls = { files: `http://127.0.0.1:${ports.files}`, plugins: `http://127.0.0.1:${ports.plugins}` };
  const settings = { PUBLIC_FILES_URL: urls.files, PUBLIC_PLUGINS_URL: urls.plugins, DRAIN_SECONDS: '5' };
  const loopback = values.loopback || external !== undefined;
  const rig = await openRig(endings, { folder, serves, storage, settings, loopback });
  await startBalancer(endings, rig.nodes, ports);
  const settingsFile = join(folder, 'settings.sh');
  const own = Object.entries({ ...rig.commandSettings(), DATA: rig.nodes[0]?.folder ?? '' });
  const variables = { ...storage, ...Object.fromEntries(own.map(([name, value]) => [`QUARTERMASTER_${name}`, value])) };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
  writeFileSync(settingsFile, lines.join(''), { mode: 0o600 });
  console.log(`files address    ${urls.files}
plugins address  ${urls.plugins}
first key        ${rig.key}
administrator    ${join(rig.nodes[0]?.folder ?? '', 'setup-link')}
PostgreSQL       ${rig.database.url()}, with a synchronous standby
content          ${external?.AWS_ENDPOINT_URL ?? 'an S3 server in memory, which forgets it at the end'}`);
  for (const { name, serves: served, target, folder: data } of rig.nodes) {
    const addresses = served === 'plugins' ? target.pluginsUrl : `${target.filesUrl} and ${target.pluginsUrl}`;
    console.log(`${name}            ${addresses}, data in ${data}`);
  }
  console.log(`for commands     . ${settingsFile}`);
  console.log('Press Ctrl-C to stop all and delete the data.');
}

/** Returns the object storage that the environment names. */
function ownStorage(): Record<string, string> | undefined {
  if (process.env.QUARTERMASTER_BLOBS === undefined) return undefined;
  const variables = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && /^(?:AWS_|QUARTERMASTER_BLOBS$)/.test(name) ? [[name, value]] : [],
  );
  if (process.env.AWS_ENDPOINT_URL === undefined)
    throw new Error('QUARTERMASTER_BLOBS is set: set AWS_ENDPOINT_URL, too.');
  return Object.fromEntries(variables);
}
