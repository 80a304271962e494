import assert from 'node:assert/strict';
import { test } from 'node:test';
import { download, execute, json, openWorld, token } from '../support/paid-runs.ts';
import { runCommand } from '../support/run-command.ts';

const answer = JSON.stringify({ token, said: 'a result' });
const redacted = answer.replace(token, '[redacted]');

test('[unused-answers] the last answer to a handler that throws is stored', async (t) => {
  const { service, requests } = await openWorld(t, json(answer));
  const headers = { 'idempotency-key': 'thrown-1' };
  const { error } = await execute(service, 'throwing', headers);
  assert.match(error.message, /^The plugin failed: it broke\. The third party had answered\. Its answer is stored/);
  assert.equal(await download(error), redacted);
  assert.deepEqual((await execute(service, 'throwing', headers)).error.details, error.details);
  assert.equal(requests(), 1);
  // A handler that rejects its input says what the caller must change.
  const rejected = await execute(service, 'rejecting');
  assert.deepEqual(
    [rejected.error.message, rejected.error.details[0]?.artifact],
    ['The plugin rejected its input: no such thing', undefined],
  );
});

test('[unused-answers] an earlier answer is stored when a later request of the handler fails', async (t) => {
  const { service } = await openWorld(t, (request, response) =>
    request.url === '/second' ? json('{}', 503)(request, response) : json(answer)(request, response),
  );
  const failed = await execute(service, 'second');
  assert.deepEqual([failed.status, failed.error.code], [502, 'PROVIDER_ERROR'], failed.text);
  assert.match(
    failed.error.message,
    /^The third party failed: The API answered with status 503\. The third party had answered an earlier request of this run\. Its answer is stored as artifact .* A further run asks the third party again\.$/,
  );
  assert.equal(await download(failed.error, 'A further run asks'), redacted);
  const refused = await execute(service, 'elsewhere');
  assert.match(refused.error.message, /^The outbound request is not allowed: .*an earlier request of this run/);
  assert.equal(await download(refused.error, 'A further run asks'), redacted);
});

test('[unused-answers] a token response to a handler is never stored', async (t) => {
  const { service } = await openWorld(t, json('{"access_token":"only for the handler","token_type":"Bearer"}'));
  for (const id of ['throwing', 'leaving', 'long']) {
    const { error, text } = await execute(service, id);
    assert.equal(error.code, 'PLUGIN_FAILED', text);
    assert.doesNotMatch(text, /artifact|The third party/, id);
  }
});

const refusal =
  /had answered, but its answer could not be stored: .* a limit .* is reached.* A further run asks the third party again\.$/;
const mib = 2 ** 20;

test('[unused-answers] the limit answer_reserve_bytes: answers above the quota of the project are stored up to the reserve', async (t) => {
  let bytes = 0;
  const { service } = await openWorld(
    t,
    (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(bytes, 'x'));
    },
    { MAX_PROJECT_BYTES: String(mib) },
  );
  const [reserve, large] = [64 * mib, 64 * mib];
  const stored = async (size: number) => {
    bytes = size;
    const { error } = await execute(service, size > 10 * mib ? 'large' : 'any');
    if (error.details[0]?.artifact === undefined) assert.match(error.message, refusal);
    return error.details[0]?.artifact?.bytes;
  };
  const names = 'large-answer.txt'.length + 'any-answer.txt'.length;
  const rest = reserve + mib - large - names;
  assert.equal(await stored(large), large);
  assert.equal(await stored(rest + 1), undefined);
  assert.equal(await stored(rest), rest);
  assert.equal(await stored(1), undefined);
  assert.equal(await stored(11 * mib), undefined, 'a large answer that does not fit');
  // The quota still holds for what the project stores itself.
  const upload = await service.client.files
    .upload(new Blob(['a text']), { name: 'a.txt', purpose: 'record_file' })
    .then(
      () => null,
      (reason: { code: string }) => reason.code,
    );
  assert.equal(upload, 'RESOURCE_LIMIT_REACHED');
  const checked = await runCommand(service, 'fsck');
  assert.equal(checked.code, 0, checked.output);
});
