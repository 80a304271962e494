import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { OutboundRequest } from '@quartermaster/plugin-kit';
import type { PieceAuthValue } from '../../packages/server/src/tools/execution/pieces/child/piece-task.ts';
import { openTestBed } from '../../packages/server/src/tools/execution/sandbox/testing/test-bed.suite.ts';
import { describePiece } from '../../packages/server/src/tools/pieces/describe-piece.ts';
import { openPiece } from '../../packages/server/src/tools/pieces/piece-process.ts';

/** Published packages of pieces, unmodified. No third party is called: a stub in this process answers. */
const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());
const { signal } = new AbortController();
const account: PieceAuthValue = { kind: 'OAUTH2', fields: { access_token: 'qmphplaceholder' } };

interface Expected {
  readonly actions: number;
  /** The call that an action sends for its inputs: the method, the URL and the body. */
  readonly calls: Readonly<Record<string, readonly [object, string]>>;
}

const pieces: Readonly<Record<string, Expected>> = {
  slack: {
    actions: 72,
    calls: {
      'slack-create-channel': [
        { channelName: 'tea', isPrivate: false },
        'POST https://slack.com/api/conversations.create name=tea&is_private=false',
      ],
      'find-user-by-id': [{ id: 'U1' }, 'POST https://slack.com/api/users.profile.get user=U1'],
      slack_archive_channel: [{ channel: 'C1' }, 'POST https://slack.com/api/conversations.archive channel=C1'],
    },
  },
  intercom: {
    actions: 26,
    calls: {
      'get-conversation': [{ conversationId: '7' }, 'GET https://api.intercom.io/conversations/7 undefined'],
      'list-all-tags': [{}, 'GET https://api.intercom.io/tags undefined'],
    },
  },
  notion: {
    actions: 37,
    calls: {
      notion_get_user: [{ user_id: 'u1' }, 'GET https://api.notion.com/v1/users/u1 undefined'],
      notion_delete_block: [{ block_id: 'b1' }, 'DELETE https://api.notion.com/v1/blocks/b1 undefined'],
    },
  },
};

for (const [name, { actions, calls }] of Object.entries(pieces)) {
  test(`the package of ${name} loads, and its actions send their calls with the credential`, async () => {
    const file = await readFile(
      join(import.meta.dirname, 'node_modules', '@activepieces', `piece-${name}`, 'src', 'index.js'),
    );
    assert.equal((await describePiece(file, bed.sandbox, signal)).actions.length, actions);
    await using piece = await openPiece(file, bed.sandbox);
    for (const [action, [props, call]] of Object.entries(calls)) {
      const requests: OutboundRequest[] = [];
      const task = { mode: 'run', action, props: { ...props }, auth: account } as const;
      const outcome = await piece.run(task, signal, async (request) => {
        requests.push(request);
        return { status: 200, headers: { 'content-type': 'application/json' }, text: '{"ok":true}' };
      });
      const [request] = requests;
      assert.equal(
        `${request?.method} ${request?.url} ${request?.body}`,
        call,
        `${action}: ${JSON.stringify(outcome)}`,
      );
      assert.equal(request?.headers?.authorization, 'Bearer qmphplaceholder');
      assert.equal(outcome.kind, 'returned');
    }
  });
}
