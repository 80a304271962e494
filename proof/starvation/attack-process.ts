import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { saturate } from './attack.ts';
import { attacks, nameOf } from './attacks.ts';
import { createCaller } from './caller.ts';

/** The first message to the process of an attack. The second one, `begin`, starts it. */
export interface AttackStart {
  readonly attack: string;
  readonly service: { readonly filesUrl: string; readonly pluginsUrl: string };
  readonly key: string | null;
}

/** The messages of the process: first `ready`, then these at intervals. */
export interface AttackProgress {
  readonly outcomes: string;
  readonly wasRefused: boolean;
  readonly wasFull: boolean;
}

// An attacker has a machine of its own. Here its client must not take the processors from the service and the victims.
setPriority(10);
if (existsSync('/proc/self/autogroup')) writeFileSync('/proc/self/autogroup', '10');
process.once('message', async ({ attack: name, service, key }: AttackStart) => {
  const attack = attacks.find((one) => nameOf(one) === name);
  if (attack === undefined) throw new Error(`no attack has the name ${name}`);
  attack.build?.();
  const { signal } = new AbortController();
  const send = await attack.prepare(createCaller(service, { key, signal }));
  process.once('message', () => {
    const progress = saturate(attack, send, signal);
    setInterval(() => process.send?.(progress()), 50);
  });
  process.send?.('ready');
});
