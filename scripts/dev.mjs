// `npm run dev` starts the service, which restarts when one of its sources changes, and Vite, which serves the console
// and reloads the page when one of its sources changes. Vite proxies API calls to the service. Logs are human-readable
// lines. `--console-port N` chooses the port of Vite (5173).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatLogLine } from '../packages/server/src/platform/log/log-destination.ts';
import { refuse } from './set-up/refuse.mjs';

const { values } = parseArgs({ options: { 'console-port': { type: 'string', default: '5173' } } });
const root = resolve(import.meta.dirname, '..');
const filesPort = await choosePort(process.env.QUARTERMASTER_FILES_PORT ?? '8080');
const consolePort = readConsolePort(values['console-port']);
// Vite starts first: if it fails, no service is left running.
const vite = await startVite().catch((error) =>
  refuse(`Vite cannot start: ${error.message}. Choose a port with --console-port.`),
);
const service = startService();
console.log(`dev: console that reloads: ${vite.resolvedUrls?.local[0]}; open it instead of the files address`);

let isStopping = false;
// Replaces Vite's handlers, which end the process immediately. The service first finishes its requests.
process.removeAllListeners('SIGTERM');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
const [code] = await once(service, 'exit');
// Vite has no work to finish and would wait for open pages.
process.exit(isStopping ? 0 : (code ?? 1));

function stop() {
  isStopping = true;
  service.kill('SIGTERM');
}

/** Starts the service. node:watch restarts it when a module that it has loaded changes. */
function startService() {
  const child = spawn(
    process.execPath,
    ['--watch', '--watch-preserve-output', join(root, 'packages/server/src/main.ts')],
    {
      cwd: root,
      // On a terminal the service writes human-readable lines itself.
      stdio: ['ignore', 'inherit', process.stderr.isTTY ? 'inherit' : 'pipe'],
      env: {
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        QUARTERMASTER_DRAIN_SECONDS: '0',
        ...process.env,
        QUARTERMASTER_FILES_PORT: String(filesPort),
      },
    },
  );
  if (child.stderr !== null) {
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => process.stderr.write(formatLogLine(line, { colours: false })));
  }
  return child;
}

async function startVite() {
  const folder = join(root, 'packages/console');
  const { createServer } = await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve('vite')));
  // The service compares the Origin of a request with its Host, so the Host must not change.
  const target = { target: `http://127.0.0.1:${filesPort}`, changeOrigin: false };
  const server = await createServer({
    root: folder,
    logLevel: 'warn',
    server: {
      host: '127.0.0.1',
      port: consolePort,
      strictPort: true,
      proxy: { '/v1': target, '/plugins/v1': target, '/openapi.json': target },
    },
  });
  return await server.listen();
}

function readConsolePort(text) {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    refuse(`--console-port must be a port from 0 to 65535; received "${text}".`);
  return port;
}

/** Returns the port. For 0 it chooses a free port, so that every restart uses the same one. */
async function choosePort(port) {
  if (port !== '0') return Number(port);
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address();
  server.close();
  await once(server, 'close');
  return free;
}
