import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundlePlan } from '@quartermaster/contract';
import { printPlan } from './print-plan.ts';

test('a plan names at most 30 actions of each effect, with the number of the others', (t) => {
  const lines: string[] = [];
  t.mock.method(console, 'log', (text: string) => lines.push(text));
  const actions = Array.from({ length: 125 }, (_, at) => ({
    plugin_id: `a${at}`,
    name: 'A',
    effects: 'read' as const,
  }));
  const plan: Partial<BundlePlan> = {
    ...{ package: 'Things', version: '1.0.0', bundle_id: 'things', kind: 'openapi', integrity: 'x', licence: 'MIT' },
    ...{ bytes: 1, actions, credentials: [], credential_places: null, hosts: ['api.things.dev'], update: null },
    ...{ trust: null, publisher: null, packed_from: null, warnings: [], risk: 'Risk.', digest: 'x' },
  };
  printPlan(plan as BundlePlan);
  assert.match(lines.join('\n'), /read \(125\): +a0, .*, a29 and 95 more\n/);
});
