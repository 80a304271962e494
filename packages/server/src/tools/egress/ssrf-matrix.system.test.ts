import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';

/** The output of `ssrf-matrix.fixture.ts`. */
interface Report {
  readonly cases: number;
  /** The number of cases tried in each way. */
  readonly direct: number;
  readonly redirect: number;
  readonly dns: number;
  readonly rebinding: number;
  /** The number of forbidden addresses at which a connection without the broker reaches the trap. */
  readonly control: number;
  readonly trapped: readonly string[];
  readonly wrong: readonly string[];
}

/** A proxy named in the environment would bypass every check. */
const trapProxy = 'http://10.9.9.9:3128';

test('no spelling of a forbidden address reaches a trap, whether dialled, redirected to or resolved by DNS', async (t) => {
  const folder = await temporaryFolder(t);
  const resolver = join(folder, 'resolv.conf');
  await writeFile(resolver, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const fixture = join(import.meta.dirname, 'testing/ssrf-matrix.fixture.ts');
  const child = spawn('/usr/bin/unshare', [...rights, '--net', '--mount', process.execPath, fixture, resolver], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      ...{ http_proxy: trapProxy, HTTP_PROXY: trapProxy, https_proxy: trapProxy, HTTPS_PROXY: trapProxy },
      ...{ ALL_PROXY: trapProxy, all_proxy: trapProxy },
    },
  });
  const [output, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.ok(output.startsWith('{'), stderr);
  const report: Report = JSON.parse(output);
  t.diagnostic(`${report.cases} cases × {direct, redirect, DNS}, ${report.rebinding} names that change: 0 connections`);
  assert.deepEqual(report.trapped, []);
  assert.deepEqual(report.wrong, []);
  assert.ok(report.cases >= 200, `${report.cases} cases`);
  assert.deepEqual([report.direct, report.redirect, report.dns], [report.cases, report.cases, report.cases]);
  assert.equal(report.rebinding, 1_000);
  assert.ok(report.control >= 150, `the trap was met ${report.control} times when it was dialled`);
});
