import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Ending, startService, temporaryFolder } from '../support/service.ts';

const python = '/usr/bin/python3';
const source = 'clients/python';
const guide = 'docs/guides/python-client.md';

/** The wheel and the empty folder into which it was installed. */
interface Installation {
  readonly folder: string;
  readonly wheel: string;
}

const installation = await install({ after });

/** Builds the wheel outside of the repository and installs it. Neither step uses a network. */
async function install(t: Ending): Promise<Installation> {
  const folder = await temporaryFolder(t);
  const started = performance.now();
  const wheel = await buildWheel(folder, 'first');
  const installed = join(folder, 'installed');
  await runPython([
    '-m',
    'pip',
    'install',
    '--no-index',
    '--no-deps',
    '--no-compile',
    '--quiet',
    '--target',
    installed,
    wheel,
  ]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`wheel: ${(await stat(wheel)).size} bytes, built and installed in ${seconds} s`);
  return { folder: installed, wheel };
}

async function buildWheel(folder: string, name: string): Promise<string> {
  const project = join(folder, name, 'project');
  await mkdir(join(folder, name), { recursive: true });
  const isSource = (path: string) => !/\/(?:__pycache__|\.mypy_cache|build|[^/]+\.egg-info)(?:\/|$)/.test(path);
  await cp(source, project, { recursive: true, filter: isSource });
  const wheels = join(folder, name, 'wheels');
  const build = ['-m', 'pip', 'wheel', '--no-index', '--no-build-isolation', '--no-deps', '--quiet'];
  await runPython([...build, '--wheel-dir', wheels, project]);
  const [file = ''] = await readdir(wheels);
  await rm(project, { recursive: true });
  return join(wheels, file);
}

/** Runs Debian's Python with the modules of the folder and of Debian only. Returns what it wrote. */
async function runPython(args: readonly string[], options: { cwd?: string; modules?: string; key?: string } = {}) {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: options.cwd ?? '/nonexistent',
    PYTHONDONTWRITEBYTECODE: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    SOURCE_DATE_EPOCH: '1700000000',
    ...(options.modules === undefined ? {} : { PYTHONPATH: options.modules }),
    ...(options.key === undefined ? {} : { QM_API_KEY: options.key }),
  };
  const settings = { env, cwd: options.cwd ?? process.cwd(), maxBuffer: 16 * 1024 * 1024 };
  const { stdout, stderr } = await promisify(execFile)(python, [...args], settings);
  return { stdout, stderr };
}

/** Returns the Python samples of the guide in their order. */
async function readSamples(): Promise<string[]> {
  const text = await readFile(guide, 'utf8');
  return [...text.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, sample = '']) => sample);
}

test('[client] the Python wheel holds the typed package only, and building it twice gives the same bytes', async (t) => {
  const { folder, wheel } = installation;
  const again = await buildWheel(await temporaryFolder(t), 'second');
  const digest = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  assert.equal(await digest(again), await digest(wheel));
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  assert.equal(wheel.split('/').at(-1), `quartermaster-${version}-py3-none-any.whl`);
  assert.deepEqual((await readdir(folder)).sort(), ['quartermaster', `quartermaster-${version}.dist-info`]);
  const files = (await readdir(join(folder, 'quartermaster'), { recursive: true })).filter((name) =>
    name.includes('.'),
  );
  assert.ok(files.includes('py.typed'));
  assert.deepEqual(
    files.filter((name) => !/\.py$|^py\.typed$/.test(name)),
    [],
  );
  assert.equal(await readFile(join(source, 'LICENSE'), 'utf8'), await readFile('LICENSE', 'utf8'));
  const printed = await runPython(['-c', 'import quartermaster as q; print(q.__version__)'], { modules: folder });
  assert.equal(printed.stdout.trim(), version);
  assert.ok((await stat(wheel)).size < 100_000);
});

const refusals = `
import os, sys, quartermaster
url, key, attempts = sys.argv[1], sys.argv[2], int(sys.argv[3])
content = os.urandom(12 * 1024 * 1024)
seen = []
for nth in range(attempts):
    wrong, name = (True, 'a.pdf') if nth % 2 == 0 else (False, 'a.exe')
    with quartermaster.Quartermaster(url, api_key='wrong' if wrong else key, max_retries=0) as qm:
        try:
            qm.files.upload(content, name=name)
        except Exception as error:
            seen.append(type(error).__name__)
print(' '.join(f'{name}={seen.count(name)}' for name in sorted(set(seen))))
`;

test('[client] refusals of uploads of 12 MB reach the Python client, 20 of 20', async (t) => {
  const { filesUrl, key } = await startService(t);
  const args = ['-c', refusals, filesUrl, key, '20'];
  const { stdout } = await runPython(args, { modules: installation.folder });
  assert.equal(stdout.trim(), 'AuthenticationError=10 ValidationError=10');
});

test('[client] every sample of the Python guide runs as printed: upload, record, search, run', async (t) => {
  const service = await startService(t);
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'handbook.md'), 'The library opens at nine.\n');
  const samples = await readSamples();
  assert.equal(samples.length, 8);
  await writeFile(join(cwd, 'story.py'), samples.join('\n').replaceAll('http://127.0.0.1:8080', service.filesUrl));
  const started = performance.now();
  const { stdout } = await runPython(['story.py'], { cwd, modules: installation.folder, key: service.key });
  console.log(`story: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.deepEqual(stdout.trim().split('\n'), [
    '1 chunks',
    'The library opens at nine.',
    "{'result': '42', 'value': 42}",
    '1 file',
    '27 of 27 bytes',
    'image/png True',
    'file ready',
    '2 True',
    "xrun {'result': '1024', 'value': 1024}",
    'no such collection',
    'True',
  ]);
});

test('[client] both Python clients read artifacts of the service whole and in part, until they are deleted', async (t) => {
  const service = await startService(t);
  const cwd = await temporaryFolder(t);
  const result = await service.client.plugins.run('qr_code_generator/generate_qr_code', {
    text: 'https://example.com/',
  });
  const ids = (result.artifacts ?? []).map(({ artifact_id }) => artifact_id);
  const program = `
import asyncio, hashlib, os, sys
from quartermaster import AsyncQuartermaster, NotFoundError, Quartermaster

def check(artifact, size, whole, part):
    written = open(artifact["artifact_id"], "rb").read()
    assert written == whole and size == artifact["bytes"] and part == whole[1:4], artifact
    assert hashlib.sha256(whole).hexdigest() == artifact["sha256"], artifact

def without_async(id):
    with Quartermaster("${service.filesUrl}", os.environ["QM_API_KEY"]) as qm:
        check(qm.artifacts.get(id), qm.artifacts.download(id, id), qm.artifacts.content(id),
              qm.artifacts.content(id, byte_range=(1, 3)))
        qm.artifacts.delete(id)
        try:
            qm.artifacts.download(id, "none")
        except NotFoundError:
            print("without async")

async def with_async(id):
    async with AsyncQuartermaster("${service.filesUrl}", os.environ["QM_API_KEY"]) as qm:
        check(await qm.artifacts.get(id), await qm.artifacts.download(id, id), await qm.artifacts.content(id),
              await qm.artifacts.content(id, byte_range=(1, 3)))
        await qm.artifacts.delete(id)
        try:
            await qm.artifacts.download(id, "none")
        except NotFoundError:
            print("with async")

without_async(sys.argv[1])
asyncio.run(with_async(sys.argv[2]))
`;
  assert.equal(ids.length, 2);
  const { stdout } = await runPython(['-c', program, ...ids], { cwd, modules: installation.folder, key: service.key });
  assert.equal(stdout, 'without async\nwith async\n');
  assert.deepEqual((await readdir(cwd)).sort(), ids.toSorted());
});

test('[client] the installed Python client withstands the list of attacks', async () => {
  const { stderr } = await runPython(['-m', 'unittest', 'discover', '-s', `${source}/tests`, '-t', `${source}/tests`], {
    modules: installation.folder,
  });
  const [, count] = /^Ran (\d+) tests[\s\S]*^OK$/m.exec(stderr) ?? [];
  console.log(`tests of the Python client: ${count}`);
  assert.ok(Number(count) >= 37, stderr);
});

test('[client] mypy --strict accepts the Python package and every sample of its guide', async (t) => {
  const cwd = await temporaryFolder(t);
  const samples = join(cwd, 'samples.py');
  await writeFile(samples, (await readSamples()).join('\n'));
  const wrong = join(cwd, 'wrong.py');
  await writeFile(wrong, 'import quartermaster\nquartermaster.Quartermaster("http://a").files.upload(3)\n');
  const check = async (...args: string[]) => {
    const env = { PATH: '/usr/bin:/bin', HOME: cwd, MYPYPATH: installation.folder };
    const options = { cwd, env };
    return await promisify(execFile)(
      '/usr/bin/mypy',
      ['--strict', '--python-executable', python, ...args],
      options,
    ).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }) => ({ code: Number(code), stdout: String(stdout) }),
    );
  };
  const whole = await check('--package', 'quartermaster');
  assert.match(whole.stdout, /^Success: no issues found in \d+ source files/, whole.stdout);
  assert.equal((await check(samples)).code, 0, (await check(samples)).stdout);
  assert.match((await check(wrong)).stdout, /"upload".*incompatible type/);
});

test('[client] a request of the Python client whose response was lost has only one effect', async (t) => {
  const service = await startService(t);
  const collection = await service.client.collections.create({ name: 'tea', type: 'text' });
  const proxyUrl = await startLosingProxy(t, service.filesUrl);
  const program = `
from quartermaster import ApiConnectionError, Quartermaster
import os
qm = Quartermaster("${proxyUrl}", os.environ["QM_API_KEY"])
print(qm.files.upload(b"Tea is a drink.", name="tea.txt")["file_name"])
print(qm.plugins.run("calculator/evaluate", {"expression": "6 * 7"})["data"]["value"])
try:
    qm.records.create("${collection.collection_id}", content="Tea is a drink.")
except ApiConnectionError as error:
    print(error.outcome_unknown)
`;
  const { stdout } = await runPython(['-c', program], { modules: installation.folder, key: service.key });
  assert.equal(stdout, 'tea.txt\n42\nTrue\n');
  assert.equal((await service.client.files.list()).data.length, 1);
  assert.equal((await service.client.runs.list()).data.length, 1);
  assert.equal((await service.client.records.list(collection.collection_id)).data.length, 1);
});

/** Starts a proxy that loses the first answer to each path of a POST request. Returns its URL. */
async function startLosingProxy(t: TestContext, target: string): Promise<string> {
  const lost = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    const forwarded = request(target + url, { method, headers }, (answer) => {
      if (method === 'POST' && !lost.has(url)) {
        lost.add(url);
        answer.resume().on('end', () => incoming.socket.resetAndDestroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
