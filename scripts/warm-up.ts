// Writes the manifest cache of our bundles. It then starts the service once on an empty data folder, as `npm start`
// does, and stops it. Node caches the compiled code on disk (NODE_COMPILE_CACHE). The next start takes half the time
// and 30 MB less, on any data folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../packages/server/src/platform/version.ts';
import { writeInstalledManifests } from '../packages/server/src/tools/catalogue/load/manifest-cache.ts';
import { ownBundles, ownManifests } from '../packages/server/src/tools/catalogue/load/own-bundles.ts';
import { startCommand } from './start-command.ts';

await writeInstalledManifests(ownBundles, { folder: ownManifests, version });
// The service may run as a different user than the one that installed it.
chmodSync(ownManifests, 0o755);
for (const name of readdirSync(ownManifests)) chmodSync(join(ownManifests, name), 0o644);
const data = mkdtempSync(join(tmpdir(), 'quartermaster-warm-up-'));
const { environment, args } = startCommand();
const service = spawn(process.execPath, args, {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    PATH: process.env.PATH ?? '',
    ...environment,
    QUARTERMASTER_DATA: data,
    QUARTERMASTER_FILES_PORT: '0',
    QUARTERMASTER_PLUGINS_PORT: '0',
    QUARTERMASTER_DRAIN_SECONDS: '0',
    QUARTERMASTER_LOG_LEVEL: 'error',
  },
});
try {
  await Promise.race([once(service.stdout, 'data'), once(service, 'exit')]);
  service.kill('SIGTERM');
  if (service.exitCode === null) await once(service, 'exit');
} finally {
  rmSync(data, { recursive: true, force: true });
}
process.exitCode = service.exitCode ?? 1;
