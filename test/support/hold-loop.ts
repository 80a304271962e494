import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ServerResponse } from 'node:http';

/**
 * Preloaded into a service (`--import`), it blocks the event loop while a response is written whose URL ends with one
 * of these words.
 */
const holds: Readonly<Record<string, () => void>> = {
  plantedLoop: function plantedLoop() {
    for (;;) Math.random();
  },
  plantedExpression: function plantedExpression() {
    /^"((?:\\["\\]|[^"])*)"/.test(`"${'\\'.repeat(64)}`);
  },
  plantedChild: function plantedChild() {
    spawnSync('sleep', ['60']);
  },
  plantedWait: function plantedWait() {
    process.stderr.write('{"msg":"held"}\n');
    while (!existsSync(process.env.HELD_UNTIL ?? '')) Math.random();
  },
  plantedPause: function plantedPause() {
    const until = performance.now() + 2500;
    while (performance.now() < until) Math.random();
  },
};

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]) {
  holds[/\?(\w+)$/.exec(this.req.url ?? '')?.[1] ?? '']?.();
  return Reflect.apply(writeHead, this, args);
} as typeof writeHead;
